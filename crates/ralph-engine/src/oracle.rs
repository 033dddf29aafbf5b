//! The oracle of a run: the files that decide whether the work is right (tests, their configuration, the scripts a
//! verify command runs), how they were before the agent started, and which of them changed since. `scripts.rs` finds
//! what a verify command runs, `parts.rs` separates tests from code within a file, `base.rs` keeps the baseline,
//! `restored.rs` gives the baseline's version of what changed. Nothing is written to the workspace.

pub mod baseline;
pub(crate) mod diff;
pub mod parts;
mod restored;
pub mod run_oracle;
pub mod scripts;

pub use restored::baseline_files;

use baseline::Baseline;
use ralph_snapshots::Blobs;
use ralph_tree::{Entry, Index, Kind, Oracle, TreePath};
use std::io::Read;
use std::path::Path;

/// A larger file is not split into parts or shown.
const LARGEST: u64 = 4 << 20;

/// How an oracle file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is new.
    Added,
    /// Its content changed.
    Modified,
    /// It is gone.
    Deleted,
    /// The part of it that belongs to the oracle changed.
    Part,
}

/// An oracle file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Path within the workspace.
    pub path: TreePath,
    /// How it changed.
    pub how: How,
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = match self.how {
            How::Added => " (added)",
            How::Modified => "",
            How::Deleted => " (deleted)",
            How::Part => " (its test part)",
        };
        write!(f, "{}{how}", self.path)
    }
}

/// Where contents come from: the baseline's from the snapshot store, current ones from the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The baseline's contents.
    pub blobs: &'a Blobs,
    /// The workspace.
    pub root: &'a Path,
}

impl Sources<'_> {
    /// A content of the baseline.
    pub fn old(&self, hash: u128) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.blobs.open(hash).ok()?.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The current content of a file; not through links.
    pub fn now(&self, path: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = ralph_os::open_file_beneath(self.root, path).ok()?;
        let size = file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
        (size as u64 <= LARGEST).then_some(bytes)
    }
}

/// Which oracle files differ from the baseline.
pub fn changed(oracle: &Oracle, base: &Baseline, now: &Index, sources: Sources<'_>) -> Vec<Changed> {
    let mut found = Vec::new();
    base.for_each_pair(now, |path, old, new| {
        let how = match (old, new) {
            (None, Some(_)) if parts::has_part(path) => None,
            (None, Some(_)) => Some(How::Added),
            (Some(_), None) if parts::has_part(path) && oracle_is_code(path) => None,
            (Some(_), None) => Some(How::Deleted),
            (Some(old), Some(new)) if old.same_as(&new) => None,
            (Some(old), Some(new)) => differs(path, &old, &new, sources),
            (None, None) => None,
        };
        if let Some(how) = how.filter(|_| oracle.role(path).is_some()) {
            found.push(Changed { path: path.into(), how });
        }
    });
    found
}

/// A source file with tests in it: moving or removing it is work, and its tests are counted.
fn oracle_is_code(path: &[u8]) -> bool {
    path.ends_with(b".rs")
}

fn differs(path: &[u8], old: &baseline::BaselineFile, new: &Entry<'_>, sources: Sources<'_>) -> Option<How> {
    let plain = old.kind == Kind::File && new.kind == Kind::File;
    if !plain || !parts::has_part(path) || old.hash == new.hash {
        return (!parts::has_part(path) || !plain).then_some(How::Modified);
    }
    match (sources.old(old.hash), sources.now(path)) {
        (Some(old), Some(new)) if parts::same(path, &old, &new) => None,
        _ => Some(How::Part),
    }
}
