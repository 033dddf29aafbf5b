//! Reading a file that somebody else may have replaced: a FIFO would block for ever, a device would never end, a link may
//! lead anywhere. What is read is a regular file, opened without blocking, up to a bound; everything else is an error that
//! says what is there.

use std::fmt;
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::{NoFollowDir, open_beneath};

/// Which symbolic links may be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// All: the user's own files, which may be kept elsewhere.
    Follow,
    /// Those to directories on the way, but not the last name.
    RefuseLast,
    /// None, not even in the middle of the path, which is absolute: the agent may have put one there.
    Refuse,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// It is not a regular file but this, such as `a FIFO`.
    IsA(&'static str),
    /// It is a link to this place, or lies behind one.
    IsLink(PathBuf),
    /// It has more bytes than this.
    LargerThan(u64),
    /// What the system said; `NotFound` if there is nothing.
    System(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::IsA(what) => write!(f, "it is {what}, not a regular file"),
            ReadError::IsLink(target) => write!(f, "it is a link to {}", target.display()),
            ReadError::LargerThan(most) if most % (1 << 20) == 0 => {
                write!(f, "it is larger than {} MiB", most >> 20)
            }
            ReadError::LargerThan(most) => write!(f, "it is larger than {} KiB", most >> 10),
            ReadError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::System(error)
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> io::Error {
        match error {
            ReadError::System(error) => error,
            other => io::Error::other(other),
        }
    }
}

/// Opens a regular file for reading, without waiting for anything.
pub fn open_regular(path: &Path, links: Links) -> Result<File, ReadError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match links {
        Links::Follow => {
            // A link may lead to a device, which may do something when it is opened, so it is looked at first.
            is_regular(path.metadata()?.file_type())?;
            rustix::fs::openat(CWD, path, flags, Mode::empty())
        }
        Links::RefuseLast => rustix::fs::openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty()),
        Links::Refuse => {
            let below = path.strip_prefix("/").map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
            open_beneath(&NoFollowDir::open(Path::new("/"))?, below.as_os_str().as_bytes(), flags)
        }
    };
    let file: File = match opened {
        Ok(file) => file.into(),
        Err(Errno::NXIO) => return Err(ReadError::IsA("a socket")),
        // Some systems have other words for a link that must not be followed.
        Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) if links != Links::Follow => {
            return Err(first_link(path).map_or(ReadError::System(Errno::NOTDIR.into()), ReadError::IsLink));
        }
        Err(error) => return Err(ReadError::System(error.into())),
    };
    is_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// The whole of a regular file that has at most this many bytes.
pub fn read_regular(path: &Path, most: u64, links: Links) -> Result<Vec<u8>, ReadError> {
    let bytes = start_of(open_regular(path, links)?, most + 1)?;
    match bytes.len() as u64 > most {
        true => Err(ReadError::LargerThan(most)),
        false => Ok(bytes),
    }
}

/// The beginning of a regular file, up to this many bytes.
pub fn read_start(path: &Path, most: u64, links: Links) -> Result<Vec<u8>, ReadError> {
    Ok(start_of(open_regular(path, links)?, most)?)
}

fn start_of(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_regular(kind: FileType) -> Result<(), ReadError> {
    match what_it_is(kind) {
        Some(what) => Err(ReadError::IsA(what)),
        None => Ok(()),
    }
}

/// What it is in words, unless it is a regular file.
#[must_use]
pub fn what_it_is(kind: FileType) -> Option<&'static str> {
    Some(match kind {
        _ if kind.is_file() => return None,
        _ if kind.is_dir() => "a directory",
        _ if kind.is_symlink() => "a link",
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    })
}

/// Where the first link on the way leads.
fn first_link(path: &Path) -> Option<PathBuf> {
    let mut parts: Vec<&Path> = path.ancestors().collect();
    parts.reverse();
    parts.into_iter().find_map(|part| part.read_link().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_a_regular_file_of_bounded_size_is_read_and_nothing_blocks() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        fs::write(at("file"), "0123456789").unwrap();
        rustix::fs::mkfifoat(CWD, at("fifo"), Mode::RUSR | Mode::WUSR).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("dir")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        symlink(at("fifo"), at("to-fifo")).unwrap();
        symlink(at("file"), at("to-file")).unwrap();
        symlink(&root, at("back")).unwrap();
        let said = |name: &str, most, links| {
            read_regular(&at(name), most, links).map(|bytes| bytes.len()).map_err(|error| error.to_string())
        };
        let refused = |text: &str| Err(text.to_owned());
        for (name, followed, as_it_is) in [
            ("file", Ok(10), Ok(10)),
            (
                "fifo",
                refused("it is a FIFO, not a regular file"),
                refused("it is a FIFO, not a regular file"),
            ),
            (
                "socket",
                refused("it is a socket, not a regular file"),
                refused("it is a socket, not a regular file"),
            ),
            (
                "dir",
                refused("it is a directory, not a regular file"),
                refused("it is a directory, not a regular file"),
            ),
            ("zero", refused("it is a device, not a regular file"), refused("it is a link to /dev/zero")),
            (
                "to-fifo",
                refused("it is a FIFO, not a regular file"),
                refused(&format!("it is a link to {}", at("fifo").display())),
            ),
            ("to-file", Ok(10), refused(&format!("it is a link to {}", at("file").display()))),
            ("back/file", Ok(10), refused(&format!("it is a link to {}", root.display()))),
        ] {
            assert_eq!(said(name, 10, Links::Follow), followed, "{name}");
            assert_eq!(said(name, 10, Links::Refuse), as_it_is, "{name}");
        }
        assert_eq!(said("file", 9, Links::Follow), refused("it is larger than 0 KiB"));
        assert_eq!(read_start(&at("file"), 4, Links::Refuse).unwrap(), b"0123");
        assert_eq!(said("back/file", 10, Links::RefuseLast), Ok(10));
        assert_eq!(said("zero", 10, Links::RefuseLast), refused("it is a link to /dev/zero"));
        let missing: io::Error = open_regular(&at("none"), Links::Refuse).unwrap_err().into();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn sizes_are_said_as_people_say_them() {
        assert_eq!(ReadError::LargerThan(1 << 20).to_string(), "it is larger than 1 MiB");
        assert_eq!(ReadError::LargerThan(64 << 10).to_string(), "it is larger than 64 KiB");
    }
}
