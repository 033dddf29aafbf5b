//! Step Restore: restores protected paths to their state before the step that changed them. Their current content is
//! copied to quarantine first, and no other path is touched. After a crash the step is simply repeated; a path that was
//! changed again since is left alone. Closes with `Restored`.

use crate::clock::utc;
use crate::observation::Observation;
use crate::protection::{
    self, BEFORE, COMMITS, GitDir, Moment, SEEN, Touched, checked_out_before, contents, is_ordinary,
};
use crate::quarantine::{Case, Folder, Item};
use crate::step_context::StepContext;
use ralph_rules::record::{Restored, Seen, Violation};
use ralph_snapshots::{
    HalfRestored, PathRestore, PendingRestore, Restore, TouchedPaths, make_readable, restore_paths,
};
use ralph_tree::{Index, TreePath, violations};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Most names kept in the record.
const NAMES: usize = 1000;

/// Restores the paths. `time` is the iteration and the number of this restore within the run.
pub fn restore(ctx: &StepContext, paths: &[Violation], time: (u32, u32)) -> Observation {
    let (Some(before), Some(seen)) = (Moment::load(&ctx.folder, BEFORE), Moment::load(&ctx.folder, SEEN))
    else {
        return left_alone(ctx, paths, "what was there before is not known");
    };
    match put_back(ctx, &before, &seen, time) {
        Ok((quarantine, left)) => {
            let left = left.into_iter().take(NAMES).collect::<Vec<_>>();
            let alone: BTreeSet<&String> = left.iter().collect();
            let restored =
                paths.iter().map(|v| &v.path).filter(|path| !alone.contains(path)).cloned().collect();
            let tree = ctx.index().id();
            Seen::Restored(Restored { restored, left, tree, quarantine }).into()
        }
        // What is there could not be quarantined, so it is not touched.
        Err(error) => left_alone(ctx, paths, &error.to_string()),
    }
}

/// A directory in which paths are restored.
struct TouchedDir<'a> {
    root: &'a Path,
    name: &'a str,
    /// Where it is besides the workspace.
    git_dir: Option<&'a GitDir>,
    before: &'a Index,
    seen: &'a Index,
    now: Arc<Index>,
    touched: Vec<ralph_tree::Violation>,
    half: HalfRestored,
}

type Done = (Option<String>, BTreeSet<String>);

fn put_back(ctx: &StepContext, before: &Moment, seen: &Moment, time: (u32, u32)) -> io::Result<Done> {
    let mut pending = PendingRestore::load(&ctx.pending_restore);
    let touched_dirs = touched_dirs(ctx, before, seen, &pending)?;
    let plans: Vec<PathRestore> = touched_dirs.iter().map(|p| p.plan(ctx)).collect::<io::Result<_>>()?;
    let commits = commits(ctx);
    let case = Case {
        run: ctx.start.run.clone(),
        iteration: time.0,
        at: utc(),
        workspace: ctx.start.workspace.clone(),
        ..Case::default()
    };
    let path = ctx.snapshots.quarantine().join(format!("{:03}.{}", time.0, time.1));
    if let Some(folder) = Folder::open(path.clone(), case)? {
        fill(ctx, folder, &touched_dirs, &plans, &commits)?;
    }
    let plans = touched_dirs.iter().zip(plans);
    let plans: Vec<_> =
        plans.map(|(dir, plan)| (dir.root, Restore { acts: plan.acts, ..Restore::default() })).collect();
    pending.begin(plans.iter().flat_map(|(root, plan)| plan.acts.iter().map(move |act| (*root, act))))?;
    let mut complete = true;
    for (root, plan) in &plans {
        complete &= plan.apply(root, ctx.snapshots.store().blobs())?.failed.is_empty();
    }
    if complete {
        pending.done();
    }
    protection::show(ctx, &before.repositories);
    let mut left: BTreeSet<String> = commits.into_iter().map(|touched| touched.path).collect();
    left.extend(still(ctx, before));
    left.extend(protection::lost_before(&ctx.folder));
    Ok((Some(path.display().to_string()), left))
}

/// The workspace and the repositories' own directories, if something in them was changed. Directories that were made
/// unreadable are opened first: what is in them may have been changed too.
fn touched_dirs<'a>(
    ctx: &'a StepContext,
    before: &'a Moment,
    seen: &'a Moment,
    pending: &PendingRestore,
) -> io::Result<Vec<TouchedDir<'a>>> {
    let mut all = vec![TouchedDir {
        root: &ctx.workspace,
        name: "",
        git_dir: None,
        before: &before.files,
        seen: &seen.files,
        now: ctx.walk(),
        touched: not_checked_out(ctx, &before.files, &seen.files),
        half: pending.half_restored(&ctx.workspace),
    }];
    for (was, is) in before.repositories.git_dirs.iter().zip(&seen.repositories.git_dirs) {
        let touched: Vec<_> = is
            .changed_since(was)
            .into_iter()
            .filter(|v| was.dir.is_dir() && !is_ordinary(ctx, was, is, v.path.as_bytes()))
            .collect();
        let (GitDir { name, dir, index, .. }, git_dir) = (was, Some(was));
        let (now, half) = (was.again().index, pending.half_restored(dir));
        all.push(TouchedDir { root: dir, name, git_dir, before: index, seen: &is.index, now, touched, half });
    }
    all.retain(|dir| !dir.touched.is_empty());
    for dir in &mut all {
        if make_readable(dir.root, dir.touched_paths(&dir.paths()))? {
            dir.look_again(ctx);
        }
    }
    Ok(all)
}

impl TouchedDir<'_> {
    fn paths(&self) -> Vec<TreePath> {
        self.touched.iter().map(|v| v.path.clone()).collect()
    }

    fn touched_paths<'d>(&'d self, touched: &'d [TreePath]) -> TouchedPaths<'d> {
        TouchedPaths { before: self.before, seen: self.seen, now: &self.now, touched, half: &self.half }
    }

    fn look_again(&mut self, ctx: &StepContext) {
        self.now = self.git_dir.map_or_else(|| ctx.walk(), |git_dir| git_dir.again().index);
        let known: BTreeSet<Vec<u8>> = self.touched.iter().map(|v| v.path.as_bytes().to_vec()).collect();
        // What is in the unreadable directories counts as changed with them.
        let more = match self.git_dir {
            Some(git_dir) => git_dir.changes_to(self.before, &self.now),
            None => not_checked_out(ctx, self.before, &self.now),
        };
        let more = more.into_iter().filter(|v| !known.contains(v.path.as_bytes()));
        self.touched.extend(more);
    }

    fn plan(&self, ctx: &StepContext) -> io::Result<PathRestore> {
        restore_paths(self.root, self.touched_paths(&self.paths()), ctx.snapshots.store().blobs())
    }
}

fn fill(
    ctx: &StepContext,
    mut folder: Folder,
    touched_dirs: &[TouchedDir<'_>],
    plans: &[PathRestore],
    commits: &[Touched],
) -> io::Result<()> {
    for (dir, plan) in touched_dirs.iter().zip(plans) {
        let aside: BTreeSet<&[u8]> = plan.aside.iter().map(TreePath::as_bytes).collect();
        let left: BTreeSet<&[u8]> = plan.left.iter().map(|missed| missed.path.as_bytes()).collect();
        let known: BTreeSet<&[u8]> = dir.touched.iter().map(|v| v.path.as_bytes()).collect();
        let item =
            |path: &TreePath, how: String| Item { root: dir.root, name: dir.name, path: path.clone(), how };
        for violation in &dir.touched {
            let how = dir.git_dir.map(|was| protection::how_words(ctx, was, violation));
            let item = item(&violation.path, how.unwrap_or_else(|| violation.how.to_string()));
            match violation.path.as_bytes() {
                path if left.contains(path) => {}
                path if aside.contains(path) => folder.put(&item)?,
                _ => folder.gone(&item),
            }
        }
        for path in plan.aside.iter().filter(|path| !known.contains(path.as_bytes())) {
            folder.put(&item(path, "occupied the path of a restored file".into()))?;
        }
    }
    let contents = contents(ctx, commits);
    for touched in commits {
        let content = contents.iter().find(|(known, _)| known == touched);
        folder.commit(touched, content.map(|(_, content)| content.as_slice()))?;
    }
    folder.close().map(drop)
}

/// Protected paths of the workspace that differ, without what a checkout made or removed.
fn not_checked_out(ctx: &StepContext, before: &Index, after: &Index) -> Vec<ralph_tree::Violation> {
    let checkouts = checked_out_before(&ctx.folder);
    let found = violations(before, after).into_iter();
    found.filter(|v| !checkouts.contains(v.path.as_bytes())).collect()
}

fn commits(ctx: &StepContext) -> Vec<Touched> {
    let list = std::fs::read(ctx.folder.join(COMMITS)).unwrap_or_default();
    serde_json::from_slice(&list).unwrap_or_default()
}

/// What still differs after the restore.
fn still(ctx: &StepContext, before: &Moment) -> Vec<String> {
    let after = ctx.walk();
    let files = not_checked_out(ctx, &before.files, &after);
    let mut still: Vec<String> = files.iter().map(|v| v.path.to_string()).collect();
    for was in &before.repositories.git_dirs {
        let is = was.again();
        let touched = is.changed_since(was).into_iter();
        let touched = touched.filter(|v| !is_ordinary(ctx, was, &is, v.path.as_bytes()));
        still.extend(touched.map(|v| format!("{}/{}", was.name, v.path)));
    }
    let now = before.repositories.again();
    still.extend(now.unread_since(&before.repositories));
    let hidden = protection::hidden(&before.repositories, &now, &after);
    still.extend(hidden.iter().map(|path| TreePath::from(path.as_slice()).to_string()));
    still
}

fn left_alone(ctx: &StepContext, paths: &[Violation], why: &str) -> Observation {
    let text = format!("ralph: protected paths could not be restored ({why}); nothing was changed");
    ctx.watchers.activity(&ralph_agents::Activity::Noise { text });
    let left = paths.iter().map(|v| v.path.clone()).collect();
    Seen::Restored(Restored { restored: Vec::new(), left, tree: ctx.index().id(), quarantine: None }).into()
}
