//! Protected paths: records the state before every call and every verification, and finds what changed during it; changes
//! in between are the user's. Four things are compared: protected paths of the workspace, files that git obeys in its
//! repositories (configuration, hooks), new commits, and the objects of the history (`lost_objects.rs`). What ordinary work
//! changes there is left in place (`git_changes.rs`, `checkouts.rs`), what tools change by themselves is restored without
//! blame (`tools.rs`). Findings are kept in the run's folder, so that `world/restore.rs` restores exactly those, also after
//! a crash.

mod checkouts;
mod committed;
mod config;
mod first_configs;
mod git;
mod git_changes;
mod git_dir;
mod harmless_aliases;
mod harmless_keys;
mod harmless_looks_and_speed;
mod hidden_paths;
mod history;
mod known_commits;
mod lost_names;
mod lost_objects;
mod made_repositories;
mod objects;
mod repeated_changes;
mod repositories;
mod settings;
mod tool_hooks;
mod tools;
mod user_commits;
pub mod user_config;

pub use committed::Committed;
pub use git_dir::GitDir;
pub use hidden_paths::{hidden, show};
pub use history::Touched;
pub use objects::PACKS;
pub use repositories::{Repositories, odd_in_repository};

use crate::snapshots::Snapshots;
use crate::step_context::StepContext;
use config::Meaning;
use first_configs::FirstConfigs;
use git::Git;
use known_commits::KnownCommits;
use objects::Objects;
use ralph_diagnostics::Discard;
use ralph_os::write_durably;
use ralph_rules::record::{How, Violation};
use ralph_tree::{Index, TreePath, violations};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use user_commits::UserCommits;

/// Name of the state before the current step, in the run's folder.
pub const BEFORE: &str = "before";
/// Name of the state after it, written if something was found.
pub const SEEN: &str = "seen";
/// Most names kept in a record.
const NAMES: usize = 1000;

/// The repositories before the current step.
#[derive(Debug, Default)]
pub struct Protection {
    latest: Mutex<Arc<Repositories>>,
    /// The object files when the latest step ended.
    objects: Mutex<Vec<Objects>>,
}

/// The state at one moment.
#[derive(Debug)]
pub struct Moment {
    /// The workspace.
    pub files: Index,
    /// Its repositories.
    pub repositories: Repositories,
}

impl Moment {
    /// Reads a state from the run's folder.
    pub fn load(folder: &Path, name: &str) -> Option<Moment> {
        let files = Snapshots::recorded(folder, name)?;
        let repositories = Repositories::load(&folder.join(format!("{name}.git"))).unwrap_or_default();
        Some(Moment { files, repositories })
    }

    fn save(
        ctx: &StepContext,
        name: &str,
        files: &Arc<Index>,
        repositories: &Repositories,
    ) -> io::Result<()> {
        repositories.save(&ctx.folder.join(format!("{name}.git")))?;
        ctx.snapshots.record(name, files)
    }
}

impl Protection {
    /// The repositories as they were before the current step.
    pub fn repositories(&self) -> Arc<Repositories> {
        Arc::clone(&self.latest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The repositories before the current step, and those made in it in which git would obey an agent, each as an empty
    /// directory: what git obeys there is new.
    fn with_made(&self, ctx: &StepContext, before: &Index, after: &Index) -> Arc<Repositories> {
        let was = self.repositories();
        let made = made_repositories::harmful(ctx, before, after, &was);
        if made.is_empty() {
            return was;
        }
        let was = Arc::new(was.with_made(made));
        // Without it, a restore does not find them.
        was.save(&ctx.folder.join(format!("{BEFORE}.git"))).discard("save the repositories that were made");
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&was);
        was
    }

    /// After a crash: continues with what the earlier process recorded.
    pub fn restore_from(&self, repositories: Repositories) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(repositories);
    }

    fn look(&self, ctx: &StepContext, files: &Index, earlier: &Repositories) -> Repositories {
        let mut now = Repositories::look(&ctx.workspace, files, ctx.tree.protect(), earlier);
        let ended = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        now.objects = Objects::of(&ctx.workspace, &now.histories, &ended);
        now
    }

    /// Records the state before a step that now begins. Without it, the process after a crash could not tell what the
    /// step changed, and content that is not stored cannot be restored.
    pub fn begin(&self, ctx: &StepContext) {
        let files = ctx.index();
        let earlier = self.repositories();
        // After a lost supervisor, what changed since the last step may be the work of somebody it left behind: the
        // state before the loss stays the one to compare with.
        let trusted = !ctx.under_way.loss().happened() || earlier.git_dirs.is_empty();
        let now = match trusted {
            true => Arc::new(self.look(ctx, &files, &earlier)),
            false => earlier,
        };
        for git_dir in &now.git_dirs {
            // What cannot be stored cannot be restored; the restore then reports it.
            ctx.snapshots
                .store()
                .take_also(&git_dir.dir, &git_dir.index)
                .discard("store a repository's files");
        }
        if trusted {
            KnownCommits::load(&ctx.folder).begins(&now, &ctx.folder);
            FirstConfigs::load(&ctx.folder).begins(&now, &ctx.folder);
            UserCommits::load(&ctx.folder).begins(&now, &ctx.folder);
            objects::keep_pack_indexes(&now, &ctx.folder);
        }
        // Needed only if ralph crashes during this step.
        Moment::save(ctx, BEFORE, &files, &now).discard("save the state before the step");
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

/// Everything that was changed since the step began. Findings are written to the run's folder first.
pub fn found(ctx: &StepContext, before: &Index, after: &Arc<Index>) -> Vec<Violation> {
    let was = ctx.protection.with_made(ctx, before, after);
    let is = was.again();
    let in_files = violations(before, after);
    let checkouts = checkouts::checked_out(ctx, before, after, &in_files);
    let files = in_files.iter().filter(|v| !checkouts.contains(v.path.as_bytes()));
    let mut all: Vec<Violation> = files.map(|v| in_workspace(ctx, before, after, v)).collect();
    for (was, is) in was.git_dirs.iter().zip(&is.git_dirs) {
        all.extend(obeyed_differently(ctx, was, is));
    }
    let path = |path: Vec<u8>| TreePath::from(path.as_slice()).to_string();
    all.extend(hidden(&was, &is, after).into_iter().map(|p| Violation::new(path(p), How::Hidden)));
    let known: BTreeSet<String> = all.iter().map(|violation| violation.path.clone()).collect();
    let unread = is.unread_since(&was).into_iter().filter(|path| !known.contains(path));
    all.extend(unread.map(|path| Violation::new(path, How::TypeChanged)));
    let commits = histories(ctx, before, &was, &is);
    all.extend(commits.iter().map(|touched| Violation {
        commit: Some(touched.commit.clone()).filter(|commit| !commit.is_empty()),
        ..Violation::new(touched.path.clone(), How::InHistory)
    }));
    let mut lost = lost_objects::lost(ctx, &was, &is);
    lost.retain(|violation| !all.iter().any(|known| known.path == violation.path));
    all.extend(lost.iter().cloned());
    UserCommits::load(&ctx.folder).ended(&is, &ctx.folder);
    ctx.protection.objects.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&is.objects);
    if !all.is_empty() {
        // Without it, the restore compares with the state it finds then.
        Moment::save(ctx, SEEN, after, &is).discard("save the state after the step");
        let lost: Vec<&String> = lost.iter().map(|violation| &violation.path).collect();
        keep(ctx, COMMITS, &commits);
        keep(ctx, CHECKOUTS, &checkouts);
        keep(ctx, LOST, &lost);
    }
    all.truncate(NAMES);
    all
}

fn keep(ctx: &StepContext, name: &str, list: &impl Serialize) {
    let list = serde_json::to_vec(list).unwrap_or_default();
    write_durably(&ctx.folder.join(name), &list).discard("save a list of what was found");
}

/// Commits that were found, in the run's folder.
pub const COMMITS: &str = "seen.commits.json";
/// Files that a checkout made or removed, which are not restored, in the run's folder.
const CHECKOUTS: &str = "seen.checkouts.json";
/// Directories of objects that lost some, in the run's folder.
const LOST: &str = "seen.lost.json";

/// The directories of objects that lost some by the latest check. Nobody can restore these.
pub fn lost_before(folder: &Path) -> Vec<String> {
    serde_json::from_slice(&fs::read(folder.join(LOST)).unwrap_or_default()).unwrap_or_default()
}

/// The files that the latest check took for a checkout's.
pub fn checked_out_before(folder: &Path) -> BTreeSet<Vec<u8>> {
    serde_json::from_slice(&fs::read(folder.join(CHECKOUTS)).unwrap_or_default()).unwrap_or_default()
}

/// A protected path of the workspace, with the tool that changed it, if one did.
fn in_workspace(ctx: &StepContext, before: &Index, after: &Index, v: &ralph_tree::Violation) -> Violation {
    let tool = tools::of_byte_code(&ctx.workspace, before, after, v.path.as_bytes());
    let tool = tool.or_else(|| tools::of_hooks_directory(&ctx.start.protect, v.path.as_bytes()));
    Violation { tool: tool.map(ToOwned::to_owned), ..Violation::new(v.path.to_string(), how(v.how)) }
}

/// Files that git obeys in one directory and that changed.
fn obeyed_differently(ctx: &StepContext, was: &GitDir, is: &GitDir) -> Vec<Violation> {
    // A directory that is gone altogether is reported by the workspace's walk.
    if !is.dir.is_dir() {
        let outside = !is.dir.starts_with(&ctx.workspace) && !was.index.is_empty();
        return outside.then(|| Violation::new(was.name.clone(), How::Deleted)).into_iter().collect();
    }
    let named = |v: &ralph_tree::Violation| Violation::new(format!("{}/{}", was.name, v.path), how(v.how));
    let changed = is.changed_since(was);
    let judged = changed.iter().map(|v| (v, git_changes::meaning(ctx, was, is, v.path.as_bytes())));
    let blamed = |v: &ralph_tree::Violation| git_changes::blamed_keys(ctx, was, is, v.path.as_bytes());
    let found = judged.filter_map(|(v, meaning)| match meaning {
        Meaning::Ordinary => None,
        Meaning::Tool(tool) => Some(Violation { tool: Some(tool.to_owned()), ..named(v) }),
        Meaning::Tampering => Some(Violation { keys: blamed(v), ..named(v) }),
    });
    found.collect()
}

/// Whether a file that git obeys changed only as ordinary work changes it.
pub fn is_ordinary(ctx: &StepContext, was: &GitDir, is: &GitDir, path: &[u8]) -> bool {
    git_changes::meaning(ctx, was, is, path) == Meaning::Ordinary
}

/// What was done to a file besides the workspace and was not undone yet, with the settings that changed.
pub fn how_words(ctx: &StepContext, was: &GitDir, v: &ralph_tree::Violation) -> String {
    let keys = git_changes::blamed_keys(ctx, was, &was.again(), v.path.as_bytes());
    Violation { keys, ..Violation::new("", how(v.how)) }.how_words()
}

/// Protected paths in commits made during the step.
fn histories(ctx: &StepContext, files: &Index, was: &Repositories, is: &Repositories) -> Vec<Touched> {
    let trust = KnownCommits::load(&ctx.folder);
    let (mut all, around) = (Vec::new(), was.around());
    for (was, is) in was.histories.iter().zip(&is.histories) {
        let before = history::Before {
            refs: &was.refs,
            known: &trust.known,
            files,
            blobs: ctx.snapshots.store().blobs(),
            protect: ctx.tree.protect(),
            around: around.map(|around| (around.name.as_str(), &*around.index)),
        };
        let range = history::range(&was.repository, &before, &is.refs);
        if range.0.is_empty() {
            continue;
        }
        let program = ctx.deps.git.as_deref();
        let looked = program.ok_or_else(|| io::Error::other("git is not installed")).and_then(|program| {
            let git = Git::beside(program, &was.repository, &ctx.folder.join("history.git"))?;
            history::touched(&git, &was.repository, &before, &is.refs, &range)
        });
        // Commits that cannot be read must not pass for harmless.
        let cannot = |error: io::Error| {
            let path = format!("{}: the new commits cannot be read ({error})", was.repository.name);
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
