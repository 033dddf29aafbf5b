//! The baseline's version of oracle files that changed, for a verification that must not use the changed ones.

use super::baseline::Baseline;
use super::{Changed, How, Sources, parts};
use crate::verification::{Replacement, Replacements};
use ralph_tree::Kind;
use std::io;

/// What to show in place of the changed files. Added files are hidden, so that they cannot influence the others.
pub fn baseline_files(
    changed: &[Changed],
    base: &Baseline,
    sources: Sources<'_>,
) -> io::Result<Replacements> {
    changed.iter().map(|one| Ok((one.path.clone(), replacement(one, base, sources)?))).collect()
}

fn replacement(one: &Changed, base: &Baseline, sources: Sources<'_>) -> io::Result<Replacement> {
    let path = one.path.as_bytes();
    let Some(was) = base.was(path).filter(|_| one.how != How::Added) else { return Ok(Replacement::Hidden) };
    let gone = || {
        io::Error::new(io::ErrorKind::NotFound, format!("the baseline's {} is not kept any more", one.path))
    };
    let content = sources.old(was.hash).ok_or_else(gone)?;
    if was.kind == Kind::Symlink {
        return Ok(Replacement::Link { target: content });
    }
    let content = match one.how {
        How::Part => parts::put_back(path, &content, &sources.now(path).unwrap_or_default()),
        _ => content,
    };
    Ok(Replacement::File { content, mode: u32::from(was.mode) })
}
