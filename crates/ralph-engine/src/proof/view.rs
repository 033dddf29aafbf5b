//! The workspace with the baseline's oracle, for a suite that needs something a room does not have.

use super::comparison::Comparison;
use super::site::ProofSite;
use crate::redact::Redactor;
use crate::verification::{Replacement, Replacements};
use ralph_proof::{RoomContent, Sets};
use ralph_rules::record::PutBack;
use ralph_tree::{Kind, TreePath};
use std::io;

impl Comparison {
    /// What to show in place of the changed oracle files. Added ones are hidden, so that they cannot influence others.
    pub fn baseline_oracle(&self, site: &ProofSite<'_>) -> io::Result<Replacements> {
        let sets = Sets { work: true, ambiguous: true, oracle: false };
        let mut replaced = Vec::new();
        for change in self.changes.iter().filter(|change| change.has_oracle()) {
            let replacement = match change.in_room(sets) {
                RoomContent::Now => continue,
                RoomContent::Absent => Replacement::Hidden,
                RoomContent::Made(bytes) => {
                    let mode = site.now.get(&change.path).map_or(0o644, |entry| u32::from(entry.mode));
                    Replacement::File { content: bytes.to_vec(), mode }
                }
                RoomContent::Baseline => baseline(site, &change.path)?,
            };
            if change.exists || !matches!(replacement, Replacement::Hidden) {
                replaced.push((TreePath::from(change.path.as_slice()), replacement));
            }
        }
        Ok(replaced.into_iter().collect())
    }

    /// What was shown instead, for the record.
    pub fn put_back(&self, contained: &str, redactor: &Redactor) -> PutBack {
        let clean = |text: &str| redactor.redact(text).into_owned();
        let oracle = self.changes.iter().filter(|change| change.has_oracle());
        let files = oracle.map(|change| clean(&TreePath::from(change.path.as_slice()).to_string())).collect();
        PutBack { contained: contained.into(), files, diff: clean(&self.oracle_diff) }
    }
}

fn baseline(site: &ProofSite<'_>, path: &[u8]) -> io::Result<Replacement> {
    let Some(was) = site.baseline.file(path) else { return Ok(Replacement::Hidden) };
    let gone = || {
        let path = TreePath::from(path);
        io::Error::new(io::ErrorKind::NotFound, format!("the baseline's {path} is not kept any more"))
    };
    let content = site.read_before(path).ok_or_else(gone)?;
    Ok(match was.kind {
        Kind::Symlink => Replacement::Link { target: content },
        _ => Replacement::File { content, mode: u32::from(was.mode) },
    })
}
