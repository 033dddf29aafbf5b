//! What it takes to bring a workspace back to a state of one of its runs: found out under the workspace's lock, applied
//! after what it replaces was saved. `ralph undo` and `ralph reject` do this.

use super::lock;
use crate::cli::{Here, runs};
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::open;
use ralph_engine::snapshots::{Snapshots, walk_without_drafts};
use ralph_rules::record::RunStarted;
use ralph_rules::state::State;
use ralph_snapshots::{
    PathProblem, PendingRestore, Restore, RestoreReport, RestoreRequest, recorded_paths, restore,
};
use ralph_store::RunRow;
use ralph_tree::{Entry, Index, Protect, Tree, TreePath, WorkspaceLock};
use ralph_view::workspace_diff::Moments;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A restore that has not begun.
pub struct UndoPlan {
    /// The run.
    pub row: RunRow,
    /// How the run began.
    pub start: Option<Box<RunStarted>>,
    /// Its snapshots.
    pub snapshots: Snapshots,
    /// The state to return to: after this iteration.
    pub to: u32,
    /// What will be done.
    pub restore: Restore,
    /// What was changed after the run, whether it is left alone or restored too.
    pub newer: Vec<TreePath>,
    /// The command that does it.
    pub what: &'static str,
    /// Files that are left alone although they look added or deleted, and why.
    pub left_out: Vec<(TreePath, &'static str)>,
    /// Nobody saw what the run did last: all that changed since counts as its work.
    pub cut_short: bool,
    workspace: PathBuf,
    left: Index,
    now: Index,
    pending: PendingRestore,
    _lock: WorkspaceLock,
}

impl UndoPlan {
    /// Plans to restore the state of `run` after iteration `to`.
    pub fn of(
        (run, to): (Option<&str>, u32),
        newer_too: bool,
        what: &'static str,
        here: &Here,
    ) -> Result<UndoPlan, Problem> {
        let home = here.home()?;
        let store = runs::store(&home)?;
        let row = runs::find(&store, run, here)?;
        let workspace = PathBuf::from(&row.workspace);
        let lock = lock(&home, &workspace, &format!("{what} of {}", row.id))?;
        let state = State::of(&runs::records(&store, &row.id)?);
        let tree = tree_of(&row, state.start.as_deref(), &home)?;
        let pending = PendingRestore::load(&home.pending_restore(&workspace));
        let snapshots = Snapshots::of(&home, &workspace, &row.id);
        snapshots.remove_leftovers(&home, &[]);
        let now = walk_without_drafts(&tree, Index::load(&home.index(&workspace)).as_ref())
            .map_err(|e| Problem::new(Code::Busy, "the workspace cannot be read").cause(&e))?;
        if let Some(why) = state.trees.no_snapshot.get(&to.saturating_add(1)) {
            return Err(not_taken(&snapshots, &row, to, why));
        }
        let target = snapshots.after(to).ok_or_else(|| no_moment(&snapshots, &row, to))?;
        let cut_short = snapshots.was_cut_short();
        let left = if cut_short { now.clone() } else { snapshots.last().unwrap_or_default() };
        let half = pending.half_restored(&workspace);
        let blobs = snapshots.store().blobs();
        // What a changed ignore rule hides or shows may be the user's own, and was not saved where it is hidden.
        let Moments { before, after, left_out, .. } = Moments::of(&workspace, target, now.clone(), blobs);
        let mut wanted = RestoreRequest {
            target: &before,
            left: &left,
            now: &after,
            newer_too: false,
            half: &half,
            recorded: &BTreeSet::new(),
        };
        // An earlier undo or rejection leaves the files as the run had them at another time.
        let mut newer = restore(wanted, blobs).newer;
        let recorded = recorded_paths(&newer, &after, snapshots.states());
        newer.retain(|path| !recorded.contains(path.as_bytes()));
        (wanted.recorded, wanted.newer_too) = (&recorded, newer_too);
        let restore = restore(wanted, blobs);
        let (start, _lock) = (state.start, lock);
        Ok(UndoPlan {
            row,
            start,
            snapshots,
            to,
            restore,
            newer,
            what,
            left_out,
            cut_short,
            workspace,
            left,
            now,
            pending,
            _lock,
        })
    }

    /// The workspace.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// There is nothing to do, so nothing is pending either.
    pub fn done(self) {
        self.pending.done();
    }

    /// What the run changed: the files before it, and as it left them.
    pub fn change(&self) -> Moments {
        let before = self.snapshots.after(0).unwrap_or_default();
        Moments::of(&self.workspace, before, self.left.clone(), self.snapshots.store().blobs())
    }

    /// What is at a path now.
    pub fn now(&self, path: &[u8]) -> Option<Entry<'_>> {
        self.now.get(path)
    }

    /// Saves what is replaced or removed before anything is written; between the two, `first` is done.
    pub fn apply<T>(
        mut self,
        first: impl FnOnce(&UndoPlan) -> Result<T, Problem>,
    ) -> Result<(T, RestoreReport), Problem> {
        self.save()?;
        let first = first(&self)?;
        let begun = self.restore.acts.iter().map(|act| (self.workspace.as_path(), act));
        self.pending.begin(begun).map_err(|e| unsafe_now(&e))?;
        let done = self
            .restore
            .apply(&self.workspace, self.snapshots.store().blobs())
            .map_err(|e| Problem::new(Code::Busy, "the workspace cannot be opened").cause(&e))?;
        if done.failed.is_empty() {
            self.pending.done();
        }
        Ok((first, done))
    }

    fn save(&self) -> Result<(), Problem> {
        let taken = match self.cut_short {
            // The state that is undone gets a snapshot: it can be returned to, and a repeated undo compares with it.
            true => self.snapshots.left(&Arc::new(self.now.clone())),
            false => self.snapshots.take_durably(&self.now),
        };
        let taken = taken.map_err(|e| unsafe_now(&e))?;
        let acts = &self.restore.acts;
        let is_lost = |missed: &&PathProblem| acts.iter().any(|act| *act.path() == missed.path);
        if let Some(first) = taken.missed.iter().find(is_lost) {
            let message = format!("{} cannot be saved ({}), so nothing was changed", first.path, first.why);
            return Err(Problem::new(Code::Busy, message).hint("move it away, then run the command again"));
        }
        Ok(())
    }
}

fn unsafe_now(error: &(dyn std::error::Error + 'static)) -> Problem {
    Problem::new(Code::Journal, "the current files could not be saved, so nothing was changed").cause(error)
}

/// The files of a run's workspace, as the run saw them.
pub fn tree_of(row: &RunRow, start: Option<&RunStarted>, home: &Home) -> Result<Tree, Problem> {
    let workspace = Path::new(&row.workspace);
    let tree = match start {
        Some(start) => open::tree_of(home, workspace, start),
        None => {
            let tree = Protect::new([""; 0]).map(|protect| Tree::new(workspace, protect));
            tree.map(|tree| tree.leaving_out_dir(home.within(workspace).as_ref()))
        }
    };
    tree.map_err(|e| Problem::new(Code::Journal, e.to_string()))
}

/// Nothing was saved at this point of the run.
pub fn not_taken(snapshots: &Snapshots, row: &RunRow, to: u32, why: &str) -> Problem {
    let message =
        format!("nothing was saved before iteration {} of run {}: {why}", to + 1, runs::short(&row.id));
    let others = snapshots.iterations().into_iter().filter_map(|n| n.checked_sub(1)).filter(|n| *n != to);
    let others: Vec<String> = others.map(|n| n.to_string()).collect();
    let problem = Problem::new(Code::Usage, message);
    match others.is_empty() {
        true => problem.hint("no other state of this run was saved either"),
        false => problem.hint(format!("--to accepts {}", others.join(", "))),
    }
}

fn no_moment(snapshots: &Snapshots, row: &RunRow, to: u32) -> Problem {
    let known = snapshots.iterations();
    let message = format!("run {} has no snapshot for iteration {to}", runs::short(&row.id));
    let problem = Problem::new(Code::Usage, message);
    match known.last() {
        Some(last) => problem.hint(format!("--to accepts 0 (before the run) to {last}")),
        None => problem.hint("it never called an agent, is older than this version, or was pruned"),
    }
}
