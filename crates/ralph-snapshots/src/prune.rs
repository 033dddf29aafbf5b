//! Removes contents that no index names. Above a size limit the oldest indexes are removed first. Temporary files left by
//! a crash are removed too.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ralph_tree::Index;

use crate::snapshot_store::SnapshotStore;

/// A temporary file this old was left by a crash.
const OLD_DRAFT: Duration = Duration::from_secs(3600);

/// What was removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Indexes that were removed, oldest first.
    pub indexes: u32,
    /// Contents that no index names any more.
    pub contents: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that remain.
    pub left: u64,
}

/// Removes contents that `indexes` (oldest first) do not name, and the oldest indexes while more than `most` bytes are
/// stored, but never the newest.
pub fn prune(keep: &SnapshotStore, indexes: &[PathBuf], most: u64) -> io::Result<Pruned> {
    let mut pruned = Pruned::default();
    let contents = contents(keep)?;
    let sizes: HashMap<u128, u64> = contents.iter().map(|(_, hash, size)| (*hash, *size)).collect();
    let total: u64 = sizes.values().sum();
    let mut named: VecDeque<(&PathBuf, HashSet<u128>)> =
        indexes.iter().filter_map(|path| Some((path, names(&Index::load(path)?)))).collect();
    let mut uses: HashMap<u128, u32> = HashMap::new();
    for hash in named.iter().flat_map(|(_, names)| names) {
        *uses.entry(*hash).or_default() += 1;
    }
    let size = |hash: &u128| sizes.get(hash).copied().unwrap_or(0);
    let mut bytes: u64 = uses.keys().map(size).sum();
    while bytes > most && named.len() > 1 {
        let Some((path, names)) = named.pop_front() else { break };
        fs::remove_file(path)?;
        pruned.indexes += 1;
        for hash in &names {
            let left = uses.get(hash).map_or(0, |uses| uses - 1);
            uses.insert(*hash, left);
            bytes -= if left == 0 { size(hash) } else { 0 };
        }
    }
    for (path, hash, size) in &contents {
        if uses.get(hash).is_none_or(|uses| *uses == 0) {
            fs::remove_file(path)?;
            pruned.contents += 1;
            pruned.bytes += size;
        }
    }
    if pruned.contents > 0 {
        keep.forget_latest();
    }
    pruned.left = total - pruned.bytes;
    Ok(pruned)
}

fn names(index: &Index) -> HashSet<u128> {
    index.entries().map(|entry| entry.hash).collect()
}

/// Every content there is, with its hash and size.
fn contents(keep: &SnapshotStore) -> io::Result<Vec<(PathBuf, u128, u64)>> {
    let mut all = Vec::new();
    let top = match fs::read_dir(keep.blobs().dir()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(all),
        other => other?,
    };
    for folder in top.filter_map(Result::ok) {
        for entry in fs::read_dir(folder.path())?.filter_map(Result::ok) {
            let (path, meta) = (entry.path(), entry.metadata()?);
            let name =
                format!("{}{}", folder.file_name().to_string_lossy(), entry.file_name().to_string_lossy());
            match u128::from_str_radix(&name, 16) {
                Ok(hash) => all.push((path, hash, meta.len())),
                Err(_) if is_old(&meta) => fs::remove_file(path)?,
                Err(_) => {}
            }
        }
    }
    Ok(all)
}

fn is_old(meta: &fs::Metadata) -> bool {
    let age = meta.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    age.is_some_and(|age| age > OLD_DRAFT)
}
