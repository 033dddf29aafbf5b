//! Snapshots of a run: the workspace before each call, and as the run left it. Contents are in the workspace's snapshot
//! store, shared by all its runs; a run's folder holds one small index per snapshot. `ralph undo` reads them.

use crate::home::Home;
use ralph_snapshots::{SnapshotStore, TakeReport, prune};
use ralph_tree::{Index, TreePath};
use std::io;
use std::path::{Path, PathBuf};

/// Most bytes of one workspace's contents; the oldest snapshots are removed first.
const MOST: u64 = 2 << 30;
/// The snapshot after the last iteration.
const LEFT: &str = "left.tree";

/// The snapshots of one run.
#[derive(Debug)]
pub struct Snapshots {
    keep: SnapshotStore,
    workspace: PathBuf,
    moments: PathBuf,
    quarantine: PathBuf,
    /// The state directory, where it lies in the workspace: indexes of older versions have it.
    own_dir: Option<TreePath>,
}

impl Snapshots {
    /// The snapshots of this run in this workspace.
    pub fn of(home: &Home, workspace: &Path, run: &str) -> Snapshots {
        Snapshots {
            keep: SnapshotStore::at(home.snapshots(workspace)),
            workspace: workspace.to_owned(),
            moments: moments(home, run),
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

    /// Takes a snapshot before an iteration's call. A second attempt does not replace the first one's.
    pub fn before(&self, iteration: u32, index: &Index) -> io::Result<TakeReport> {
        let path = self.path(iteration);
        let taken = self.take(index)?;
        if !path.exists() {
            index.save(&path).map_err(|error| error.source)?;
        }
        Ok(taken)
    }

    /// Takes a snapshot as the run leaves the workspace, to recognise what is changed later.
    pub fn left(&self, index: &Index) -> io::Result<TakeReport> {
        let taken = self.take(index)?;
        index.save(&self.moments.join(LEFT)).map_err(|error| error.source)?;
        Ok(taken)
    }

    /// Stores the contents durably, without a snapshot of their own: before something is replaced.
    pub fn take_durably(&self, index: &Index) -> io::Result<TakeReport> {
        Home::create_private_dir(&self.moments)?;
        self.keep.take_durably(&self.workspace, index)
    }

    fn take(&self, index: &Index) -> io::Result<TakeReport> {
        Home::create_private_dir(&self.moments)?;
        self.keep.take(&self.workspace, index)
    }

    /// The workspace after an iteration; after the last one if there is no later snapshot.
    pub fn after(&self, iteration: u32) -> Option<Index> {
        let next = self.load(&self.path(iteration.checked_add(1)?));
        next.or_else(|| self.last().filter(|_| self.iterations().last() == Some(&iteration)))
    }

    /// The workspace as the run left it, if known.
    pub fn last(&self) -> Option<Index> {
        self.load(&self.moments.join(LEFT))
            .or_else(|| self.iterations().last().and_then(|n| self.load(&self.path(*n))))
    }

    fn load(&self, path: &Path) -> Option<Index> {
        Some(Index::load(path)?.without(self.own_dir.as_ref()))
    }

    /// Iterations that started, in order.
    pub fn iterations(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(&self.moments).into_iter().flatten().flatten();
        let number = |name: &str| name.strip_suffix(".tree")?.parse().ok();
        let mut found: Vec<u32> = entries.filter_map(|e| number(e.file_name().to_str()?)).collect();
        found.sort_unstable();
        found
    }

    /// Removes the oldest snapshots above the size limit. `runs` are those of this workspace, oldest first.
    pub fn prune(&self, home: &Home, runs: &[String]) -> io::Result<()> {
        let indexes = runs.iter().flat_map(|run| {
            let entries = std::fs::read_dir(moments(home, run)).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort_unstable();
            paths
        });
        prune(&self.keep, &indexes.collect::<Vec<_>>(), MOST).map(drop)
    }

    fn path(&self, iteration: u32) -> PathBuf {
        self.moments.join(format!("{iteration:03}.tree"))
    }
}

fn moments(home: &Home, run: &str) -> PathBuf {
    home.run(run).join("trees")
}
