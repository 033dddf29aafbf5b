//! Snapshots of a run: the workspace before each call, and as the run left it. Contents are in the workspace's snapshot
//! store, shared by all its runs; a run's folder holds the states, as differences. `ralph undo` reads them.

use crate::home::Home;
use ralph_snapshots::{
    MomentLog, RunMoments, SnapshotStore, TakeReport, prune, remove_drafts, remove_drafts_in_workspace,
    stands_for, stored_bytes,
};
use ralph_store::RunRow;
use ralph_tree::{Index, Tree, TreePath, WalkError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most bytes of one workspace's contents and indexes; the oldest snapshots are removed first.
const MOST: u64 = 2 << 30;
/// What is left of them then, so that not every run has to remove some.
const LEFT_OVER: u64 = MOST / 10 * 9;
/// The snapshot after the last iteration.
const LEFT: &str = "left";

/// The snapshots of one run.
#[derive(Debug)]
pub struct Snapshots {
    keep: SnapshotStore,
    log: MomentLog,
    workspace: PathBuf,
    moments: PathBuf,
    quarantine: PathBuf,
    /// The state directory, where it lies in the workspace: indexes of older versions have it.
    own_dir: Option<TreePath>,
}

impl Snapshots {
    /// The snapshots of this run in this workspace.
    pub fn of(home: &Home, workspace: &Path, run: &str) -> Snapshots {
        let (keep, moments) = (SnapshotStore::at(home.snapshots(workspace)), moments(&home.run(run)));
        Snapshots {
            log: MomentLog::at(&moments, keep.bases()),
            keep,
            workspace: workspace.to_owned(),
            moments,
            quarantine: home.quarantine().join(run),
            own_dir: home.within(workspace),
        }
    }

    /// The store of contents.
    pub fn store(&self) -> &SnapshotStore {
        &self.keep
    }

    /// The directory of this run's quarantined content.
    pub fn quarantine(&self) -> &Path {
        &self.quarantine
    }

    /// Takes a snapshot before an iteration's call, unless `stopped` says otherwise meanwhile; it is on disk when this
    /// returns. It is the iteration's only if nobody was `called` in it before: files that an earlier attempt changed are
    /// not those before it.
    pub fn before(
        &self,
        iteration: u32,
        called: bool,
        index: &Arc<Index>,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<TakeReport> {
        let name = format!("{iteration:03}");
        self.snapshot((!called).then_some(&name), index, stopped)
    }

    /// Takes a snapshot as the run leaves the workspace, to recognise what is changed later.
    pub fn left(&self, index: &Arc<Index>) -> io::Result<TakeReport> {
        let taken = self.snapshot(Some(LEFT), index, &|| false);
        self.keep.close();
        taken
    }

    /// Stores the contents durably, without a snapshot of their own: before something is replaced.
    pub fn take_durably(&self, index: &Index) -> io::Result<TakeReport> {
        let taken = self.keep.take_durably(&self.workspace, index);
        self.keep.close();
        if let Some((bytes, unprunable)) = self.keep.kept_bytes() {
            self.keep.set_kept_bytes(bytes, unprunable);
        }
        taken
    }

    /// Keeps a state under a name, without contents; it is on disk when this returns.
    pub fn record(&self, name: &str, index: &Arc<Index>) -> io::Result<()> {
        if self.log.ends_with(index, |there| stands_for(there, name)) {
            return Ok(());
        }
        let files = self.add(name, index)?;
        self.keep.sync(&files)
    }

    /// Contents and state, synced to disk together.
    fn snapshot(
        &self,
        name: Option<&str>,
        index: &Arc<Index>,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<TakeReport> {
        let taken = self.keep.take_unless(&self.workspace, index, stopped)?;
        let files = name.map(|name| self.add(name, index)).transpose()?;
        self.keep.sync(&files.unwrap_or_default())?;
        Ok(taken)
    }

    fn add(&self, name: &str, index: &Arc<Index>) -> io::Result<Vec<PathBuf>> {
        Home::create_private_dir(&self.moments)?;
        let added = self.log.add(name, index)?;
        self.keep.add_kept_bytes(added.bytes);
        Ok(added.files)
    }

    /// A state that this run kept under a name. `folder` is the run's.
    pub fn recorded(folder: &Path, name: &str) -> Option<Index> {
        let old = || Index::load(&folder.join(format!("{name}.tree")));
        MomentLog::load(&moments(folder), |there| stands_for(there, name)).or_else(old)
    }

    /// The workspace after an iteration; after the last one if there is no later snapshot.
    pub fn after(&self, iteration: u32) -> Option<Index> {
        let next = self.load(&format!("{:03}", iteration.checked_add(1)?));
        next.or_else(|| self.last().filter(|_| self.iterations().last() == Some(&iteration)))
    }

    /// The workspace as the run left it, if known.
    pub fn last(&self) -> Option<Index> {
        let newest = self.log.state(|name| name == LEFT || name.parse::<u32>().is_ok());
        let old = || Index::load(&self.old_path(LEFT));
        let last = newest.or_else(old).map(|index| index.without(self.own_dir.as_ref()));
        last.or_else(|| self.iterations().last().and_then(|n| self.load(&format!("{n:03}"))))
    }

    /// Every state that this run saved: before each iteration, and as it left the files.
    pub fn states(&self) -> impl Iterator<Item = Index> {
        let new = self.log.states(|name| name == LEFT || name.parse::<u32>().is_ok());
        let old = self.iterations().into_iter().map(|n| format!("{n:03}")).chain([LEFT.to_owned()]);
        let all = new.chain(old.filter_map(|name| Index::load(&self.old_path(&name))));
        all.map(|index| index.without(self.own_dir.as_ref()))
    }

    /// Whether no state was recorded since the snapshot before the last call: ralph was killed, or could not write.
    pub fn was_cut_short(&self) -> bool {
        let names = MomentLog::names(&self.moments);
        let newest = names.iter().rev().find(|name| *name == LEFT || name.parse::<u32>().is_ok());
        newest.is_some_and(|name| name != LEFT)
    }

    /// Iterations that started, in order.
    pub fn iterations(&self) -> Vec<u32> {
        let old = std::fs::read_dir(&self.moments).into_iter().flatten().flatten();
        let old = old.filter_map(|e| Some(e.file_name().to_str()?.strip_suffix(".tree")?.to_owned()));
        let names = MomentLog::names(&self.moments).into_iter().chain(old);
        let mut found: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// At the end of a run: removes the oldest snapshots if the size limit is exceeded. `runs` are those of this
    /// workspace, oldest first; they are looked at only if something must be removed or counted.
    pub fn keep_within_limit(&self, home: &Home, runs: impl FnOnce() -> Vec<RunRow>) -> io::Result<()> {
        if let Some((bytes, unprunable)) = self.keep.kept_bytes()
            && bytes <= MOST.max(unprunable.saturating_add(MOST - LEFT_OVER))
        {
            self.keep.set_kept_bytes(bytes, unprunable);
            return Ok(());
        }
        let runs: Vec<RunMoments> = runs().iter().map(|run| moments_of(home, run)).collect();
        match stored_bytes(&self.keep, &runs)? {
            bytes if bytes <= MOST => self.keep.set_kept_bytes(bytes, 0),
            _ => {
                let left = prune(&self.keep, &runs, LEFT_OVER)?.left;
                self.keep.set_kept_bytes(left, left);
            }
        }
        Ok(())
    }

    /// Removes what no snapshot of these runs (all that are left of this workspace, oldest first) refers to, and the
    /// oldest snapshots above the size limit. Returns the bytes of the contents that were removed.
    pub fn prune(&self, home: &Home, runs: &[&RunRow]) -> io::Result<u64> {
        let runs: Vec<RunMoments> = runs.iter().map(|run| moments_of(home, run)).collect();
        let pruned = prune(&self.keep, &runs, MOST)?;
        self.keep.set_kept_bytes(pruned.left, pruned.left);
        Ok(pruned.bytes)
    }

    /// Removes what a killed process left half written in this workspace's store and in the folders of these runs. The
    /// caller holds the workspace's lock.
    pub fn remove_leftovers(&self, home: &Home, runs: &[String]) {
        self.keep.remove_drafts();
        remove_drafts(&home.dir().join("trees"));
        for folder in runs.iter().map(|run| home.run(run)).chain(self.moments.parent().map(Path::to_owned)) {
            remove_drafts(&folder);
            remove_drafts(&moments(&folder));
            remove_drafts(&folder.join("before.git"));
            remove_drafts(&folder.join("seen.git"));
        }
    }

    fn load(&self, name: &str) -> Option<Index> {
        let new = self.log.state(|there| there == name);
        Some(new.or_else(|| Index::load(&self.old_path(name)))?.without(self.own_dir.as_ref()))
    }

    /// Where earlier versions kept a snapshot.
    fn old_path(&self, name: &str) -> PathBuf {
        self.moments.join(format!("{name}.tree"))
    }
}

/// Walks a workspace. Drafts that a killed process left in it are removed first; the caller holds the workspace's lock.
pub fn walk_without_drafts(tree: &Tree, earlier: Option<&Index>) -> Result<Index, WalkError> {
    let walked = tree.walk(earlier)?;
    match remove_drafts_in_workspace(tree.root(), &walked) {
        true => tree.walk(Some(&walked)),
        false => Ok(walked),
    }
}

fn moments_of(home: &Home, run: &RunRow) -> RunMoments {
    RunMoments { folder: moments(&home.run(&run.id)), resumable: run.resumable }
}

fn moments(folder: &Path) -> PathBuf {
    folder.join("trees")
}
