//! The snapshot store: keeps the contents that an index names. Only what differs from the last index is examined, so that
//! an unchanged workspace costs one comparison in memory.

use ralph_diagnostics::Discard;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ralph_os::NoFollowDir;
use ralph_tree::{Entry, Index, Kind, TreePath};

use crate::blobs::Blobs;

/// A larger file is not kept: it is data, not work, and would fill the disk.
const LARGEST: u64 = 64 << 20;
/// Limit for protected files, which must be restorable; above it the index does not hash the whole content.
const LARGEST_PROTECTED: u64 = 1 << 30;
/// The last index whose contents are all stored, so that the next process need not check each of them.
const LATEST: &str = "latest.tree";

/// The contents of one workspace.
#[derive(Debug)]
pub struct SnapshotStore {
    dir: PathBuf,
    blobs: Blobs,
    latest: Mutex<Option<Arc<Index>>>,
}

/// What [`SnapshotStore::take`] stored.
#[derive(Debug, Default)]
pub struct TakeReport {
    /// Contents that were new.
    pub contents: Vec<u128>,
    /// Their bytes.
    pub bytes: u64,
    /// What could not be stored.
    pub missed: Vec<PathProblem>,
    /// Something failed that may succeed another time.
    unsure: bool,
}

impl TakeReport {
    fn unsure(&mut self, entry: &Entry<'_>, why: &str) -> io::Result<()> {
        self.unsure = true;
        self.missed.push(missed(entry, why));
        Ok(())
    }
}

/// A path that could not be stored or restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathProblem {
    /// The path.
    pub path: TreePath,
    /// Why.
    pub why: String,
}

impl SnapshotStore {
    /// The store in this directory; each workspace has its own.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>) -> SnapshotStore {
        let dir = dir.into();
        SnapshotStore { blobs: Blobs::at(dir.join("contents")), dir, latest: Mutex::default() }
    }

    /// The contents.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Stores the contents that this index names and that are not stored yet. An error concerns the store itself (a full
    /// disk); files that cannot be read are listed in the report.
    pub fn take(&self, root: &Path, index: &Index) -> io::Result<TakeReport> {
        self.take_unless(root, index, &|| false)
    }

    /// The same, given up with `ErrorKind::Interrupted` as soon as `stopped` says so; it is asked before every content.
    pub fn take_unless(
        &self,
        root: &Path,
        index: &Index,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<TakeReport> {
        let taken = self.take_beside(root, index, &self.latest(), stopped)?;
        if !taken.unsure {
            self.remember(index);
        }
        Ok(taken)
    }

    /// The same for a directory outside the workspace, such as a repository's own: few files, checked each time.
    pub fn take_also(&self, root: &Path, index: &Index) -> io::Result<TakeReport> {
        self.take_beside(root, index, &Index::default(), &|| false)
    }

    fn take_beside(
        &self,
        root: &Path,
        index: &Index,
        latest: &Index,
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<TakeReport> {
        fs::create_dir_all(&self.dir)?;
        let root = NoFollowDir::open(root)?;
        let mut taken = TakeReport::default();
        let mut seen = BTreeSet::new();
        for entry in index.entries().filter(|entry| entry.matters() || entry.is_repository()) {
            if !matches!(entry.kind, Kind::File | Kind::Symlink) {
                continue;
            }
            if !is_kept(&entry) {
                taken.missed.push(missed(&entry, why_not(&entry)));
                continue;
            }
            let known =
                latest.get(entry.path).is_some_and(|old| old.kind == entry.kind && old.hash == entry.hash);
            if known || !seen.insert(entry.hash) || self.blobs.has(entry.hash) {
                continue;
            }
            if stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.one(&root, &entry, &mut taken)?;
        }
        Ok(taken)
    }

    /// The same, with new contents synced to disk: before something is replaced or removed. Contents stored before the
    /// call have long been written by the system.
    pub fn take_durably(&self, root: &Path, index: &Index) -> io::Result<TakeReport> {
        let taken = self.take(root, index)?;
        self.blobs.sync(&taken.contents)?;
        Ok(taken)
    }

    fn one(&self, root: &NoFollowDir, entry: &Entry<'_>, taken: &mut TakeReport) -> io::Result<()> {
        let took = match entry.kind {
            Kind::Symlink => match root.read_link(entry.path) {
                Ok(target) => self.blobs.take_bytes(&target)?,
                Err(error) => return taken.unsure(entry, &error.to_string()),
            },
            _ => match root.open_file(entry.path) {
                Ok(mut file) => self.blobs.take(&mut file, entry.hash)?,
                Err(error) => return taken.unsure(entry, &error.to_string()),
            },
        };
        if took != entry.hash {
            return taken.unsure(entry, "it changed while it was read");
        }
        taken.contents.push(entry.hash);
        taken.bytes += entry.size;
        Ok(())
    }

    /// The last index, stored by this process or an earlier one.
    fn latest(&self) -> Arc<Index> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            latest.get_or_insert_with(|| Arc::new(Index::load(&self.dir.join(LATEST)).unwrap_or_default())),
        )
    }

    fn remember(&self, index: &Index) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.as_ref().is_some_and(|latest| latest.same_contents(index)) {
            return;
        }
        // Without this file the next process checks every content, which is only slower.
        index.save(&self.dir.join(LATEST)).discard("save the latest index");
        *latest = Some(Arc::new(index.clone()));
    }

    /// Forgets which index was taken last: contents were removed.
    pub(crate) fn forget_latest(&self) {
        let _ = fs::remove_file(self.dir.join(LATEST));
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Whether an entry's content is one that is kept.
pub(crate) fn is_kept(entry: &Entry<'_>) -> bool {
    let largest = if entry.protected { LARGEST_PROTECTED } else { LARGEST };
    !entry.unreadable && entry.size <= largest
}

fn why_not(entry: &Entry<'_>) -> &'static str {
    match (entry.unreadable, entry.protected) {
        (true, _) => "it cannot be read",
        (_, true) => "it is larger than 1 GiB",
        _ => "it is larger than 64 MiB",
    }
}

fn missed(entry: &Entry<'_>, why: &str) -> PathProblem {
    PathProblem { path: entry.path.into(), why: why.to_owned() }
}
