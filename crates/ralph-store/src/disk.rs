//! How much room a disk has left. The engine asks before every call, so that the last records still fit.

use crate::error::StoreError;
use std::path::Path;

/// Room on the file system that holds a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskFree {
    /// Bytes that an ordinary user may still write.
    pub free: u64,
    /// Size of the file system in bytes.
    pub size: u64,
}

impl DiskFree {
    const GIB: u64 = 1 << 30;

    /// Free part in percent, rounded down.
    pub fn percent(&self) -> u64 {
        let part = u128::from(self.free) * 100 / u128::from(self.size.max(1));
        u64::try_from(part).unwrap_or(100)
    }

    /// The rule before a call: 2 % or 1 GiB must be free, whichever is smaller.
    pub fn enough(&self) -> bool {
        self.free >= self.needed()
    }

    /// Bytes that must be free before a call.
    pub fn needed(&self) -> u64 {
        (self.size / 50).min(Self::GIB)
    }
}

/// Asks the file system that holds `path`.
pub fn disk_free(path: &Path) -> Result<DiskFree, StoreError> {
    let stat =
        rustix::fs::statvfs(path).map_err(|e| StoreError::file("ask for free space at", path, e.into()))?;
    let unit = stat.f_frsize.max(1);
    Ok(DiskFree { free: stat.f_bavail.saturating_mul(unit), size: stat.f_blocks.saturating_mul(unit) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percent_or_one_gib_whichever_is_smaller() {
        let gib = DiskFree::GIB;
        assert!(DiskFree { free: gib, size: 1000 * gib }.enough());
        assert!(!DiskFree { free: gib - 1, size: 1000 * gib }.enough());
        assert!(DiskFree { free: 2, size: 100 }.enough());
        assert!(!DiskFree { free: 1, size: 100 }.enough());
        assert_eq!(DiskFree { free: 1, size: 3 }.percent(), 33);
        assert_eq!(DiskFree { free: 0, size: 0 }.percent(), 0);
    }

    #[test]
    fn a_real_disk_answers_and_a_missing_path_is_an_error() {
        let room = disk_free(Path::new(".")).unwrap();
        assert!(room.size > 0 && room.free <= room.size);
        assert!(disk_free(Path::new("/no/such/place")).is_err());
    }
}
