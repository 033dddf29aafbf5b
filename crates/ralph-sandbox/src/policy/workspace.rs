//! What is read-only inside the workspace: protected paths, what git obeys, ralph's own files, and what other programs obey.

use super::facts::Facts;
use super::home::outermost;
use crate::Mount;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// ralph's own directory.
const OWN: &str = ".ralph";

/// ralph's own files, in the workspace's own directory.
const OWN_FILES: &[&str] = &[OWN, "ralph.toml", "ralph.local.toml"];

/// Settings by which editors, shells and agents run programs.
const OBEYED: &[&str] = &[".claude", ".codex", ".mcp.json", ".vscode", ".idea", ".envrc"];

/// Whether editors, shells or agents run programs that a file says, by its path in a workspace. They look in any directory
/// that they are started in.
pub fn is_obeyed(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| OBEYED.iter().any(|name| name.as_bytes() == part))
}

/// Names in the home directory by which shells, sessions and git run programs. Read-only where it is the workspace: whatever
/// is written there runs at the next login.
const START_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".xprofile",
    ".xsessionrc",
    ".gitconfig",
    ".config/git",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".local/bin",
];

/// What git reads from a git directory and by which it runs programs, or finds another directory whose configuration and hooks
/// it obeys instead.
const OBEYED_BY_GIT: &[&str] = &["config", "config.worktree", "hooks", "info", "commondir", "gitdir"];

/// The read-only paths. `.git` itself is pinned by those inside it, so no other can take its place.
pub(super) fn mounts(facts: &Facts) -> Vec<Mount> {
    let inside = |path: &PathBuf| *path != facts.workspace && path.starts_with(&facts.workspace);
    let obeyed = OWN_FILES
        .iter()
        .chain(OBEYED)
        .filter(|name| facts.workspace_entries.iter().any(|entry| entry == *name));
    let obeyed = obeyed.map(|name| facts.workspace.join(name));
    let start = START_FILES.iter().filter(|_| !facts.home_is_apart()).map(|name| facts.home.join(name));
    let git = facts.git_directories.iter().flat_map(|dir| obeyed_by_git(dir)).chain(start);
    let all = facts.protected.iter().cloned().chain(obeyed).chain(git).chain(facts.git_files.iter().cloned());
    outermost(all.filter(inside)).into_iter().map(Mount::Protect).chain(plan_file(facts)).collect()
}

/// The plan, where ralph's own directory would keep the agent from ticking it: written, unless it is protected by name.
fn plan_file(facts: &Facts) -> Option<Mount> {
    let own = facts.workspace.join(OWN);
    let is_protected = |path: &&PathBuf| facts.protected.iter().any(|it| path.starts_with(it));
    let plan = facts.plan_file.as_ref().filter(|path| path.starts_with(&own) && !is_protected(path))?;
    Some(Mount::Write(plan.clone()))
}

/// The workspace's git directory where it lies elsewhere, as a worktree's does: written for real, because a commit writes
/// there, apart from what git obeys. The directories between are mounted once more: a mount point cannot be renamed, so none can be
/// put in the place of one above what git obeys.
pub(super) fn git_elsewhere(facts: &Facts) -> Vec<Mount> {
    let elsewhere = || facts.git_directories.iter().filter(|dir| !dir.starts_with(&facts.workspace));
    let outermost = outermost(elsewhere().cloned());
    let between = |dir: &PathBuf| {
        let above = outermost.iter().find(|above| dir.starts_with(above))?;
        let depth = dir.strip_prefix(above).ok()?.components().count();
        Some(dir.ancestors().take(depth).map(Path::to_path_buf).collect::<Vec<_>>())
    };
    // In their order, so that none covers one below it.
    let pins: BTreeSet<PathBuf> = elsewhere().filter_map(between).flatten().collect();
    let obeyed = elsewhere().flat_map(|dir| obeyed_by_git(dir)).map(Mount::Show);
    outermost.iter().chain(&pins).cloned().map(Mount::Write).chain(obeyed).collect()
}

fn obeyed_by_git(dir: &Path) -> impl Iterator<Item = PathBuf> {
    OBEYED_BY_GIT.iter().map(|name| dir.join(name))
}
