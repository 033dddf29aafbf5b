//! Reads all files of a dependency folder, with two threads.

use super::CACHES;
use super::content_cache::{ContentCache, key};
use ralph_os::{Links, open_regular};
use ralph_tree::{hash_bytes, hash_file};
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

const THREADS: usize = 2;

/// Files that package managers write for themselves, which differ between two equal installations.
const BOOKKEEPING: [&str; 9] = [
    ".package-lock.json",
    ".yarn-integrity",
    ".yarn-state.yml",
    ".modules.yaml",
    ".pnpm-workspace-state.json",
    ".pnpm-workspace-state-v1.json",
    "RECORD",
    "INSTALLER",
    "REQUESTED",
];

/// One installed file or link.
#[derive(Debug)]
pub(super) struct Installed {
    /// Relative to the dependency folder.
    pub(super) path: Vec<u8>,
    /// Of the content or the link's target, and of what kind it is.
    pub(super) hash: u128,
    /// What the content cache may know it by.
    pub(super) key: Option<u128>,
    /// The content's hash, for the cache.
    pub(super) content: u128,
}

/// Directories still to be read.
#[derive(Default)]
struct Queue {
    waiting: Vec<PathBuf>,
    /// Directories that a thread is reading, which may add more.
    busy: usize,
}

/// Every file below `root`, sorted by path. What cannot be read has the hash of its error.
pub(super) fn scan(root: &Path, cache: &ContentCache) -> Vec<Installed> {
    let queue = Mutex::new(Queue { waiting: vec![root.to_owned()], busy: 0 });
    let changed = Condvar::new();
    let mut found: Vec<Installed> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|_| scope.spawn(|| work(root, cache, &queue, &changed))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found
}

fn work(root: &Path, cache: &ContentCache, queue: &Mutex<Queue>, changed: &Condvar) -> Vec<Installed> {
    let mut found = Vec::new();
    while let Some(dir) = next(queue, changed) {
        let mut below = Vec::new();
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if is_left_out(&entry.file_name(), dir == root) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => below.push(entry.path()),
                Ok(kind) if kind.is_file() || kind.is_symlink() => found.extend(look_at(root, cache, &entry)),
                _ => {}
            }
        }
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting.append(&mut below);
        queue.busy = queue.busy.saturating_sub(1);
        changed.notify_all();
    }
    found
}

/// The next directory; none when all are read.
fn next(queue: &Mutex<Queue>, changed: &Condvar) -> Option<PathBuf> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(dir) = queue.waiting.pop() {
            queue.busy += 1;
            return Some(dir);
        }
        if queue.busy == 0 {
            return None;
        }
        queue = changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Bytecode in `__pycache__` is not used by a verification, which keeps its own elsewhere.
fn is_left_out(name: &OsStr, at_root: bool) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|one| name == *one);
    name == "__pycache__" || is_one_of(&BOOKKEEPING) || (at_root && is_one_of(&CACHES))
}

fn look_at(root: &Path, cache: &ContentCache, entry: &DirEntry) -> Option<Installed> {
    let at = entry.path();
    let path = at.strip_prefix(root).ok()?.as_os_str().as_bytes().to_vec();
    let meta = entry.metadata().ok()?;
    if meta.is_symlink() {
        let target = fs::read_link(&at).map(|target| target.as_os_str().as_bytes().to_vec());
        let content = target.map_or(0, |target| hash_bytes(&target));
        return Some(Installed { path, hash: of_kind(content, b'l'), key: None, content });
    }
    let key = key(&at, &meta);
    let known = key.and_then(|key| cache.get(key));
    let content =
        known.or_else(|| open_regular(&at, Links::RefuseLast).ok().and_then(|file| hash_file(file).ok()));
    let kind =
        if std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o100 != 0 { b'x' } else { b'f' };
    let content = content.unwrap_or_else(|| hash_bytes(b"it cannot be read"));
    Some(Installed { path, hash: of_kind(content, kind), key, content })
}

fn of_kind(content: u128, kind: u8) -> u128 {
    let mut bytes = content.to_le_bytes().to_vec();
    bytes.push(kind);
    hash_bytes(&bytes)
}
