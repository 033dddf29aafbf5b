//! Repositories that were made in a step, with a `.git` or without. Agents may make them as they like, but git must not run
//! or obey what one of them says: whoever calls git in it, or in a repository that has it as a submodule, would.

use super::config::Meaning;
use super::git_changes::meaning;
use super::git_dir::{GitDir, Guards};
use super::repositories::Repositories;
use crate::step_context::StepContext;
use ralph_tree::{Index, bare_repositories, repository_at, shown, violations};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The git directories that were made and in which git would obey more than it writes there by itself, as they were before:
/// empty.
pub fn harmful(ctx: &StepContext, before: &Index, after: &Index, was: &Repositories) -> Vec<GitDir> {
    let root = ctx.workspace.canonicalize().unwrap_or_else(|_| ctx.workspace.clone());
    let made = made(&root, before, after).into_iter().filter(|dir| !was.has(dir));
    let empty = made.map(|dir| {
        let name = dir.strip_prefix(&root).unwrap_or(&dir);
        let name = shown(name.as_os_str().as_bytes());
        GitDir { name, dir, index: Arc::default(), guards: Guards::Made }
    });
    empty.filter(|was| is_harmful(ctx, was)).collect()
}

fn is_harmful(ctx: &StepContext, was: &GitDir) -> bool {
    let is = was.again();
    violations(&was.index, &is.index)
        .iter()
        .any(|violation| meaning(ctx, was, &is, violation.path.as_bytes()) != Meaning::Ordinary)
}

/// The directories in the workspace. What lies elsewhere is not the agent's to make, and not ralph's to remove.
fn made(root: &Path, before: &Index, after: &Index) -> BTreeSet<PathBuf> {
    let inside = |path: &[u8]| root.join(OsStr::from_bytes(path));
    let new = after.repositories().filter(|entry| before.get(entry.path).is_none());
    let tops = new.filter_map(|entry| Some(inside(entry.path.strip_suffix(b".git")?)));
    let with_files = tops.filter_map(|top| repository_at(&top)).flat_map(|(own, common)| [own, common]);
    let bare_before: BTreeSet<&[u8]> = bare_repositories(before).collect();
    let bare = bare_repositories(after).filter(|dir| !bare_before.contains(dir)).map(inside);
    with_files.chain(bare).filter(|dir| dir.starts_with(root)).collect()
}
