//! Removes contents that no moment names. Above a size limit the oldest moments are removed first. Folders are read one
//! after the other, newest first, and only what differs from the state before is looked at, so that neither memory nor
//! time grows with a whole index for every moment.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use ralph_tree::{Index, side_by_side};

use crate::bases::{self, path_in};
use crate::leftovers;
use crate::moment_log::{path, read, state};
use crate::moment_record::Record;
use crate::needed_moments::{RunMoments, keep_only, needed};
use crate::snapshot_store::{SnapshotStore, is_stored};

/// What was removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Moments that were removed, the oldest ones.
    pub moments: u32,
    /// Contents that no moment names any more.
    pub contents: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that remain, indexes included.
    pub left: u64,
}

/// Removes contents that no moment of `runs` (oldest first) names, and the oldest moments while more than `most` bytes
/// are stored, but never the newest, and nothing that a run needs to continue.
pub fn prune(store: &SnapshotStore, runs: &[RunMoments], most: u64) -> io::Result<Pruned> {
    let mut kept = Kept { most, ..Kept::default() };
    for run in runs.iter().rev() {
        kept.log(run)?;
        let mut files = old_indexes(&run.folder);
        files.sort_unstable();
        for file in files.into_iter().rev() {
            kept.old_index(&file)?;
        }
    }
    let Kept { named, index_bytes, removed, .. } = kept;
    let mut pruned = Pruned { moments: removed, ..Pruned::default() };
    let mut left = 0;
    each_content(store, |path, hash, size| {
        if named.contains(&hash) {
            left += size;
            return Ok(());
        }
        pruned.contents += 1;
        pruned.bytes += size;
        fs::remove_file(path)
    })?;
    if pruned.contents > 0 {
        store.forget_unless(|hash| named.contains(&hash));
    }
    pruned.left = left + index_bytes + store.bases().remove_unused()?;
    Ok(pruned)
}

/// Bytes of everything that is stored for a workspace with these runs.
pub fn stored_bytes(store: &SnapshotStore, runs: &[RunMoments]) -> io::Result<u64> {
    let mut contents = 0;
    each_content(store, |_, _, size| {
        contents += size;
        Ok(())
    })?;
    let indexes = runs.iter().flat_map(|run| old_indexes(&run.folder).into_iter().chain([path(&run.folder)]));
    Ok(contents + store.bases().remove_unused()? + indexes.map(|file| length(&file)).sum::<u64>())
}

type Sizes = HashMap<u128, u64, BuildHasherDefault<Folded>>;

/// Hashes are uniform already; one half of them is enough.
#[derive(Default)]
struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk().map_or(0, |half| u64::from_le_bytes(*half));
    }
}

/// What is kept so far, from the newest moment on.
#[derive(Default)]
struct Kept {
    most: u64,
    named: HashSet<u128, BuildHasherDefault<Folded>>,
    /// A state all of whose contents are among `named`.
    seen: Index,
    bytes: u64,
    /// Without the bases.
    index_bytes: u64,
    bases: BTreeSet<u128>,
    /// The base that was read last; neighbouring runs share it.
    base: Option<(u128, Index)>,
    removed: u32,
    /// The newest moment was looked at: it stays, however large.
    newest: bool,
    /// The limit was reached: everything older goes.
    full: bool,
}

impl Kept {
    /// An index of an earlier version.
    fn old_index(&mut self, file: &Path) -> io::Result<()> {
        if self.full {
            return self.remove(file, 1);
        }
        let Some(index) = Index::load_beside(file, &self.seen) else {
            self.skip(file);
            return Ok(());
        };
        let more = self.names(&index, &[]);
        if self.newest && !self.fits(&more, length(file)) {
            self.full = true;
            return self.remove(file, 1);
        }
        self.keep(more, length(file), 0);
        (self.seen, self.newest) = (index, true);
        Ok(())
    }

    /// The moments of a run: all of them, or only the latest ones and what it needs to continue.
    fn log(&mut self, run: &RunMoments) -> io::Result<()> {
        let (folder, file) = (&run.folder, path(&run.folder));
        let Some((id, records)) = read(folder)? else { return Ok(()) };
        let needed = if run.resumable { needed(&records) } else { BTreeSet::new() };
        let count = u32::try_from(records.len()).unwrap_or(u32::MAX);
        if self.full && needed.is_empty() {
            return self.remove_log(folder, id, count);
        }
        let base = if records.is_empty() { None } else { self.base(folder, id)? };
        let Some(base) = base else {
            self.skip(&file);
            return Ok(());
        };
        for last in &needed {
            let names = self.names(&state(&base, records.iter().take(last + 1).cloned()), &[]);
            self.keep(names, 0, 0);
        }
        let base_bytes = if self.bases.insert(id) { length(&path_in(folder, id)) } else { 0 };
        let first = self.first_that_fits(&base, &records, base_bytes + length(&file));
        let (before, after) = records.split_at((first + 1).min(records.len()));
        let kept: BTreeSet<usize> = needed.into_iter().chain(first..records.len()).collect();
        if kept.is_empty() {
            return self.remove_log(folder, id, count);
        }
        if first < records.len() {
            let state = state(&base, before.iter().cloned());
            self.keep(self.names(&state, after), 0, 0);
            (self.seen, self.newest) = (state, true);
        }
        if kept.len() < records.len() {
            self.removed += u32::try_from(records.len() - kept.len()).unwrap_or(u32::MAX);
            keep_only(folder, id, records, &kept)?;
        }
        self.keep(Sizes::default(), length(&file), base_bytes);
        Ok(())
    }

    /// From which record on there is room for the moments of a run; the number of records if there is room for none.
    fn first_that_fits(&mut self, base: &Index, records: &[Record], bytes: u64) -> usize {
        let fits = |first: usize| {
            let (before, after) = records.split_at((first + 1).min(records.len()));
            self.fits(&self.names(&state(base, before.iter().cloned()), after), bytes)
        };
        if self.full {
            return records.len();
        }
        if fits(0) {
            return 0;
        }
        // The more moments are kept, the more contents they name.
        let (mut low, mut high) = (1, records.len() - usize::from(!self.newest));
        while low < high {
            let middle = low.midpoint(high);
            if fits(middle) { high = middle } else { low = middle + 1 }
        }
        self.full = true;
        high
    }

    fn base(&mut self, folder: &Path, id: u128) -> io::Result<Option<Index>> {
        if self.base.as_ref().is_none_or(|(known, _)| *known != id) {
            self.base = bases::load(folder, id, &self.seen)?.map(|base| (id, base));
        }
        Ok(self.base.as_ref().map(|(_, base)| base.clone()))
    }

    /// The contents that a state and the records after it name and that are not known yet.
    fn names(&self, state: &Index, later: &[Record]) -> Sizes {
        let now = side_by_side(&self.seen, state).filter_map(|(_, entry)| entry);
        let later = later.iter().flat_map(|record| record.difference.changed());
        let all = now.chain(later).filter(is_stored).map(|entry| (entry.hash, entry.size));
        all.filter(|(hash, _)| !self.named.contains(hash)).collect()
    }

    fn fits(&self, more: &Sizes, index_bytes: u64) -> bool {
        let new: u64 = more.values().sum();
        self.bytes.saturating_add(new).saturating_add(index_bytes) <= self.most
    }

    fn keep(&mut self, more: Sizes, index_bytes: u64, base_bytes: u64) {
        self.bytes += more.values().sum::<u64>() + index_bytes + base_bytes;
        self.index_bytes += index_bytes;
        self.named.extend(more.into_keys());
    }

    /// What cannot be used names nothing, and says nothing about how much room is left for older moments.
    fn skip(&mut self, file: &Path) {
        self.keep(Sizes::default(), length(file), 0);
    }

    /// Removes the moments of a run with its link to their base, which would count as used for ever.
    fn remove_log(&mut self, folder: &Path, base: u128, moments: u32) -> io::Result<()> {
        self.remove(&path(folder), moments)?;
        self.remove(&path_in(folder, base), 0)
    }

    fn remove(&mut self, file: &Path, moments: u32) -> io::Result<()> {
        self.removed += moments;
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The indexes of a folder that an earlier version wrote, one file for each moment.
fn old_indexes(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "tree")).collect()
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |meta| meta.len())
}

/// Calls `each` with every content, its hash and its size. Drafts that nobody writes any more are removed.
fn each_content(
    store: &SnapshotStore,
    mut each: impl FnMut(&Path, u128, u64) -> io::Result<()>,
) -> io::Result<()> {
    for folder in fs::read_dir(store.blobs().dir()).into_iter().flatten().flatten() {
        leftovers::remove_drafts(&folder.path());
        for entry in fs::read_dir(folder.path())?.filter_map(Result::ok) {
            let name =
                format!("{}{}", folder.file_name().to_string_lossy(), entry.file_name().to_string_lossy());
            if let (Ok(hash), 32) = (u128::from_str_radix(&name, 16), name.len()) {
                each(&entry.path(), hash, entry.metadata()?.len())?;
            }
        }
    }
    Ok(())
}
