//! Hashes of installed files from earlier runs, by what a look at the file says, so that only the first run on a machine
//! reads them all.

use super::super::bytes::{Fields, Reader};
use ralph_tree::hash_bytes;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The last character is the version.
const MAGIC: &[u8; 8] = b"RLPDEPS1";
/// A file that changed so soon before it was read may change again without a later time; some file systems keep whole
/// seconds only.
const RACY_SECONDS: i64 = 2;

/// Content hashes by the hash of a path and a look at it.
#[derive(Debug, Default)]
pub(super) struct ContentCache(HashMap<u128, u128>);

impl ContentCache {
    /// The hashes in this file; none if there is no such file or it is damaged.
    pub(super) fn load(path: &Path) -> ContentCache {
        let read = |bytes: Vec<u8>| {
            let mut fields = Reader::new(&bytes, MAGIC)?;
            let mut known = HashMap::new();
            while !fields.is_empty() {
                known.insert(u128::from_le_bytes(fields.take()?), u128::from_le_bytes(fields.take()?));
            }
            Some(ContentCache(known))
        };
        fs::read(path).ok().and_then(read).unwrap_or_default()
    }

    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        let mut fields = Fields::new(MAGIC);
        for (key, hash) in &self.0 {
            fields.put(key.to_le_bytes());
            fields.put(hash.to_le_bytes());
        }
        fields.save(path)
    }

    pub(super) fn get(&self, key: u128) -> Option<u128> {
        self.0.get(&key).copied()
    }

    pub(super) fn insert(&mut self, key: u128, hash: u128) {
        self.0.insert(key, hash);
    }

    /// True if both know the same.
    pub(super) fn is_same(&self, other: &ContentCache) -> bool {
        self.0 == other.0
    }
}

/// What stands for a file and its state; none if the file is too fresh for its state to be trusted.
pub(super) fn key(path: &Path, meta: &Metadata) -> Option<u128> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if meta.ctime() > i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(RACY_SECONDS) {
        return None;
    }
    let mut bytes = path.as_os_str().as_bytes().to_vec();
    bytes.push(0);
    for number in [meta.dev(), meta.ino(), meta.len()] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for number in [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    Some(hash_bytes(&bytes))
}
