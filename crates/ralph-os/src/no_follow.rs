//! Reading and writing in a directory that somebody else may be changing: always relative to it, beneath it, and never
//! through a symbolic link, not even in the middle of a path. A file is replaced as a whole: whoever reads it sees the
//! old content or the new one.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawMode};
use rustix::io::Errno;

use crate::{HELD, ReadError, chmod_held, open_beneath, path_in, what_it_is};

/// A directory that is held open, so that it cannot be exchanged for another one meanwhile.
#[derive(Debug)]
pub struct NoFollowDir {
    held: OwnedFd,
    path: PathBuf,
}

/// The name under which a file is written before it takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draft {
    /// A new name each time, so that several writers do not disturb each other.
    Unique,
    /// The same name for the same number: what a crash left is replaced when the write is repeated.
    Named(u128),
}

impl NoFollowDir {
    /// Opens a directory.
    pub fn open(path: &Path) -> io::Result<NoFollowDir> {
        let flags = HELD | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let held = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        Ok(NoFollowDir { held, path: path.to_path_buf() })
    }

    fn beneath(&self, path: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        Ok(open_beneath(&self.held, path, flags)?)
    }

    /// Opens a regular file for reading. A pipe or a device is refused without being opened for good.
    pub fn open_file(&self, path: &[u8]) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        match open_beneath(&self.held, path, flags) {
            Ok(file) => regular(file.into()),
            Err(Errno::NXIO) => Err(ReadError::IsA("a socket").into()),
            Err(Errno::LOOP) => match self.read_link(path) {
                Ok(target) => Err(ReadError::IsLink(OsString::from_vec(target).into()).into()),
                Err(_) => Err(Errno::LOOP.into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// Where a symbolic link points.
    pub fn read_link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        let (parent, name) = self.parent(path)?;
        Ok(rustix::fs::readlinkat(&parent, &name, Vec::new())?.into_bytes())
    }

    /// What is at a path, without following a link; `None` if there is nothing, or no directory above it.
    pub fn metadata(&self, path: &[u8]) -> Option<Metadata> {
        let (_dir, here) = self.resolved(path).ok()?;
        here.symlink_metadata().ok()
    }

    /// A path for calls that do not take open directories; valid as long as the returned directory is held.
    pub fn resolved(&self, path: &[u8]) -> io::Result<(OwnedFd, PathBuf)> {
        let (dir, name) = self.parent(path)?;
        let here = path_in(&dir, &name, &self.path.join(OsStr::from_bytes(path)));
        Ok((dir, here))
    }

    /// Replaces a file as a whole. `fill` writes the new one, which starts with the permissions `mode`, and syncs it
    /// if it must survive a power failure.
    pub fn replace_file(
        &self,
        path: &[u8],
        draft: Draft,
        mode: u16,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        self.draft_file(path, draft, mode, fill)?.place()
    }

    /// Writes the draft of a file, which takes its place later: so that many can be synced together before that.
    pub fn draft_file(
        &self,
        path: &[u8],
        draft: Draft,
        mode: u16,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<DraftFile> {
        let (dir, name) = self.make_parent(path)?;
        let draft = draft.name();
        // Readable, so that `fill` can check what it wrote.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        discard(&dir, &draft)?;
        let mut file = File::from(rustix::fs::openat(&dir, &draft, flags, mode_of(mode))?);
        match fill(&mut file) {
            Ok(()) => Ok(DraftFile { file, dir, draft, name }),
            Err(error) => {
                // The first error is the one to report.
                let _ = discard(&dir, &draft);
                Err(error)
            }
        }
    }

    /// Moves a file or link to another path, in the place of whatever file or link is there.
    pub fn rename(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        let (old_dir, old_name) = self.parent(from)?;
        let (dir, name) = self.make_parent(to)?;
        Ok(rustix::fs::renameat(&old_dir, &old_name, &dir, &name)?)
    }

    /// Replaces whatever file or link is at a path by a link.
    pub fn replace_link(&self, path: &[u8], draft: Draft, target: &[u8]) -> io::Result<()> {
        let (dir, name) = self.make_parent(path)?;
        let draft = draft.name();
        discard(&dir, &draft)?;
        let made = rustix::fs::symlinkat(OsString::from_vec(target.to_vec()), &dir, &draft);
        put_in_place(made.map_err(Into::into), &dir, &draft, &name)
    }

    /// Appends to a file in one write, and creates it if it does not exist.
    pub fn append(&self, path: &[u8], bytes: &[u8]) -> io::Result<()> {
        let (dir, name) = self.make_parent(path)?;
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&dir, &name, flags | OFlags::CLOEXEC, mode_of(0o644))?;
        let mut file = regular(file.into())?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    /// Creates a directory and those above it, if they do not exist.
    pub fn make_dir(&self, path: &[u8], mode: u16) -> io::Result<()> {
        let (dir, name) = self.make_parent(path)?;
        make(&dir, &name, if mode == 0 { 0o777 } else { mode })
    }

    /// Changes the permissions of a file or directory; those of a link cannot be changed.
    pub fn set_mode(&self, path: &[u8], mode: u16) -> io::Result<()> {
        let (dir, name) = self.parent(path)?;
        let flags = HELD | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&dir, &name, flags, Mode::empty())?;
        if rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode).is_symlink() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(chmod_held(&fd, mode_of(mode))?)
    }

    /// Removes whatever is at a path, with everything in it.
    pub fn remove_all(&self, path: &[u8]) -> io::Result<()> {
        let (_dir, here) = self.resolved(path)?;
        match here.symlink_metadata() {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(here),
            Ok(_) => std::fs::remove_file(here),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Lets the owner list and change every directory in it, so that all of it can be removed.
    pub fn open_up(&self) -> io::Result<()> {
        chmod_held(&self.held, Mode::RWXU)?;
        let mut left = vec![Vec::new()];
        while let Some(path) = left.pop() {
            let dir = self.beneath(&path, OFlags::RDONLY | OFlags::DIRECTORY)?;
            for entry in rustix::fs::Dir::read_from(&dir)? {
                let name = entry?.file_name().to_owned();
                if matches!(name.to_bytes(), b"." | b"..") {
                    continue;
                }
                let flags = HELD | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let below = match rustix::fs::openat(&dir, &name, flags, Mode::empty()) {
                    Ok(below) => below,
                    // A file, or a link.
                    Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => continue,
                    Err(error) => return Err(error.into()),
                };
                chmod_held(&below, Mode::RWXU)?;
                left.push([&path[..], if path.is_empty() { b"" } else { b"/" }, name.to_bytes()].concat());
            }
        }
        Ok(())
    }

    /// Removes a file or a link. Succeeds if it does not exist.
    pub fn remove_file(&self, path: &[u8]) -> io::Result<()> {
        self.unlink(path, AtFlags::empty())
    }

    /// Removes an empty directory. Succeeds if it does not exist.
    pub fn remove_dir(&self, path: &[u8]) -> io::Result<()> {
        self.unlink(path, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, path: &[u8], flags: AtFlags) -> io::Result<()> {
        let (dir, name) = match self.parent(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        match rustix::fs::unlinkat(&dir, &name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets the owner write into the directory that a path is in, until [`Writable::restore`].
    pub fn make_parent_writable(&self, path: &[u8]) -> io::Result<Writable> {
        let (parent, _) = split(path);
        let dir = self.beneath(parent, HELD | OFlags::DIRECTORY)?;
        let mode = rustix::fs::fstat(&dir)?.st_mode & 0o7777;
        chmod_held(&dir, Mode::from_raw_mode(mode | 0o700))?;
        Ok(Writable { dir, mode })
    }

    /// Lets the owner read a file.
    pub fn make_readable(&self, path: &[u8]) -> io::Result<()> {
        let file = self.beneath(path, HELD | OFlags::NOFOLLOW)?;
        let mode = rustix::fs::fstat(&file)?.st_mode & 0o7777;
        Ok(chmod_held(&file, Mode::from_raw_mode(mode | 0o400))?)
    }

    /// The directory a path is in, and its name there.
    fn parent(&self, path: &[u8]) -> io::Result<(OwnedFd, OsString)> {
        let (parent, name) = split(path);
        let dir = self.beneath(parent, HELD | OFlags::DIRECTORY)?;
        Ok((dir, OsStr::from_bytes(name).to_owned()))
    }

    /// The same, with the directories above it created where they are missing.
    fn make_parent(&self, path: &[u8]) -> io::Result<(OwnedFd, OsString)> {
        let (parent, name) = split(path);
        if matches!(name, b"" | b".") || path.split(|byte| *byte == b'/').any(|part| part == b"..") {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path must name a file inside the directory, without `..`",
            ));
        }
        match self.parent(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let ends = parent.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain((!parent.is_empty()).then_some(parent.len())) {
            let (dir, name) = self.parent(parent.get(..end).unwrap_or(parent))?;
            make(&dir, &name, 0o777)?;
        }
        self.parent(path)
    }
}

/// A file that is written and has not taken its place yet.
#[derive(Debug)]
pub struct DraftFile {
    file: File,
    dir: OwnedFd,
    draft: String,
    name: OsString,
}

impl DraftFile {
    /// Syncs its content to disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Takes the place of whatever file or link is there. If that fails, the draft is removed.
    pub fn place(self) -> io::Result<()> {
        put_in_place(Ok(()), &self.dir, &self.draft, &self.name)
    }
}

/// A directory whose permissions were changed for a moment.
#[derive(Debug)]
pub struct Writable {
    dir: OwnedFd,
    mode: RawMode,
}

impl Writable {
    /// Gives it its permissions back.
    pub fn restore(self) -> io::Result<()> {
        Ok(chmod_held(&self.dir, Mode::from_raw_mode(self.mode))?)
    }
}

impl Draft {
    /// The file's name; with `Unique` another one each time.
    #[must_use]
    pub fn name(self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        match self {
            Draft::Named(number) => format!(".ralph-{number:032x}.draft"),
            Draft::Unique => {
                let next = NEXT.fetch_add(1, Ordering::Relaxed);
                format!(".ralph-{}.{next}.draft", std::process::id())
            }
        }
    }
}

/// Opens a regular file beneath a directory for reading; never through a link.
pub fn open_file_beneath(root: &Path, path: &[u8]) -> io::Result<File> {
    NoFollowDir::open(root)?.open_file(path)
}

impl AsFd for NoFollowDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }
}

fn regular(file: File) -> io::Result<File> {
    match what_it_is(file.metadata()?.file_type()) {
        None => Ok(file),
        Some(what) => Err(ReadError::IsA(what).into()),
    }
}

fn make(dir: &OwnedFd, name: &OsStr, mode: u16) -> io::Result<()> {
    match rustix::fs::mkdirat(dir, name, mode_of(mode)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Removes a draft that an earlier writer left.
fn discard(dir: &OwnedFd, draft: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, draft, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn put_in_place(made: io::Result<()>, dir: &OwnedFd, draft: &str, name: &OsStr) -> io::Result<()> {
    let placed = made.and_then(|()| Ok(rustix::fs::renameat(dir, draft, dir, name)?));
    if placed.is_err() {
        // The first error is the one to report.
        let _ = discard(dir, draft);
    }
    placed
}

fn mode_of(mode: u16) -> Mode {
    Mode::from_raw_mode(RawMode::from(mode))
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None => (b"", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn replace(dir: &NoFollowDir, path: &str, text: &str) -> io::Result<()> {
        dir.replace_file(path.as_bytes(), Draft::Unique, 0o644, |file| file.write_all(text.as_bytes()))
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_no_draft_is_left() {
        let temp = tempfile::tempdir().unwrap();
        let dir = NoFollowDir::open(temp.path()).unwrap();
        replace(&dir, "a/b/c", "one").unwrap();
        replace(&dir, "a/b/c", "two").unwrap();
        assert_eq!(fs::read_to_string(temp.path().join("a/b/c")).unwrap(), "two");
        let failing = dir.replace_file(b"a/b/c", Draft::Unique, 0o644, |_| Err(io::Error::other("full")));
        assert!(failing.is_err());
        assert_eq!(fs::read_to_string(temp.path().join("a/b/c")).unwrap(), "two");
        assert_eq!(fs::read_dir(temp.path().join("a/b")).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_moved_within_the_directory_only() {
        let (temp, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dir = NoFollowDir::open(temp.path()).unwrap();
        replace(&dir, "a/b", "new").unwrap();
        replace(&dir, "c/d", "old").unwrap();
        dir.rename(b"a/b", b"c/d").unwrap();
        assert_eq!(fs::read_to_string(temp.path().join("c/d")).unwrap(), "new");
        assert!(!temp.path().join("a/b").exists());
        symlink(other.path(), temp.path().join("out")).unwrap();
        for to in ["out/x", "../x", ""] {
            assert!(dir.rename(b"c/d", to.as_bytes()).is_err(), "{to}");
        }
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }

    #[test]
    fn directories_are_opened_up_and_those_that_links_lead_to_are_not() {
        use std::os::unix::fs::PermissionsExt;
        let (temp, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (dir, file) = (temp.path().join("a/b"), temp.path().join("a/file"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(&file, "").unwrap();
        symlink(other.path(), dir.join("out")).unwrap();
        set(&file, 0o400);
        set(other.path(), 0o500);
        set(&dir, 0o000);
        set(&temp.path().join("a"), 0o500);
        NoFollowDir::open(temp.path()).unwrap().open_up().unwrap();
        assert_eq!((mode(&dir), mode(&temp.path().join("a"))), (0o700, 0o700));
        assert_eq!((mode(&file), mode(other.path())), (0o400, 0o500));
    }

    #[test]
    fn no_link_is_followed_and_nothing_is_written_outside() {
        let (temp, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dir = NoFollowDir::open(temp.path()).unwrap();
        symlink(other.path(), temp.path().join("out")).unwrap();
        assert!(replace(&dir, "out/x", "1").is_err() && dir.append(b"out/x", b"1").is_err());
        for path in ["../x", "a/../../x", "..", "", ".", "a/"] {
            assert!(replace(&dir, path, "1").is_err(), "{path}");
        }
        let theirs = other.path().join("theirs");
        fs::write(&theirs, "theirs").unwrap();
        symlink(&theirs, temp.path().join("link")).unwrap();
        assert!(dir.append(b"link", b"1").is_err() && dir.open_file(b"link").is_err());
        replace(&dir, "link", "1").unwrap();
        assert_eq!(fs::read_to_string(temp.path().join("link")).unwrap(), "1", "the link itself is replaced");
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    }
}
