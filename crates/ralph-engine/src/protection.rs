//! Protection: what must not change while somebody's code runs, and what did. The moment before is taken anew for every
//! call and every verification, so that what changes in between is the user's. Three things are looked at: the protected
//! paths of the workspace (the tree's manifest), what git obeys in its repositories, and the commits that were made.
//! Whatever is found is kept beside the run, so that `world/restore.rs` can mend exactly that, also after a crash.

mod config;
mod git;
mod hidden_paths;
mod history;
mod known_commits;
mod repositories;

pub use hidden_paths::{hidden, show};
pub use history::Touched;
pub use repositories::{GitDir, Repositories, obeyed};

use crate::step_context::StepContext;
use git::Git;
use known_commits::KnownCommits;
use ralph_rules::record::{How, Violation};
use ralph_tree::{Index, TreePath, violations};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The moment before the step under way, in the run's folder.
pub const BEFORE: &str = "before";
/// The moment after it, where something was found.
pub const SEEN: &str = "seen";
/// Names kept in a record.
const NAMES: usize = 1000;

/// What was there before the step under way.
#[derive(Debug, Default)]
pub struct Protection {
    latest: Mutex<Arc<Repositories>>,
}

/// One moment, as it is kept.
#[derive(Debug)]
pub struct Moment {
    /// The workspace.
    pub files: Index,
    /// Its repositories.
    pub repositories: Repositories,
}

impl Moment {
    /// Reads one back.
    pub fn load(folder: &Path, name: &str) -> Option<Moment> {
        let files = Index::load(&folder.join(format!("{name}.tree")))?;
        let repositories = Repositories::load(&folder.join(format!("{name}.git"))).unwrap_or_default();
        Some(Moment { files, repositories })
    }

    fn save(folder: &Path, name: &str, files: &Index, repositories: &Repositories) -> io::Result<()> {
        repositories.save(&folder.join(format!("{name}.git")))?;
        files.save(&folder.join(format!("{name}.tree"))).map_err(|error| error.source)
    }
}

impl Protection {
    /// The repositories as they were before the step under way.
    pub fn repositories(&self) -> Arc<Repositories> {
        Arc::clone(&self.latest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// After a crash: as the earlier process had them.
    pub fn restore_from(&self, repositories: Repositories) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(repositories);
    }

    /// Takes the moment before a step that now begins. Were ralph to die in it, the next process could not tell
    /// otherwise what was done; and nothing could be put back whose content is not kept.
    pub fn begin(&self, ctx: &StepContext) {
        let files = ctx.index();
        let now = Arc::new(Repositories::look(&ctx.workspace, &files, &self.repositories()));
        for git_dir in &now.git_dirs {
            // What cannot be kept cannot be put back, and is then told as such.
            let _ = ctx.snapshots.store().take_also(&git_dir.dir, &git_dir.index);
        }
        KnownCommits::load(&ctx.folder).begins(&now, &ctx.folder);
        // Without it only a crash in this very step loses sight of a change; the step itself is not in danger.
        let _ = Moment::save(&ctx.folder, BEFORE, &files, &now);
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

/// Everything that was touched since the step began. What is found is kept beside the run first.
pub fn found(ctx: &StepContext, before: &Index, after: &Index) -> Vec<Violation> {
    let was = ctx.protection.repositories();
    let is = was.again();
    let mut all: Vec<Violation> =
        violations(before, after).iter().map(|v| Violation::new(v.path.to_string(), how(v.how))).collect();
    for (was, is) in was.git_dirs.iter().zip(&is.git_dirs) {
        all.extend(obeyed_differently(ctx, was, is));
    }
    let path = |path: Vec<u8>| TreePath::from(path.as_slice()).to_string();
    all.extend(hidden(&was, &is, after).into_iter().map(|p| Violation::new(path(p), How::Hidden)));
    let commits = histories(ctx, before, &was, &is);
    all.extend(commits.iter().map(|touched| Violation {
        commit: Some(touched.commit.clone()).filter(|commit| !commit.is_empty()),
        ..Violation::new(touched.path.clone(), How::InHistory)
    }));
    if !all.is_empty() {
        // Without it the step that puts things back takes what it finds then for what was found now.
        let _ = Moment::save(&ctx.folder, SEEN, after, &is);
        let list = serde_json::to_vec(&commits).unwrap_or_default();
        let _ = fs::write(ctx.folder.join(COMMITS), list);
    }
    all.truncate(NAMES);
    all
}

/// Commits that were found, in the run's folder.
pub const COMMITS: &str = "seen.commits.json";

/// What git obeys in one directory, and did not before.
fn obeyed_differently(ctx: &StepContext, was: &GitDir, is: &GitDir) -> Vec<Violation> {
    // A directory that is gone as a whole is the tree's to tell.
    if !is.dir.is_dir() {
        let outside = !is.dir.starts_with(&ctx.workspace) && !was.index.is_empty();
        return outside.then(|| Violation::new(was.name.clone(), How::Deleted)).into_iter().collect();
    }
    violations(&was.index, &is.index)
        .into_iter()
        .filter(|v| !is_ordinary(ctx, was, is, v.path.as_bytes()))
        .map(|v| Violation::new(format!("{}/{}", was.name, v.path), how(v.how)))
        .collect()
}

/// A config in which only the branches follow other branches.
pub fn is_ordinary(ctx: &StepContext, was: &GitDir, is: &GitDir, path: &[u8]) -> bool {
    let (Some(old), true) = (was.index.get(path), path == b"config") else { return false };
    let Some(new) = is.index.get(path).filter(|new| new.mode == old.mode && new.kind == old.kind) else {
        return false;
    };
    let before = fs::read(ctx.snapshots.store().blobs().path(old.hash));
    let after = fs::read(is.dir.join("config"));
    match (before, after) {
        (Ok(before), Ok(after)) if after.len() as u64 == new.size => config::only_tracking(&before, &after),
        _ => false,
    }
}

/// Protected paths in commits that were made meanwhile.
fn histories(ctx: &StepContext, files: &Index, was: &Repositories, is: &Repositories) -> Vec<Touched> {
    let trust = KnownCommits::load(&ctx.folder);
    let mut all = Vec::new();
    for (was, is) in was.histories.iter().zip(&is.histories) {
        let before = history::Before {
            refs: &was.refs,
            known: &trust.known,
            files,
            blobs: ctx.snapshots.store().blobs(),
            protect: ctx.tree.protect(),
        };
        let range = history::range(&was.repository, &before, &is.refs);
        if range.0.is_empty() {
            continue;
        }
        let program = ctx.deps.git.as_deref();
        let looked = program.ok_or_else(|| io::Error::other("git is not installed")).and_then(|program| {
            let git = Git::beside(program, &was.repository, &ctx.folder.join("history.git"))?;
            history::touched(&git, &was.repository, &before, &range)
        });
        // Commits that cannot be looked at prove nothing; to take them for clean would hide what is in them.
        let cannot = |error: io::Error| {
            let path = format!("{}: the new commits cannot be looked at ({error})", was.repository.name);
            vec![Touched { commit: String::new(), path, object: None }]
        };
        all.extend(looked.unwrap_or_else(cannot));
    }
    trust.ended(was, is, &ctx.folder);
    all
}

/// The contents of protected paths in commits, for the quarantine: at most a hundred.
pub fn contents(ctx: &StepContext, commits: &[Touched]) -> Vec<(Touched, Vec<u8>)> {
    let repositories = ctx.protection.repositories();
    let mut all = Vec::new();
    for history in &repositories.histories {
        let Some(program) = ctx.deps.git.as_deref() else { break };
        let dir: PathBuf = ctx.folder.join("history.git");
        let Ok(git) = Git::beside(program, &history.repository, &dir) else { continue };
        for touched in commits.iter().take(100) {
            let Some(object) = touched.object.as_deref() else { continue };
            let known = all.iter().any(|(seen, _): &(Touched, Vec<u8>)| seen == touched);
            if let Some(content) = git.run(&["cat-file", "blob", object], b"").ok().filter(|_| !known) {
                all.push((touched.clone(), content));
            }
        }
    }
    all
}

fn how(how: ralph_tree::How) -> How {
    match how {
        ralph_tree::How::Added => How::Added,
        ralph_tree::How::Modified => How::Modified,
        ralph_tree::How::Deleted => How::Deleted,
        ralph_tree::How::ModeChanged => How::ModeChanged,
        ralph_tree::How::TypeChanged => How::TypeChanged,
    }
}
