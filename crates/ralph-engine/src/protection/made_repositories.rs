//! Repositories that were made in a step, with a `.git` or without. Agents may make them as they like, but git must not run
//! or obey what one of them says: whoever calls git in it, or in a repository that has it as a submodule, would.

use super::config::Meaning;
use super::git_changes::meaning;
use super::git_dir::{GitDir, Guards};
use super::repositories::Repositories;
use crate::step_context::StepContext;
use ralph_tree::{Index, InnerGitDirs, bare_repositories, repository_at, shown, violations};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The git directories that were made and in which git would obey more than it writes there by itself, and the directories
/// with a new `.git` that leads away; as they were before: empty.
pub fn harmful(ctx: &StepContext, before: &Index, after: &Index, was: &Repositories) -> Vec<GitDir> {
    let root = ctx.workspace.canonicalize().unwrap_or_else(|_| ctx.workspace.clone());
    let made = made(&root, before, after, was);
    let empty = |dir: PathBuf, guards: Guards| {
        let name = dir.strip_prefix(&root).unwrap_or(&dir);
        GitDir { name: shown(name.as_os_str().as_bytes()), dir, index: Arc::default(), guards }
    };
    let dirs = made.dirs.into_iter().filter(|dir| !was.has(dir)).map(|dir| empty(dir, Guards::Made));
    let harmful = dirs.filter(|was| is_harmful(ctx, was));
    harmful.chain(made.lead_away.into_iter().map(|dir| empty(dir, Guards::LeadsAway))).collect()
}

fn is_harmful(ctx: &StepContext, was: &GitDir) -> bool {
    let is = was.again();
    violations(&was.index, &is.index)
        .iter()
        .any(|violation| meaning(ctx, was, &is, violation.path.as_bytes()) != Meaning::Ordinary)
}

/// What was made in a step.
struct MadeInStep {
    /// Directories of repositories.
    dirs: BTreeSet<PathBuf>,
    /// Directories whose `.git` leads to none of them.
    lead_away: BTreeSet<PathBuf>,
}

/// A repository's own directories lie in the workspace, or in a repository that was there, as those of a linked work tree do.
/// Anywhere else an agent may have put them without being seen: in the layer of a cache, for example.
fn made(root: &Path, before: &Index, after: &Index, was: &Repositories) -> MadeInStep {
    let inside = |path: &[u8]| root.join(OsStr::from_bytes(path));
    let is_near = |dir: &PathBuf| {
        dir.starts_with(root) || was.git_dirs.iter().any(|it| it.is_of_git() && dir.starts_with(&it.dir))
    };
    let bare_before: BTreeSet<&[u8]> = bare_repositories(before).collect();
    let bare = bare_repositories(after).filter(|dir| !bare_before.contains(dir)).map(inside);
    // Those of submodules, though nobody has checked them out yet.
    let known = was.histories.iter().map(|history| &history.repository.common);
    let inner = known.flat_map(|common| InnerGitDirs::of(common).submodules).filter(is_near);
    let mut made = MadeInStep { dirs: bare.chain(inner).collect(), lead_away: BTreeSet::new() };
    let new = after.repositories().filter(|entry| before.get(entry.path).is_none());
    for top in new.filter_map(|entry| Some(inside(entry.path.strip_suffix(b".git")?))) {
        let Some((own, common)) = repository_at(&top) else { continue };
        if is_near(&own) {
            // Where only the shared directory is elsewhere, the file that says so is judged.
            made.dirs.extend([Some(own), Some(common).filter(is_near)].into_iter().flatten());
        } else {
            made.lead_away.insert(top.canonicalize().unwrap_or(top));
        }
    }
    made
}
