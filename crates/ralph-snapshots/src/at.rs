//! Opening things in a workspace that somebody else may be changing: relative to its root, beneath it, and never
//! through a symbolic link, not even in the middle of the path.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ralph_os::HELD;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

/// A workspace's root, held open.
#[derive(Debug)]
pub(crate) struct Root {
    held: OwnedFd,
    path: PathBuf,
}

impl Root {
    /// Opens it.
    pub fn open(path: &Path) -> io::Result<Root> {
        let flags = HELD | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Root { held: rustix::fs::openat(CWD, path, flags, Mode::empty())?, path: path.to_path_buf() })
    }

    /// Opens something beneath it.
    fn beneath(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        Ok(ralph_os::open_beneath(&self.held, path, flags)?)
    }

    /// A regular file, for reading.
    pub fn file(&self, path: &[u8]) -> io::Result<std::fs::File> {
        let fd = self.beneath(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let file = std::fs::File::from(fd);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Where a symbolic link points.
    pub fn link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        let (parent, name) = self.parent(path)?;
        Ok(rustix::fs::readlinkat(&parent, &name, Vec::new())?.into_bytes())
    }

    /// The directory a path lies in, and its name there.
    pub fn parent(&self, path: &[u8]) -> io::Result<(OwnedFd, std::ffi::OsString)> {
        let (parent, name) = split(path);
        let dir = self.beneath(parent, HELD | OFlags::DIRECTORY)?;
        Ok((dir, OsStr::from_bytes(name).to_owned()))
    }

    /// The same, with the directories on the way made where they are missing.
    pub fn make_parent(&self, path: &[u8]) -> io::Result<(OwnedFd, std::ffi::OsString)> {
        let (parent, _) = split(path);
        let ends = parent.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain((!parent.is_empty()).then_some(parent.len())) {
            let part = parent.get(..end).unwrap_or(parent);
            let (dir, name) = self.parent(part)?;
            match rustix::fs::mkdirat(&dir, &name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.parent(path)
    }

    /// A path for calls that know no open directories; it holds as long as the directory is held.
    pub fn here(&self, path: &[u8]) -> io::Result<(OwnedFd, PathBuf)> {
        let (dir, name) = self.parent(path)?;
        let here = ralph_os::path_in(&dir, &name, &self.path.join(OsStr::from_bytes(path)));
        Ok((dir, here))
    }

    /// Makes a directory, if it is not there.
    pub fn make(&self, path: &[u8], mode: u16) -> io::Result<()> {
        let (dir, name) = self.make_parent(path)?;
        let mode = if mode == 0 { 0o777 } else { mode };
        match rustix::fs::mkdirat(&dir, &name, Mode::from_raw_mode(u32::from(mode))) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes whatever is there, with all that lies in it; no link is followed.
    pub fn clear(&self, path: &[u8]) -> io::Result<()> {
        let (_dir, here) = self.here(path)?;
        match here.symlink_metadata() {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(here),
            Ok(_) => std::fs::remove_file(here),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What is at a path, without following a link; none where there is nothing, or no directory above it.
    pub fn look(&self, path: &[u8]) -> Option<std::fs::Metadata> {
        let (_dir, here) = self.here(path).ok()?;
        here.symlink_metadata().ok()
    }

    /// Lets the owner read a file and write into the directory it lies in, until it is closed again.
    pub fn open_up(&self, path: &[u8]) -> io::Result<Opened> {
        let (parent, _) = split(path);
        let dir = self.beneath(parent, HELD | OFlags::DIRECTORY)?;
        let mode = rustix::fs::fstat(&dir)?.st_mode & 0o7777;
        ralph_os::chmod_held(&dir, Mode::from_raw_mode(mode | 0o700))?;
        Ok(Opened { dir, mode })
    }

    /// Lets the owner read a file that is about to be replaced.
    pub fn let_read(&self, path: &[u8]) -> io::Result<()> {
        let file = self.beneath(path, HELD | OFlags::NOFOLLOW)?;
        let mode = rustix::fs::fstat(&file)?.st_mode & 0o7777;
        Ok(ralph_os::chmod_held(&file, Mode::from_raw_mode(mode | 0o400))?)
    }

    /// Removes a file, a link, or an empty directory. Something that is gone is removed.
    pub fn remove(&self, path: &[u8], directory: bool) -> io::Result<()> {
        let (dir, name) = match self.parent(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        let flags = if directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match rustix::fs::unlinkat(&dir, &name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// A directory that was opened for a moment.
pub(crate) struct Opened {
    dir: OwnedFd,
    mode: u32,
}

impl Opened {
    /// Gives it its permissions back.
    pub fn close(self) -> io::Result<()> {
        Ok(ralph_os::chmod_held(&self.dir, Mode::from_raw_mode(self.mode))?)
    }
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None => (b"", path),
    }
}

/// Opens a regular file beneath a root for reading; never through a link.
pub fn open_beneath(root: &Path, path: &[u8]) -> io::Result<std::fs::File> {
    Root::open(root)?.file(path)
}
