//! `.ralph/metrics/` of a workspace, written where an agent could have laid traps: no symbolic link is followed, no pipe
//! is opened, and `.ralph/` ignores itself before anything is put into it.

use ralph_os::HELD;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// The directory.
pub(super) struct Place(OwnedFd);

impl Place {
    /// The metrics of this workspace; made where they are not there.
    pub(super) fn metrics(workspace: &Path) -> io::Result<Place> {
        let root = openat(CWD, workspace, HELD | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let ralph = below(&root, ".ralph")?;
        let made = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&ralph, ".gitignore", made, Mode::from_raw_mode(0o644)) {
            Ok(file) => File::from(file).write_all(b"*\n")?,
            Err(Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
        Ok(Place(below(&ralph, "metrics")?))
    }

    /// A file's text; empty where there is none. What is too large or no file is refused.
    pub(super) fn read(&self, name: &str, most: u64) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => regular(file)?,
            Err(Errno::NOENT) => return Ok(String::new()),
            Err(e) => return Err(e.into()),
        };
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::other("it is too large"));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Appends to a file, in one write.
    pub(super) fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = openat(&self.0, name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o644))?;
        let mut file = regular(file)?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    /// Puts a file in its place as a whole: who reads it sees the old one or the new one.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = format!(".{name}.{}", std::process::id());
        let _ = unlinkat(&self.0, &new, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, &new, flags, Mode::from_raw_mode(0o644))?);
        let written = file.write_all(bytes).and_then(|()| file.sync_data());
        let placed = written.and_then(|()| Ok(renameat(&self.0, &new, &self.0, name)?));
        placed.inspect_err(|_| {
            let _ = unlinkat(&self.0, &new, AtFlags::empty());
        })
    }
}

/// A directory below another, made where it is not there.
fn below(dir: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match mkdirat(dir, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(e) => return Err(e.into()),
    }
    let flags = HELD | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(dir, name, flags, Mode::empty())?)
}

fn regular(file: OwnedFd) -> io::Result<File> {
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file.into()),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_is_followed_out_of_the_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let (work, other) = (dir.path().join("work"), dir.path().join("other"));
        std::fs::create_dir_all(work.join(".ralph")).unwrap();
        std::fs::create_dir(&other).unwrap();
        symlink(&other, work.join(".ralph/metrics")).unwrap();
        assert!(Place::metrics(&work).is_err());
        std::fs::remove_file(work.join(".ralph/metrics")).unwrap();
        let place = Place::metrics(&work).unwrap();
        symlink(other.join("stolen"), work.join(".ralph/metrics/a")).unwrap();
        assert!(place.append("a", b"x").is_err() && place.read("a", 9).is_err());
        place.replace("a", b"x").unwrap();
        assert_eq!(place.read("a", 9).unwrap(), "x", "the link was replaced, not followed");
        assert!(std::fs::read_dir(&other).unwrap().next().is_none());
    }
}
