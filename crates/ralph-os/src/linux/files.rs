//! Files: held without being opened, opened beneath a directory, looked at, listed and copied in the kernel.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, Statx, StatxFlags};
use rustix::io::Errno;

use crate::Stat;

/// Opens something only to name what is beneath it or to ask about it; takes no permission to read it.
pub const HELD: OFlags = OFlags::PATH;

const BUFFER: usize = 32 * 1024;

/// Opens a relative path beneath a directory, through no symbolic link and never above it.
pub fn open_beneath(root: impl AsFd, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let name = OsStr::from_bytes(if path.is_empty() { b"." } else { path });
    let open = || rustix::fs::openat2(&root, name, flags | OFlags::CLOEXEC, Mode::empty(), resolve);
    // The kernel asks to try again when a rename ran past it.
    let fd = (0..16).find_map(|_| match open() {
        Err(Errno::AGAIN | Errno::INTR) => None,
        other => Some(other),
    });
    match fd.unwrap_or(Err(Errno::AGAIN)) {
        // Kernels before 5.6, and sandboxes that imitate one, do not know the call.
        Err(Errno::NOSYS) => crate::portable::open_beneath(root, path, flags),
        other => other,
    }
}

/// The path of what is open, if it still has one.
pub fn path_of(held: impl AsFd) -> Option<PathBuf> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", held.as_fd().as_raw_fd())).ok()?;
    path.is_absolute().then_some(path)
}

/// Changes the permissions of what is held.
pub fn chmod_held(held: impl AsFd, mode: Mode) -> Result<(), Errno> {
    rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_fd().as_raw_fd()), mode)
}

/// Makes `to` a copy of `from` that shares its blocks, where the file system can.
pub fn share_blocks(to: impl AsFd, from: impl AsFd) -> Result<(), Errno> {
    rustix::fs::ioctl_ficlone(to, from)
}

/// Syncs files and directories of one file system to disk. More than a few are synced with all else that their file
/// system has in memory: that is one flush, where one per file would be hundreds.
pub fn sync_batch(paths: &[PathBuf]) -> io::Result<()> {
    /// Up to here, two flushes are cheaper than what others may have left to write.
    const FEW: usize = 2;
    match paths.first().filter(|_| paths.len() > FEW) {
        Some(first) if sync_file_system(first)? => Ok(()),
        _ => crate::portable::sync_batch(paths),
    }
}

/// Syncs everything that the file system of this directory has in memory; false where that does not work, so that files
/// must be synced one by one.
pub fn sync_file_system(dir: &Path) -> io::Result<bool> {
    if doubtful_file_system(dir).is_some() {
        return Ok(false);
    }
    rustix::fs::syncfs(File::open(dir)?)?;
    Ok(true)
}

/// A look at a name in a directory; a link is not followed.
pub fn stat_at(dir: BorrowedFd<'_>, name: &CStr) -> Result<Stat, Errno> {
    let seen = rustix::fs::statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?;
    Ok(Stat::from(&seen))
}

/// When a name in a directory was made, in nanoseconds since 1970; 0 where the file system does not tell.
pub fn born_at(dir: BorrowedFd<'_>, name: &CStr) -> Result<i64, Errno> {
    let seen = rustix::fs::statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME)?;
    let told = StatxFlags::from_bits_retain(seen.stx_mask).contains(StatxFlags::BTIME);
    let born = seen.stx_btime.tv_sec.saturating_mul(1_000_000_000);
    Ok(if told { born.saturating_add(i64::from(seen.stx_btime.tv_nsec)) } else { 0 })
}

/// A path to a name in an open directory that no rename and no link can redirect.
pub fn path_in(dir: impl AsFd, name: &OsStr, _otherwise: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", dir.as_fd().as_raw_fd())).join(name)
}

/// A look at what is open.
pub fn stat_open(fd: BorrowedFd<'_>) -> Result<Stat, Errno> {
    let seen = rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
    Ok(Stat::from(&seen))
}

impl From<&Statx> for Stat {
    fn from(seen: &Statx) -> Stat {
        let nanos = |sec: i64, nsec: u32| sec.saturating_mul(1_000_000_000).saturating_add(i64::from(nsec));
        Stat {
            kind: FileType::from_raw_mode(u32::from(seen.stx_mode)),
            mode: seen.stx_mode & 0o7777,
            ino: seen.stx_ino,
            size: seen.stx_size,
            mtime: nanos(seen.stx_mtime.tv_sec, seen.stx_mtime.tv_nsec),
            ctime: nanos(seen.stx_ctime.tv_sec, seen.stx_ctime.tv_nsec),
        }
    }
}

/// Device and inode: what identifies a file on this machine.
pub fn identity(fd: BorrowedFd<'_>) -> Result<(u64, u64), Errno> {
    rustix::fs::fstat(fd).map(|seen| (seen.st_dev, seen.st_ino))
}

/// Calls `each` with every name in a directory, `.` and `..` too, with its kind where the file system tells it;
/// `buffer` is scratch space that callers reuse.
pub fn each_name(
    dir: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&CStr, FileType),
) -> Result<(), Errno> {
    buffer.clear();
    buffer.reserve(BUFFER);
    let mut raw = RawDir::new(dir, buffer.spare_capacity_mut());
    while let Some(found) = raw.next() {
        match found {
            Ok(found) => each(found.file_name(), found.file_type()),
            // The directory was removed while it was read.
            Err(Errno::NOENT) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Makes an empty private file without a descriptor, because closing one would drop the locks of another handle in
/// this process.
pub fn make_empty(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0)?)
}

/// An error if nothing can be written in a directory. The file that is tried has no name: nobody who watches the
/// directory sees it, and it is gone when it is closed.
pub fn probe_writable(dir: &Path) -> io::Result<()> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match rustix::fs::openat(CWD, dir, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file).write_all(&[0; crate::PROBE]),
        // Not every file system has files without a name.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {
            crate::portable::probe_writable(dir)
        }
        Err(error) => Err(error.into()),
    }
}

/// The kind of file system, if its locks and shared memory cannot be trusted.
pub fn doubtful_file_system(dir: &Path) -> Option<&'static str> {
    rustix::fs::statfs(dir).ok().and_then(|seen| doubtful(seen.f_type.cast_unsigned()))
}

/// The doubtful ones by the magic number that `statfs` gives.
fn doubtful(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517b => "SMB",
        0xff53_4d42 => "CIFS",
        0xfe53_4d42 => "SMB2",
        0x6573_5546 => "FUSE",
        0x0102_1997 => "9p",
        0x00c3_6400 => "Ceph",
        0x5346_414f => "AFS",
        0x7375_7245 => "Coda",
        0x0bd0_0bd0 => "Lustre",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubtful_kinds_are_known_and_local_ones_are_not() {
        assert_eq!(doubtful(0x6969), Some("NFS"));
        assert_eq!(doubtful(0xff53_4d42), Some("CIFS"));
        assert_eq!(doubtful(0xef53), None, "ext4");
        assert_eq!(doubtful(0x0102_1994), None, "tmpfs");
    }
}
