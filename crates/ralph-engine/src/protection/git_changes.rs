//! What a changed file of a repository's own directory means: ordinary work, a tool's doing, or tampering.

use super::config::{self, Configs, Meaning};
use super::first_configs::FirstConfigs;
use super::git_dir::GitDir;
use super::{tool_hooks, tools};
use crate::step_context::StepContext;
use ralph_os::{Links, read_regular};
use ralph_rules::record::Violation;
use ralph_tree::{Entry, Kind, git_settings, repository_at};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// A larger configuration of a repository is not looked into: that it changed is enough.
pub const CONFIG: u64 = 1 << 20;

/// What the change of a path between two states of its directory means.
pub fn meaning(ctx: &StepContext, was: &GitDir, is: &GitDir, path: &[u8]) -> Meaning {
    let change = Change { ctx, was, is, path, old: was.index.get(path), new: is.index.get(path) };
    if !was.is_of_git() {
        let tool = tools::of_byte_code(&was.dir, &was.index, &is.index, path);
        return tool.map_or(Meaning::Tampering, Meaning::Tool);
    }
    let regular = |entry: Option<Entry<'_>>| entry.is_none_or(|e| e.kind == Kind::File && !e.unreadable);
    if !regular(change.old) || !regular(change.new) {
        return Meaning::Tampering;
    }
    if was.is_made() {
        return change.in_new_repository().unwrap_or(Meaning::Tampering);
    }
    match path {
        b"config" => change.of_config().unwrap_or(Meaning::Tampering),
        // Git says by itself that a checkout is sparse.
        b"info/sparse-checkout" => Meaning::Ordinary,
        _ if is_commondir(path) => change.of_commondir().unwrap_or(Meaning::Tampering),
        _ if is_worktree_config(path) => change.of_worktree_config().unwrap_or(Meaning::Tampering),
        _ if path.starts_with(b"hooks/") => change.of_hook().map_or(Meaning::Tampering, Meaning::Tool),
        _ => Meaning::Tampering,
    }
}

/// The settings that make the change of a config tampering: the first ones, by name.
pub fn blamed_keys(ctx: &StepContext, was: &GitDir, is: &GitDir, path: &[u8]) -> Vec<String> {
    let change = Change { ctx, was, is, path, old: was.index.get(path), new: is.index.get(path) };
    let is_config = was.is_of_git() && (path == b"config" || is_worktree_config(path));
    let keys = is_config.then(|| change.blamed()).flatten().unwrap_or_default();
    keys.into_iter().take(Violation::KEYS + 1).collect()
}

/// `config.worktree`, of the main work tree or a linked one.
fn is_worktree_config(path: &[u8]) -> bool {
    path == b"config.worktree" || path.starts_with(b"worktrees/") && path.ends_with(b"/config.worktree")
}

/// Where a linked work tree finds the repository it belongs to.
fn is_commondir(path: &[u8]) -> bool {
    path.starts_with(b"worktrees/") && path.ends_with(b"/commondir")
}

struct Change<'a> {
    ctx: &'a StepContext,
    was: &'a GitDir,
    is: &'a GitDir,
    path: &'a [u8],
    old: Option<Entry<'a>>,
    new: Option<Entry<'a>>,
}

impl Change<'_> {
    fn before(&self) -> Option<Vec<u8>> {
        self.old
            .map_or(Some(Vec::new()), |old| fs::read(self.ctx.snapshots.store().blobs().path(old.hash)).ok())
    }

    fn after(&self) -> Option<Vec<u8>> {
        let Some(new) = self.new else { return Some(Vec::new()) };
        let path = self.is.dir.join(OsStr::from_bytes(self.path));
        read_regular(&path, CONFIG, Links::Refuse).ok().filter(|bytes| bytes.len() as u64 == new.size)
    }

    fn of_config(&self) -> Option<Meaning> {
        if self.old?.mode != self.new?.mode {
            return None;
        }
        Some(config::meaning(&self.configs()?))
    }

    fn configs(&self) -> Option<Configs> {
        let (before, after) = (self.before()?, self.after()?);
        let first = match self.path {
            b"config" => FirstConfigs::load(&self.ctx.folder).of(&self.was.dir),
            _ => None,
        };
        let (mut first, branches) = first.map_or_else(|| (before.clone(), None), |f| (f.config, f.branches));
        first.extend(self.own_work_tree(&after).unwrap_or_default());
        Some(Configs { first, branches, before, after })
    }

    /// The setting by which a submodule's directory names the work tree that names it as its own: git writes it when the submodule
    /// is checked out again.
    fn own_work_tree(&self, config: &[u8]) -> Option<Vec<u8>> {
        let settings = git_settings(config);
        let (_, value) = settings.iter().find(|(name, _)| name == "core.worktree")?;
        let is_plain = !value.iter().any(|byte| byte.is_ascii_control() || b"\"\\#;".contains(byte));
        let (own, _) = repository_at(&self.was.dir.join(OsStr::from_bytes(value)))?;
        let leads_here = own == self.was.dir && !value.starts_with(b"/") && is_plain;
        leads_here.then(|| [b"\n[core]\n\tworktree = ", value.as_slice(), b"\n"].concat())
    }

    fn blamed(&self) -> Option<BTreeSet<String>> {
        match self.was.is_made() && self.path == b"config" {
            true => config::blamed_in_new_repository(&self.after()?),
            false => Some(config::blamed(&self.configs()?)),
        }
    }

    fn of_worktree_config(&self) -> Option<Meaning> {
        Some(config::meaning_for_worktree(&self.configs()?))
    }

    /// A work tree that is made or removed as a whole. Without this file its directory would be a repository of its own.
    fn of_commondir(&self) -> Option<Meaning> {
        let ordinary = match (self.old, self.new) {
            (None, Some(_)) => self.leads_to_the_repository_above(),
            (_, None) => {
                let file = self.is.dir.join(OsStr::from_bytes(self.path));
                file.parent()?.symlink_metadata().is_err()
            }
            (Some(_), Some(_)) => false,
        };
        ordinary.then_some(Meaning::Ordinary)
    }

    /// A file of a repository that was not there: what git writes into every new one is ordinary.
    fn in_new_repository(&self) -> Option<Meaning> {
        match self.path {
            _ if self.is_known() => Some(Meaning::Ordinary),
            b"config" => Some(config::meaning_in_new_repository(&self.after()?)),
            b"commondir" => self.leads_to_the_repository_above().then_some(Meaning::Ordinary),
            path if is_commondir(path) => self.of_commondir(),
            path if is_worktree_config(path) => self.of_worktree_config(),
            path if path.starts_with(b"hooks/") && !path.ends_with(b".sample") => {
                self.of_hook().map(Meaning::Tool)
            }
            _ => Some(Meaning::Ordinary),
        }
    }

    /// A repository that is gone had the same file: it was renamed. While it is there, its settings may mean something else
    /// in a copy: a relative path leads to files of the copy's.
    fn is_known(&self) -> bool {
        let known = self.ctx.protection.repositories();
        let gone = known.git_dirs.iter().filter(|git_dir| git_dir.dir.symlink_metadata().is_err());
        let mut same = gone.filter_map(|git_dir| git_dir.index.get(self.path));
        self.new.is_some_and(|new| same.any(|file| file.hash == new.hash))
    }

    fn leads_to_the_repository_above(&self) -> bool {
        self.after().is_some_and(|content| content.trim_ascii() == b"../..")
    }

    /// A hook that a tool installs, or takes away again, or keeps under another name.
    fn of_hook(&self) -> Option<&'static str> {
        let Some(new) = self.new else { return tool_hooks::of_hook(&self.before()?) };
        for (end, tool) in [(&b".legacy"[..], "pre-commit"), (b".old", "lefthook")] {
            let kept = self.path.strip_suffix(end).and_then(|path| self.was.index.get(path));
            if kept.is_some_and(|kept| kept.hash == new.hash) {
                return Some(tool);
            }
        }
        tool_hooks::of_hook(&self.after()?)
    }
}
