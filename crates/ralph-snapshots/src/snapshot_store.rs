//! The snapshot store: keeps the contents that an index names. A content counts as stored if its file has the right size
//! and either a process that synced it says so ([`SyncedList`]) or it was read and compared. Anything else is written
//! again.

use ralph_diagnostics::Discard;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ralph_os::NoFollowDir;
use ralph_tree::{Entry, Index, Kind, TreePath, side_by_side};

use crate::bases::Bases;
use crate::blob_stats::BlobStats;
use crate::blobs::{Blobs, DRAFTS};
use crate::kept_bytes::KeptBytes;
use crate::leftovers::remove_drafts;
use crate::open_files::too_many_open;
use crate::synced_list::SyncedList;

/// A larger file is not kept: it is data, not work, and would fill the disk.
const LARGEST: u64 = 64 << 20;
/// Limit for protected files, which must be restorable; above it the index does not hash the whole content.
const LARGEST_PROTECTED: u64 = 1 << 30;
/// The contents that are on disk for certain.
const SYNCED: &str = "synced";
/// What earlier versions trusted in its place, although nothing was synced.
const UNSYNCED: &str = "latest.tree";
const BASES: &str = "bases";

/// The contents of one workspace.
#[derive(Debug)]
pub struct SnapshotStore {
    dir: PathBuf,
    blobs: Blobs,
    known: Mutex<Known>,
}

/// What this process knows about the contents.
#[derive(Debug, Default)]
struct Known {
    /// What an earlier process synced; read with the first snapshot.
    listed: Option<SyncedList>,
    /// The last index whose contents are all stored and synced. It shares its memory with those of later walks.
    latest: Index,
    /// Stored, but not synced yet.
    taken: Option<Index>,
    unsynced: Vec<u128>,
    /// Contents of other directories that are stored and synced.
    others: BTreeSet<u128>,
    bytes: KeptBytes,
}

/// What [`SnapshotStore::take`] stored.
#[derive(Debug, Default)]
pub struct TakeReport {
    /// How many contents were new or replaced a damaged one.
    pub contents: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of them replaced a damaged one.
    pub damaged: u64,
    /// What could not be stored, of what differs from the snapshot before.
    pub missed: Vec<PathProblem>,
    /// Something failed that may succeed another time.
    unsure: bool,
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
        SnapshotStore { blobs: Blobs::at(dir.join("contents")), dir, known: Mutex::default() }
    }

    /// The contents.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// The indexes that moments of this workspace's runs build on.
    #[must_use]
    pub fn bases(&self) -> Bases {
        Bases::at(self.dir.join(BASES))
    }

    /// Bytes of everything stored for this workspace, and how many the last pruning could not remove; none if that must
    /// be counted anew.
    #[must_use]
    pub fn kept_bytes(&self) -> Option<(u64, u64)> {
        self.known().bytes.total(&self.dir)
    }

    /// Remembers both.
    pub fn set_kept_bytes(&self, bytes: u64, unprunable: u64) {
        self.known().bytes.close(&self.dir, bytes, unprunable);
    }

    /// Counts bytes that were written for this workspace elsewhere.
    pub fn add_kept_bytes(&self, bytes: u64) {
        self.known().bytes.add(&self.dir, bytes);
    }

    /// Stores the contents that this index names and that are not stored yet. They are on disk after
    /// [`SnapshotStore::sync`]. An error concerns the store itself (a full disk); files that cannot be read are listed
    /// in the report.
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
        let mut known = self.known();
        let latest = known.latest.clone();
        let taken = self.take_beside(&mut known, root, (&latest, index), stopped)?;
        known.taken = (!taken.unsure).then(|| index.clone());
        Ok(taken)
    }

    /// The same, synced to disk.
    pub fn take_durably(&self, root: &Path, index: &Index) -> io::Result<TakeReport> {
        let taken = self.take(root, index)?;
        self.sync(&[])?;
        Ok(taken)
    }

    /// The same for a directory outside the workspace, such as a repository's own: few files, checked each time.
    pub fn take_also(&self, root: &Path, index: &Index) -> io::Result<TakeReport> {
        let taken = self.take_beside(&mut self.known(), root, (&Index::default(), index), &|| false)?;
        self.sync(&[])?;
        let missed: BTreeSet<&[u8]> = taken.missed.iter().map(|problem| problem.path.as_bytes()).collect();
        let stored = index.entries().filter(|entry| is_stored(entry) && !missed.contains(entry.path));
        self.known().others.extend(stored.map(|entry| entry.hash));
        Ok(taken)
    }

    fn take_beside(
        &self,
        known: &mut Known,
        root: &Path,
        (latest, index): (&Index, &Index),
        stopped: &dyn Fn() -> bool,
    ) -> io::Result<TakeReport> {
        fs::create_dir_all(&self.dir)?;
        let root = NoFollowDir::open(root)?;
        let (mut taken, mut stats) = (TakeReport::default(), BlobStats::new(&self.blobs));
        for (old, new) in side_by_side(latest, index) {
            let Some(entry) = new.filter(is_wanted) else { continue };
            let same = |old: Entry<'_>| is_wanted(&old) && old.kind == entry.kind && old.hash == entry.hash;
            if !is_kept(&entry) {
                taken.missed.push(missed(&entry, why_not(&entry)));
                continue;
            }
            if old.is_some_and(same) {
                continue;
            }
            // Before it is looked at: a content may have to be read.
            if stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let stored = self.stored(known, &mut stats, &entry)?;
            if stored == Stored::Whole {
                continue;
            }
            if self.one(&root, &entry, &mut stats, &mut taken)? {
                taken.damaged += u64::from(stored == Stored::Damaged);
                known.unsynced.push(entry.hash);
                known.bytes.add(&self.dir, entry.size);
            }
        }
        Ok(taken)
    }

    /// Syncs everything that was taken to disk, and other files of the same file system with it, in one batch.
    pub fn sync(&self, others: &[PathBuf]) -> io::Result<()> {
        let mut known = self.known();
        let (unsynced, taken) = (std::mem::take(&mut known.unsynced), known.taken.take());
        self.blobs.sync(&unsynced, others)?;
        known.latest = taken.unwrap_or_else(|| known.latest.clone());
        Ok(())
    }

    /// Leaves word of what is synced to the next process.
    pub fn close(&self) {
        let mut known = self.known();
        if known.latest.is_empty() {
            return;
        }
        let list =
            SyncedList::now(known.latest.entries().filter(is_stored).map(|entry| entry.hash).collect());
        // Without this list the next process reads every content, which is only slower.
        list.save(&self.dir.join(SYNCED)).discard("save the list of synced contents");
        known.listed = None;
        let _ = fs::remove_file(self.dir.join(UNSYNCED));
    }

    fn stored(&self, known: &mut Known, stats: &mut BlobStats<'_>, entry: &Entry<'_>) -> io::Result<Stored> {
        if known.others.contains(&entry.hash) {
            return Ok(Stored::Whole);
        }
        let listed = known.listed.get_or_insert_with(|| SyncedList::load(&self.dir.join(SYNCED)));
        if listed.vouches_for(entry.hash) {
            return Ok(Stored::Whole);
        }
        let Some(stat) = stats.of(entry.hash) else { return Ok(Stored::Not) };
        // The size of a link is not told by every file system.
        let right_size = stat.is_file && (entry.kind == Kind::Symlink || stat.size == entry.size);
        if right_size && listed.covers(entry.hash, stat.changed) {
            return Ok(Stored::Whole);
        }
        let mut whole = || match self.blobs.is_whole(entry.hash) {
            Err(error) if too_many_open(&error) => {
                stats.close();
                self.blobs.is_whole(entry.hash)
            }
            other => other,
        };
        if right_size && whole()? {
            known.unsynced.push(entry.hash);
            return Ok(Stored::Whole);
        }
        tracing::warn!(content = %self.blobs.path(entry.hash).display(), "a saved content is damaged");
        Ok(Stored::Damaged)
    }

    /// Stores one content; false if the file is not as the index says.
    fn one(
        &self,
        root: &NoFollowDir,
        entry: &Entry<'_>,
        stats: &mut BlobStats<'_>,
        taken: &mut TakeReport,
    ) -> io::Result<bool> {
        let take = || match entry.kind {
            Kind::Symlink => root.read_link(entry.path).map(|target| self.blobs.take_bytes(&target)),
            _ => root.open_file(entry.path).map(|mut file| self.blobs.take(&mut file)),
        };
        let mut took = take();
        if let Err(error) | Ok(Err(error)) = &took
            && too_many_open(error)
        {
            stats.close();
            took = take();
        }
        let why = match took.map(|took| took.map(|hash| hash == entry.hash)) {
            Err(error) => error.to_string(),
            Ok(Err(error)) => return Err(error),
            Ok(Ok(false)) => "it changed while it was read".into(),
            Ok(Ok(true)) => {
                taken.contents += 1;
                taken.bytes += entry.size;
                return Ok(true);
            }
        };
        taken.unsure = true;
        taken.missed.push(missed(entry, &why));
        Ok(false)
    }

    /// Forgets contents that were removed.
    pub(crate) fn forget_unless(&self, is_kept: impl Fn(u128) -> bool) {
        let mut known = self.known();
        (known.latest, known.taken, known.listed) = (Index::default(), None, None);
        known.others.retain(|hash| is_kept(*hash));
        let path = self.dir.join(SYNCED);
        let mut listed = SyncedList::load(&path);
        if listed.retain(is_kept) {
            listed.save(&path).discard("save the list of synced contents");
        }
    }

    /// Removes what killed processes left half written. The caller holds the workspace's lock.
    pub fn remove_drafts(&self) {
        for dir in [self.dir.clone(), self.blobs.dir().join(DRAFTS), self.dir.join(BASES)] {
            remove_drafts(&dir);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What there is of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Whole,
    Damaged,
    Not,
}

/// A file or link whose content a snapshot has.
fn is_wanted(entry: &Entry<'_>) -> bool {
    (entry.matters() || entry.is_repository()) && matches!(entry.kind, Kind::File | Kind::Symlink)
}

/// The same, and not too large or unreadable.
pub(crate) fn is_stored(entry: &Entry<'_>) -> bool {
    is_wanted(entry) && is_kept(entry)
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
