//! What else concerns a commit in the user's repository: a merge or rebase under way, and hooks.

use super::Git;
use std::path::PathBuf;

/// What git is doing while one of these is in its directory.
const UNDER_WAY: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
];
/// Hooks that `git commit` would run.
const HOOKS: &[&str] = &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

impl Git {
    /// What git is in the middle of.
    pub fn under_way(&self) -> Option<&'static str> {
        UNDER_WAY.iter().find(|(file, _)| self.dir.join(file).exists()).map(|(_, what)| *what)
    }

    /// Hooks that `git commit` would run here.
    pub fn hooks(&self) -> Vec<&'static str> {
        let own = self.word_if_any(&["config", "--type=path", "--get", "core.hooksPath"]);
        let common = self.word_if_any(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let dir = match (own, common) {
            (Some(own), _) => self.top.join(own),
            (None, Some(common)) => PathBuf::from(common).join("hooks"),
            (None, None) => return Vec::new(),
        };
        let runs = |hook: &&&str| {
            use std::os::unix::fs::PermissionsExt;
            let meta = dir.join(hook).metadata();
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        HOOKS.iter().filter(runs).copied().collect()
    }
}
