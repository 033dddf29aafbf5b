//! The safety net: the workspace as it was before each call, and as the run left it. The contents lie in the
//! workspace's keep, shared by all its runs; a run's folder holds one small index for each moment. Only `ralph undo`
//! reads them.

use crate::home::Home;
use ralph_snapshots::{SnapshotStore, TakeReport, prune};
use ralph_tree::Index;
use std::io;
use std::path::{Path, PathBuf};

/// What the contents of one workspace may take; the oldest moments are given up first.
const MOST: u64 = 2 << 30;
/// The moment after the last iteration.
const LEFT: &str = "left.tree";

/// The moments of one run.
#[derive(Debug)]
pub struct Snapshots {
    keep: SnapshotStore,
    workspace: PathBuf,
    moments: PathBuf,
    quarantine: PathBuf,
}

impl Snapshots {
    /// Of this run in this workspace.
    pub fn of(home: &Home, workspace: &Path, run: &str) -> Snapshots {
        Snapshots {
            keep: SnapshotStore::at(home.snapshots(workspace)),
            workspace: workspace.to_owned(),
            moments: moments(home, run),
            quarantine: home.quarantine().join(run),
        }
    }

    /// Where the contents lie.
    pub fn store(&self) -> &SnapshotStore {
        &self.keep
    }

    /// Where this run's offending contents go.
    pub fn quarantine(&self) -> &Path {
        &self.quarantine
    }

    /// Puts the workspace aside before an iteration's call. A second attempt does not replace the first's.
    pub fn before(&self, iteration: u32, index: &Index) -> io::Result<TakeReport> {
        let path = self.path(iteration);
        let taken = self.take(index)?;
        if !path.exists() {
            index.save(&path).map_err(|error| error.source)?;
        }
        Ok(taken)
    }

    /// Puts it aside as the run leaves it, to be told from what somebody changes later.
    pub fn left(&self, index: &Index) -> io::Result<TakeReport> {
        let taken = self.take(index)?;
        index.save(&self.moments.join(LEFT)).map_err(|error| error.source)?;
        Ok(taken)
    }

    /// Puts it aside without a moment, durably: before something is replaced.
    pub fn take_durably(&self, index: &Index) -> io::Result<TakeReport> {
        Home::create_private_dir(&self.moments)?;
        self.keep.take_durably(&self.workspace, index)
    }

    fn take(&self, index: &Index) -> io::Result<TakeReport> {
        Home::create_private_dir(&self.moments)?;
        self.keep.take(&self.workspace, index)
    }

    /// The workspace after this iteration; after the last one where there is no later moment.
    pub fn after(&self, iteration: u32) -> Option<Index> {
        let next = Index::load(&self.path(iteration.checked_add(1)?));
        next.or_else(|| self.last().filter(|_| self.iterations().last() == Some(&iteration)))
    }

    /// The workspace as the run left it, as far as that is known.
    pub fn last(&self) -> Option<Index> {
        Index::load(&self.moments.join(LEFT))
            .or_else(|| self.iterations().last().and_then(|n| Index::load(&self.path(*n))))
    }

    /// Iterations that began, in order.
    pub fn iterations(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(&self.moments).into_iter().flatten().flatten();
        let number = |name: &str| name.strip_suffix(".tree")?.parse().ok();
        let mut found: Vec<u32> = entries.filter_map(|e| number(e.file_name().to_str()?)).collect();
        found.sort_unstable();
        found
    }

    /// Keeps the keep small. `runs` are those of this workspace, oldest first.
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
