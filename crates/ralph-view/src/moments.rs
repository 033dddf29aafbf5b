//! Two moments of a workspace that are compared, such as those before and after a run. What a changed ignore rule hides or
//! shows is no difference between them.

use crate::workspace_diff::read;
use ralph_snapshots::Blobs;
use ralph_tree::{Entry, Index, Kind, TreePath, hash_bytes, rule_changes};
use std::path::Path;

/// Said of a file that was ignored before, so that nobody knows whether it was there.
const NO_LONGER_IGNORED: &str = "git ignored it before, so it may be older than the run";
/// Said of a file that looks deleted because a rule ignores it now.
const NOW_IGNORED: &str = "it was not deleted: it is ignored now";

/// Two moments of a workspace, without files that only a changed ignore rule makes look added or deleted.
pub struct Moments {
    /// Before.
    pub before: Index,
    /// After.
    pub after: Index,
    /// The id of the whole tree after.
    pub tree: u128,
    /// The files that are left out, and why.
    pub left_out: Vec<(TreePath, &'static str)>,
}

impl Moments {
    /// Of this workspace; `blobs` has the contents.
    pub fn of(workspace: &Path, before: Index, after: Index, blobs: &Blobs) -> Moments {
        let content = |entry: &Entry<'_>| {
            let mut saved = Vec::new();
            if blobs.copy_to(entry.hash, &mut saved).is_ok() {
                return Some(saved);
            }
            let now = ralph_os::open_file_beneath(workspace, entry.path).and_then(read).ok()?;
            (hash_bytes(&now) == entry.hash).then_some(now)
        };
        let rules = rule_changes(workspace, &before, &after, &content);
        let is_file = |path: &&Vec<u8>| after.get(path).is_none_or(|entry| entry.kind != Kind::Directory);
        let shown = rules.no_longer_ignored.iter().filter(is_file).map(|path| (path, NO_LONGER_IGNORED));
        let hidden = rules.now_ignored.iter().map(|path| (path, NOW_IGNORED));
        let left_out = shown.chain(hidden).map(|(path, why)| (path.as_slice().into(), why)).collect();
        let tree = after.id();
        let before = before.without_paths(&rules.now_ignored);
        let after = after.without_paths(&rules.no_longer_ignored);
        Moments { before, after, tree, left_out }
    }
}
