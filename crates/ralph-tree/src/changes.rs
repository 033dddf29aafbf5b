//! What is different between two walks, in what counts as work.
//!
//! The caller tells the person and the next prompt; `violations` asks the same of protected paths.

use crate::index::{Entry, Index, Kind, side_by_side};
use crate::path::TreePath;
use crate::test_files::looks_like_test;

/// The paths that differ, each list in walk order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Not there before.
    pub added: Vec<TreePath>,
    /// Other content, another kind, or the executable bit.
    pub modified: Vec<TreePath>,
    /// Not there any more.
    pub deleted: Vec<TreePath>,
}

impl Changes {
    /// True if nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many paths changed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.added.len() + self.modified.len() + self.deleted.len()
    }

    /// All of them: added, modified, deleted.
    pub fn paths(&self) -> impl Iterator<Item = &TreePath> {
        self.added.iter().chain(&self.modified).chain(&self.deleted)
    }

    /// True if something changed and all of it looks like tests.
    #[must_use]
    pub fn only_tests(&self) -> bool {
        !self.is_empty() && self.paths().all(|path| looks_like_test(path.as_bytes()))
    }
}

/// Compares two walks of one workspace.
#[must_use]
pub fn changes(before: &Index, after: &Index) -> Changes {
    let work = |entry: &Entry<'_>| entry.counts && entry.kind != Kind::Directory;
    let mut found = Changes::default();
    if before.id() == after.id() {
        return found;
    }
    for (old, new) in side_by_side(before, after) {
        match (old.filter(work), new.filter(work)) {
            (None, Some(new)) => found.added.push(new.path.into()),
            (Some(old), None) => found.deleted.push(old.path.into()),
            (Some(old), Some(new)) if differs(&old, &new) => found.modified.push(new.path.into()),
            _ => {}
        }
    }
    found
}

fn differs(old: &Entry<'_>, new: &Entry<'_>) -> bool {
    old.kind != new.kind || old.hash != new.hash || old.executable() != new.executable()
}
