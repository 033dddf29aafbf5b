//! How much room a disk has left, and why a file could not grow. The engine asks before every call, so that the last
//! records still fit.

use crate::error::StoreError;
use rustix::process::{Resource, getrlimit};
use std::fmt;
use std::io;
use std::path::Path;

/// Room on the file system that holds a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskFree {
    /// Bytes that an ordinary user may still write.
    pub free: u64,
    /// Size of the file system in bytes.
    pub size: u64,
    /// Files that may still be made, where the file system counts them.
    pub inodes: Option<u64>,
}

impl DiskFree {
    const GIB: u64 = 1 << 30;
    /// An iteration makes about ten files.
    const INODES: u64 = 64;

    /// Free part in percent, rounded down.
    pub fn percent(&self) -> u64 {
        let part = u128::from(self.free) * 100 / u128::from(self.size.max(1));
        u64::try_from(part).unwrap_or(100)
    }

    /// What is missing before a call: 2 % or 1 GiB must be free, whichever is smaller, and some inodes.
    pub fn lack(&self) -> Option<String> {
        if self.free < self.needed() {
            let (free, needed) = (shown_size(self.free), shown_size(self.needed()));
            return Some(format!("{free} free, {needed} needed"));
        }
        let inodes = self.inodes.filter(|inodes| *inodes < Self::INODES)?;
        Some(format!("{inodes} inodes free, {} needed", Self::INODES))
    }

    /// Bytes that must be free before a call.
    pub fn needed(&self) -> u64 {
        (self.size / 50).min(Self::GIB)
    }
}

/// A size as people read it: `812 B`, `3.4 MB`.
pub fn shown_size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} B"),
    }
}

/// Asks the file system that holds `path`.
pub fn disk_free(path: &Path) -> Result<DiskFree, StoreError> {
    let stat =
        rustix::fs::statvfs(path).map_err(|e| StoreError::file("ask for free space at", path, e.into()))?;
    let unit = stat.f_frsize.max(1);
    Ok(DiskFree {
        free: stat.f_bavail.saturating_mul(unit),
        size: stat.f_blocks.saturating_mul(unit),
        inodes: (stat.f_files > 0).then_some(stat.f_favail),
    })
}

/// Why a file could not be made or grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// The disk is full, or the user's share of it.
    Disk,
    /// The file system can hold no more files.
    Inodes,
    /// The process may not write larger files: `ulimit -f`, in bytes.
    FileSize(u64),
}

impl NoRoom {
    /// Whether an error means that there is no room.
    pub fn is(error: &io::Error) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
    }

    /// Why there is none for the file at `path`, after a write said so.
    pub(crate) fn at(path: &Path, too_large: bool) -> NoRoom {
        let place = path.ancestors().find(|place| place.exists()).unwrap_or(path);
        match file_size_limit() {
            Some(limit) if too_large => NoRoom::FileSize(limit),
            _ if rustix::fs::statvfs(place).is_ok_and(|stat| stat.f_files > 0 && stat.f_favail == 0) => {
                NoRoom::Inodes
            }
            _ => NoRoom::Disk,
        }
    }
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRoom::Disk => f.write_str("no room left on its disk. Free some space, then resume"),
            NoRoom::Inodes => f.write_str(
                "no inodes left on its file system. Delete files that are not needed, then resume",
            ),
            NoRoom::FileSize(bytes) => write!(
                f,
                "this process may not write files larger than {} KiB (ulimit -f). Raise that limit, then resume",
                bytes / 1024
            ),
        }
    }
}

/// How large a file this process may write, if that is limited.
pub(crate) fn file_size_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percent_or_one_gib_whichever_is_smaller() {
        let gib = DiskFree::GIB;
        let disk = |free, size| DiskFree { free, size, inodes: None };
        assert!(disk(gib, 1000 * gib).lack().is_none());
        assert!(disk(gib - 1, 1000 * gib).lack().is_some());
        assert!(disk(2, 100).lack().is_none());
        assert!(disk(1, 100).lack().is_some());
        assert_eq!(disk(1, 3).percent(), 33);
        assert_eq!(disk(0, 0).percent(), 0);
    }

    #[test]
    fn a_call_needs_inodes_where_they_are_counted() {
        let disk = |inodes| DiskFree { free: 100, size: 100, inodes };
        assert!(disk(None).lack().is_none());
        assert!(disk(Some(64)).lack().is_none());
        assert_eq!(disk(Some(3)).lack().unwrap(), "3 inodes free, 64 needed");
    }

    #[test]
    fn a_real_disk_answers_and_a_missing_path_is_an_error() {
        let room = disk_free(Path::new(".")).unwrap();
        assert!(room.size > 0 && room.free <= room.size);
        assert!(disk_free(Path::new("/no/such/place")).is_err());
    }
}
