//! Where the views are put: beneath the workspace, never through a link. An agent may have made one of `.ralph/`, or may
//! remove it at any time; what is written goes into the workspace or nowhere. A reader finds the old file or the new one.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, accessat, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The directory that hides itself from git.
const OURS: &str = ".ralph";

/// A workspace, to be written into.
pub struct WorkspaceFiles {
    root: PathBuf,
}

impl WorkspaceFiles {
    /// In this workspace.
    pub fn at(root: &Path) -> WorkspaceFiles {
        WorkspaceFiles { root: root.to_owned() }
    }

    /// Writes a file at a path relative to the workspace, whole or not at all.
    pub fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut dir = openat(CWD, &self.root, flags, Mode::empty())?;
        let mut parts = path.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
        while let Some(part) = parts.next() {
            if part == ".." {
                return Err(io::Error::other("the path leads out of the workspace"));
            }
            if parts.peek().is_none() {
                return put(&dir, part, bytes);
            }
            dir = enter(&dir, part)?;
            if part == OURS {
                hide(&dir)?;
            }
        }
        Err(io::Error::other("the path names no file"))
    }
}

/// A directory, made where it is missing; a link is none.
fn enter(dir: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(dir, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            match mkdirat(dir, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            Ok(openat(dir, name, flags, Mode::empty())?)
        }
        Err(Errno::LOOP | Errno::NOTDIR) => {
            Err(io::Error::other(format!("{name} is a link or a file, not a directory")))
        }
        other => Ok(other?),
    }
}

/// Everything in it is ignored by git, itself included.
fn hide(dir: &OwnedFd) -> io::Result<()> {
    if accessat(dir, ".gitignore", rustix::fs::Access::EXISTS, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Ok(());
    }
    put(dir, ".gitignore", b"*\n")
}

fn put(dir: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = format!(".{name}.{}.draft", std::process::id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat(dir, draft.as_str(), flags, Mode::from_raw_mode(0o644));
    let fd = match open() {
        Err(Errno::EXIST) => {
            unlinkat(dir, draft.as_str(), AtFlags::empty())?;
            open()?
        }
        other => other?,
    };
    let mut file = File::from(fd);
    let written = file.write_all(bytes);
    let put = written.and_then(|()| Ok(renameat(dir, draft.as_str(), dir, name)?));
    if put.is_err() {
        let _ = unlinkat(dir, draft.as_str(), AtFlags::empty());
    }
    put
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_view_is_written_whole_and_hidden_from_git() {
        let dir = tempfile::tempdir().unwrap();
        let files = WorkspaceFiles::at(dir.path());
        files.write(".ralph/status.json", b"{}").unwrap();
        files.write("./.claude//metrics/s.json", b"1").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(".ralph/.gitignore")).unwrap(), "*\n");
        fs::remove_dir_all(dir.path().join(".ralph")).unwrap();
        files.write(".ralph/status.json", b"{\"a\":1}").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(".ralph/status.json")).unwrap(), "{\"a\":1}");
        assert_eq!(fs::read_dir(dir.path().join(".ralph")).unwrap().count(), 2, "no draft is left");
        assert_eq!(fs::read_to_string(dir.path().join(".claude/metrics/s.json")).unwrap(), "1");
    }

    #[test]
    fn nothing_is_written_outside_the_workspace() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = WorkspaceFiles::at(dir.path());
        symlink(elsewhere.path(), dir.path().join(".ralph")).unwrap();
        assert!(files.write(".ralph/status.json", b"{}").is_err());
        for path in ["../x.json", "a/../../x.json", "", "."] {
            assert!(files.write(path, b"{}").is_err(), "{path}");
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        let file = elsewhere.path().join("theirs");
        fs::write(&file, "theirs").unwrap();
        symlink(&file, dir.path().join("s.json")).unwrap();
        files.write("s.json", b"{}").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs", "the link is replaced, not followed");
        fs::write(dir.path().join("f"), "").unwrap();
        assert!(files.write("f/s.json", b"{}").is_err());
    }
}
