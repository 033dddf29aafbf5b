//! Files, with nothing but POSIX.

use std::ffi::{CStr, OsStr};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, StatVfsMountFlags, openat};
use rustix::io::Errno;

use crate::Stat;

/// Opens something only to name what is beneath it; takes the permission to read it.
pub const HELD: OFlags = OFlags::RDONLY;

/// Opens a relative path beneath a directory, through no symbolic link and never above it: name by name, each in
/// the directory that was opened before.
pub fn open_beneath(root: impl AsFd, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b".")).peekable();
    if path.first() == Some(&b'/') || names.clone().any(|name| name == b"..") {
        return Err(Errno::XDEV);
    }
    let on_the_way = HELD | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = None;
    while let Some(name) = names.next() {
        let last = names.peek().is_none();
        let how = if last { flags | OFlags::NOFOLLOW | OFlags::CLOEXEC } else { on_the_way };
        let dir = at.as_ref().map_or(root.as_fd(), OwnedFd::as_fd);
        let next = openat(dir, OsStr::from_bytes(name), how, Mode::empty())?;
        at = Some(next);
    }
    match at {
        Some(found) => Ok(found),
        None => openat(root, c".", flags | OFlags::CLOEXEC, Mode::empty()),
    }
}

/// The path of what is open: not every system tells it.
pub fn path_of(_held: impl AsFd) -> Option<PathBuf> {
    None
}

/// Changes the permissions of what is held.
pub fn chmod_held(held: impl AsFd, mode: Mode) -> Result<(), Errno> {
    rustix::fs::fchmod(held, mode)
}

/// Makes no copy that shares blocks; the caller copies the bytes.
pub fn share_blocks(_to: impl AsFd, _from: impl AsFd) -> Result<(), Errno> {
    Err(Errno::NOTSUP)
}

/// Syncs files and directories to disk. All but the last are only handed to the drive; syncing the last one then empties
/// the drive's own cache, where the system makes that difference.
pub fn sync_batch(paths: &[PathBuf]) -> io::Result<()> {
    let Some((last, others)) = paths.split_last() else { return Ok(()) };
    for path in others {
        rustix::fs::fsync(File::open(path)?)?;
    }
    File::open(last)?.sync_all()
}

/// A file system cannot be synced as a whole.
pub fn sync_file_system(_dir: &Path) -> io::Result<bool> {
    Ok(false)
}

/// A look at a name in a directory; a link is not followed.
pub fn stat_at(dir: BorrowedFd<'_>, name: &CStr) -> Result<Stat, Errno> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|seen| Stat::from(&seen))
}

/// When a name was made is not told.
pub fn born_at(dir: BorrowedFd<'_>, name: &CStr) -> Result<i64, Errno> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|_| 0)
}

/// A name in an open directory, by its ordinary path.
pub fn path_in(_dir: impl AsFd, _name: &OsStr, otherwise: &Path) -> PathBuf {
    otherwise.to_path_buf()
}

/// A look at what is open.
pub fn stat_open(fd: BorrowedFd<'_>) -> Result<Stat, Errno> {
    rustix::fs::fstat(fd).map(|seen| Stat::from(&seen))
}

/// The widths of these numbers differ from system to system; none is cut in practice.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
#[allow(clippy::unnecessary_cast)]
impl From<&rustix::fs::Stat> for Stat {
    fn from(seen: &rustix::fs::Stat) -> Stat {
        let nanos = |sec: i64, nsec: i64| sec.saturating_mul(1_000_000_000).saturating_add(nsec);
        Stat {
            kind: FileType::from_raw_mode(seen.st_mode as _),
            mode: (seen.st_mode & 0o7777) as u16,
            ino: seen.st_ino as u64,
            size: seen.st_size as u64,
            mtime: nanos(seen.st_mtime as i64, seen.st_mtime_nsec as i64),
            ctime: nanos(seen.st_ctime as i64, seen.st_ctime_nsec as i64),
        }
    }
}

/// What tells one file from every other on this machine.
#[allow(clippy::cast_sign_loss, clippy::unnecessary_cast)]
pub fn identity(fd: BorrowedFd<'_>) -> Result<(u64, u64), Errno> {
    rustix::fs::fstat(fd).map(|seen| (seen.st_dev as u64, seen.st_ino as u64))
}

/// Makes an empty private file. The descriptor is of a file that nobody has open yet, so closing it drops no locks.
pub fn make_empty(path: &Path) -> io::Result<()> {
    OpenOptions::new().create_new(true).write(true).mode(0o600).open(path).map(drop)
}

/// An error if nothing can be written in a directory, by what the system says of it.
pub fn probe_writable(dir: &Path) -> io::Result<()> {
    let disk = rustix::fs::statvfs(dir)?;
    if disk.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(Errno::ROFS.into());
    }
    rustix::fs::access(dir, Access::WRITE_OK)?;
    // Root may use what is reserved.
    let blocks = if rustix::process::geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
    let full = blocks.saturating_mul(disk.f_frsize) < crate::PROBE as u64 && disk.f_blocks > 0;
    if full || (disk.f_files > 0 && disk.f_ffree == 0) { Err(Errno::NOSPC.into()) } else { Ok(()) }
}

/// Every file system is doubtful where its kind is not told.
pub fn doubtful_file_system(_dir: &Path) -> Option<&'static str> {
    Some("or a kind this system does not tell")
}

/// Not listed here.
pub fn bound_sockets() -> Vec<std::path::PathBuf> {
    Vec::new()
}
