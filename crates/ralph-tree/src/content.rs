//! Reading: hashes of contents, and small files whole, without ever blocking on what is not a file.
//!
//! Everything is opened without following links at the last step and without waiting for a fifo's other
//! end; memory is bounded by one buffer.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use crate::index::{Kind, short};

/// Above this size a file is told apart by its stat, its head and its tail: a sparse file of terabytes
/// takes a moment to make and hours to read.
const WHOLE: u64 = 1 << 30;
/// How much of the head and of the tail is read then.
const SAMPLE: u64 = 1 << 20;
/// A file may grow while it is read; it is not followed further than this.
const GROWTH: u64 = 16 << 20;
const BUFFER: usize = 128 * 1024;

/// What one stat says, in the index's own terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stat {
    pub kind: Kind,
    pub mode: u16,
    pub ino: u64,
    pub size: u64,
    pub mtime: i64,
    pub ctime: i64,
}

impl Stat {
    /// Of a name in a directory; a link is not followed.
    pub fn of(dir: BorrowedFd<'_>, name: &CStr) -> Result<Stat, Errno> {
        ralph_os::stat_at(dir, name).map(Stat::from)
    }

    /// Of a directory, with the moment it was made in the place of its last write: an inode may be used again. Zero
    /// where the file system does not tell.
    pub fn of_birth(dir: BorrowedFd<'_>, name: &CStr) -> Result<Stat, Errno> {
        let born = ralph_os::born_at(dir, name)?;
        Ok(Stat { mtime: born, ctime: 0, size: 0, ..Stat::of(dir, name)? })
    }

    /// Of what is open.
    pub fn of_open(fd: BorrowedFd<'_>) -> Result<Stat, Errno> {
        ralph_os::stat_open(fd).map(Stat::from)
    }
}

impl From<ralph_os::Stat> for Stat {
    fn from(seen: ralph_os::Stat) -> Stat {
        let ralph_os::Stat { kind, mode, ino, size, mtime, ctime } = seen;
        Stat { kind: kind_of(kind).unwrap_or(Kind::Special), mode, ino, size, mtime, ctime }
    }
}

/// The kind, unless the file system did not say.
pub(crate) fn kind_of(file_type: FileType) -> Option<Kind> {
    match file_type {
        FileType::RegularFile => Some(Kind::File),
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Symlink),
        FileType::Unknown => None,
        _ => Some(Kind::Special),
    }
}

/// Reads and hashes; keeps one buffer and counts what it did.
pub(crate) struct Reader {
    buffer: Vec<u8>,
    pub files: u64,
    pub bytes: u64,
}

impl Reader {
    pub fn new() -> Reader {
        Reader { buffer: Vec::new(), files: 0, bytes: 0 }
    }

    /// The content's hash, with the stat of the very file that was read. Fails with `LOOP` if the name is
    /// no regular file any more.
    pub fn file(&mut self, dir: BorrowedFd<'_>, name: &CStr) -> Result<(Stat, [u8; 16]), Errno> {
        self.open_file(&open_quietly(dir, name, OFlags::NOFOLLOW)?)
    }

    /// The same of a file that is open.
    fn open_file(&mut self, fd: &OwnedFd) -> Result<(Stat, [u8; 16]), Errno> {
        let stat = Stat::of_open(fd.as_fd())?;
        if stat.kind != Kind::File {
            return Err(Errno::LOOP);
        }
        self.buffer.resize(BUFFER, 0);
        self.files += 1;
        let mut hasher = blake3::Hasher::new();
        if stat.size <= WHOLE {
            self.feed(fd, 0, stat.size + GROWTH, &mut hasher)?;
        } else {
            for number in [stat.size, stat.mtime.cast_unsigned(), stat.ctime.cast_unsigned()] {
                hasher.update(&number.to_le_bytes());
            }
            self.feed(fd, 0, SAMPLE, &mut hasher)?;
            self.feed(fd, stat.size - SAMPLE, SAMPLE, &mut hasher)?;
        }
        Ok((stat, short(&hasher)))
    }

    fn feed(&mut self, fd: &OwnedFd, from: u64, most: u64, into: &mut blake3::Hasher) -> Result<(), Errno> {
        let mut done = 0;
        while done < most {
            let room = usize::try_from(most - done).unwrap_or(BUFFER).min(BUFFER);
            let buffer = self.buffer.get_mut(..room).unwrap_or_default();
            match rustix::io::pread(fd, &mut *buffer, from + done) {
                Ok(0) => break,
                Ok(count) => {
                    into.update(buffer.get(..count).unwrap_or_default());
                    done += count as u64;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes += done;
        Ok(())
    }

    /// The hash of where a link points.
    pub fn link(&mut self, dir: BorrowedFd<'_>, name: &CStr) -> Result<[u8; 16], Errno> {
        let target = readlinkat(dir, name, std::mem::take(&mut self.buffer))?;
        let hash = short(blake3::Hasher::new().update(target.as_bytes()));
        self.buffer = target.into_bytes();
        Ok(hash)
    }
}

/// The hash of an open file's content, as an index has it.
pub fn hash_file(file: File) -> std::io::Result<u128> {
    let (_, hash) = Reader::new().open_file(&file.into())?;
    Ok(u128::from_le_bytes(hash))
}

/// The hash of a few bytes, as an index has it.
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(short(blake3::Hasher::new().update(bytes)))
}

fn open_quietly(dir: BorrowedFd<'_>, name: impl rustix::path::Arg, more: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    openat(dir, name, flags, Mode::empty())
}

/// A small regular file in an open directory, up to `most` bytes of it; a link is not followed.
pub(crate) fn small_file_in(dir: BorrowedFd<'_>, name: &CStr, most: u64) -> Option<Vec<u8>> {
    read_small(open_quietly(dir, name, OFlags::NOFOLLOW).ok()?, most)
}

/// A small regular file by its path, up to `most` bytes of it.
pub(crate) fn small_file(path: &Path, most: u64) -> Option<Vec<u8>> {
    read_small(open_quietly(CWD, path, OFlags::empty()).ok()?, most)
}

/// Opens a regular file by its path, or nothing.
pub(crate) fn regular_file(path: &Path) -> Option<File> {
    let fd = open_quietly(CWD, path, OFlags::empty()).ok()?;
    (Stat::of_open(fd.as_fd()).ok()?.kind == Kind::File).then(|| File::from(fd))
}

fn read_small(fd: OwnedFd, most: u64) -> Option<Vec<u8>> {
    if Stat::of_open(fd.as_fd()).ok()?.kind != Kind::File {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(fd).take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
