//! The list of contents that are on disk for certain, so that the next process need not read each of them. It is written
//! after they were synced. A list that is missing or torn only costs time: every content is then read and compared.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const MAGIC: &[u8; 8] = b"RALPHSYN";
/// About so many contents are looked at by one process.
const LOOKED_AT: u64 = 16 * 1024;

/// Contents that were synced before a certain time.
#[derive(Debug, Default)]
pub(crate) struct SyncedList {
    /// When the list was written, in nanoseconds since 1970.
    at: i64,
    /// In order, each once.
    hashes: Vec<u128>,
}

impl SyncedList {
    /// Reads the list; empty if there is none that can be trusted.
    pub(crate) fn load(path: &Path) -> SyncedList {
        fs::read(path).ok().and_then(|bytes| SyncedList::from_bytes(&bytes)).unwrap_or_default()
    }

    fn from_bytes(bytes: &[u8]) -> Option<SyncedList> {
        let (body, check) = bytes.split_last_chunk::<32>()?;
        let rest = body.strip_prefix(MAGIC).filter(|_| blake3::hash(body).as_bytes() == check)?;
        let (at, rest) = rest.split_first_chunk::<8>()?;
        let (hashes, []) = rest.as_chunks::<16>() else { return None };
        let hashes: Vec<u128> = hashes.iter().map(|hash| u128::from_le_bytes(*hash)).collect();
        hashes.is_sorted().then_some(SyncedList { at: i64::from_le_bytes(*at), hashes })
    }

    /// A list of contents that are synced now.
    pub(crate) fn now(mut hashes: Vec<u128>) -> SyncedList {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        hashes.sort_unstable();
        hashes.dedup();
        SyncedList { at: i64::try_from(now).unwrap_or(i64::MAX), hashes }
    }

    /// Takes contents off the list that are not kept; true if some were on it.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(u128) -> bool) -> bool {
        let before = self.hashes.len();
        self.hashes.retain(|hash| is_kept(*hash));
        self.hashes.len() != before
    }

    /// Writes the list. It need not be forced to the disk itself.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.at.to_le_bytes());
        self.hashes.iter().for_each(|hash| out.extend_from_slice(&hash.to_le_bytes()));
        let check = blake3::hash(&out);
        out.extend_from_slice(check.as_bytes());
        let draft = path.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&draft, out).and_then(|()| fs::rename(&draft, path)).inspect_err(|_| {
            // The first error is the one to report.
            let _ = fs::remove_file(&draft);
        })
    }

    /// Whether the content was synced and need not be looked at now. Of many contents each process looks at another part,
    /// because the time would otherwise grow with every file of the workspace.
    pub(crate) fn vouches_for(&self, hash: u128) -> bool {
        let parts = self.hashes.len() as u64 / LOOKED_AT + 1;
        let part = u64::from_le_bytes(hash.to_le_bytes().first_chunk().copied().unwrap_or_default()) % parts;
        part != (self.at.unsigned_abs() >> 20) % parts && self.hashes.binary_search(&hash).is_ok()
    }

    /// Whether the content was synced and its file, which was `changed` last at this time, was not touched since.
    pub(crate) fn covers(&self, hash: u128, changed: i64) -> bool {
        self.hashes.binary_search(&hash).is_ok() && changed <= self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_back_and_a_torn_one_is_empty() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("synced");
        SyncedList::now(vec![2, u128::MAX, 1, 2]).save(&path).unwrap();
        let list = SyncedList::load(&path);
        assert_eq!(list.hashes, [1, 2, u128::MAX]);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            fs::write(&path, &whole[..at]).unwrap();
            assert!(SyncedList::load(&path).hashes.is_empty());
            let mut bad = whole.clone();
            bad[at] ^= 1;
            fs::write(&path, bad).unwrap();
            assert!(SyncedList::load(&path).hashes.is_empty());
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn few_contents_are_all_looked_at_and_of_many_a_part_that_changes() {
        let few = SyncedList { at: 0, hashes: (0..1000).collect() };
        assert!(!few.hashes.iter().any(|hash| few.vouches_for(*hash)));
        let many = |at: i64| SyncedList { at: at << 20, hashes: (0..100_000).collect() };
        let mut looked_at: Vec<u128> = Vec::new();
        for at in 0..7 {
            let list = many(at);
            let part: Vec<u128> =
                list.hashes.iter().copied().filter(|hash| !list.vouches_for(*hash)).collect();
            assert!(part.len() < 20_000, "{}", part.len());
            looked_at.extend(part);
        }
        looked_at.sort_unstable();
        assert_eq!(looked_at, many(0).hashes, "none is left out for good");
        assert!(!many(0).vouches_for(100_000));
    }

    #[test]
    fn a_file_that_was_touched_since_is_not_covered() {
        let list = SyncedList { at: 100, hashes: vec![7] };
        assert!(list.covers(7, 100) && !list.covers(7, 101) && !list.covers(8, 100));
    }
}
