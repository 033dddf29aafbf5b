//! The lock in a workspace's own `.ralph/`: it keeps out whoever uses another state directory, such as another user or a
//! container with the same checkout mounted.
//!
//! An agent can write there, so nothing is followed and nothing is waited for: what is not a regular file at its name is
//! removed, as the name is ralph's. It only adds to the lock in the state directory; that one holds also while an agent
//! has removed this.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use crate::lock::{Flocked, LockError, failed, flocked, is_held, read_text, write_text};

const DIR: &str = ".ralph";
const NAME: &str = "lock";
const SEARCH: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// A pipe must not make us wait, and a link must not lead us elsewhere.
const CAREFUL: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The lock in a workspace.
#[derive(Debug)]
pub(crate) struct WorkspaceFileLock {
    file: Mutex<Flocked>,
}

impl WorkspaceFileLock {
    /// Takes it; `None` if the file cannot be made or opened here.
    pub fn take(workspace: &Path, who: &str) -> Result<Option<WorkspaceFileLock>, LockError> {
        let taken = WorkspaceFileLock::file(workspace, who)?;
        Ok(taken.map(|file| WorkspaceFileLock { file: Mutex::new(file) }))
    }

    fn file(workspace: &Path, who: &str) -> Result<Option<Flocked>, LockError> {
        let path = workspace.join(DIR).join(NAME);
        let flocked = |how| flocked(|| open(workspace, how), |file| is_there(file, workspace));
        // Only for reading: a file open for writing would keep others from mounting the disk read-only. Over a network
        // a lock may need the other.
        let taken = match flocked(OFlags::RDONLY) {
            Err(error) if error.raw_os_error() == Some(Errno::BADF.raw_os_error()) => flocked(OFlags::RDWR),
            taken => taken,
        };
        let taken = match taken {
            Ok(taken) => taken,
            Err(error) if hopeless(&error) => return Ok(None),
            Err(error) => return Err(failed(&path)(error)),
        };
        let Some(file) = taken else {
            let who = look(workspace).map(|file| read_text(file).0).unwrap_or_default();
            return Err(LockError::Held { workspace: workspace.to_path_buf(), who, elsewhere: true });
        };
        // Who cannot write it, because another user made it, holds it all the same.
        if let Ok(words) = writable(workspace) {
            let _ = write_text(&words, who, workspace);
        }
        Ok(Some(file))
    }

    /// Takes it again if the file is not there any more. If somebody else was faster, there is nothing left to do.
    pub fn renew(&self, workspace: &Path, who: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_there(&file.0, workspace)
            && let Ok(Some(anew)) = WorkspaceFileLock::file(workspace, who)
        {
            *file = anew;
        }
    }

    /// An error if somebody works in a directory above with another state directory. Files of other users do not
    /// count: anybody could make one in a directory such as the one for temporary files.
    pub fn held_above(workspace: &Path) -> Result<(), LockError> {
        let mine = rustix::process::geteuid().as_raw();
        for parent in workspace.ancestors().skip(1) {
            let Ok(file) = look(parent) else { continue };
            if file.metadata().is_ok_and(|seen| seen.uid() == mine) && is_held(&file) {
                let (workspace, who) = (parent.to_path_buf(), read_text(file).0);
                return Err(LockError::Held { workspace, who, elsewhere: true });
            }
        }
        Ok(())
    }
}

/// Opens the file, and makes it with its directory if it is not there. A second attempt follows once something else
/// was removed from its name.
fn open(workspace: &Path, how: OFlags) -> io::Result<File> {
    let dir = own_dir(workspace)?;
    let flags = how | OFlags::CREATE | CAREFUL;
    for last in [false, true] {
        let opened = openat(&dir, NAME, flags, Mode::from(0o644));
        match opened.map_err(io::Error::from).and_then(|file| regular(file.into())) {
            Ok(file) => return Ok(file),
            Err(error) if last || hopeless(&error) => return Err(error),
            Err(_) => {
                if unlinkat(&dir, NAME, AtFlags::empty()) == Err(Errno::ISDIR) {
                    unlinkat(&dir, NAME, AtFlags::REMOVEDIR)?;
                }
            }
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// `.ralph/`, hidden from git as soon as it is there.
fn own_dir(workspace: &Path) -> io::Result<File> {
    let root = File::from(openat(CWD, workspace, SEARCH, Mode::empty())?);
    match mkdirat(&root, DIR, Mode::from(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let dir = match openat(&root, DIR, SEARCH, Mode::empty()) {
        Err(Errno::LOOP) => return Err(Errno::NOTDIR.into()),
        other => File::from(other?),
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | CAREFUL;
    if let Ok(ignore) = openat(&dir, ".gitignore", flags, Mode::from(0o644)) {
        let _ = File::from(ignore).write_all(b"*\n");
    }
    Ok(dir)
}

/// The file as it is there now, for reading.
fn look(workspace: &Path) -> io::Result<File> {
    there(workspace, OFlags::RDONLY)
}

/// The same for writing.
fn writable(workspace: &Path) -> io::Result<File> {
    there(workspace, OFlags::WRONLY)
}

fn there(workspace: &Path, how: OFlags) -> io::Result<File> {
    let dir = openat(CWD, workspace.join(DIR), SEARCH, Mode::empty())?;
    regular(openat(&dir, NAME, how | CAREFUL, Mode::empty())?.into())
}

fn regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

fn is_there(file: &File, workspace: &Path) -> bool {
    let there = look(workspace).and_then(|there| there.metadata());
    matches!((file.metadata(), there), (Ok(ours), Ok(there)) if crate::lock::same(&ours, &there))
}

/// Whether nothing can be made or locked in this workspace, whoever tries; then the lock in the state directory has to
/// do. A link or a file at the place of `.ralph/` is left alone.
fn hopeless(error: &io::Error) -> bool {
    let known = [
        Errno::ROFS,
        Errno::ACCESS,
        Errno::PERM,
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::NOTDIR,
        Errno::NOTSUP,
        Errno::NOLCK,
        Errno::NOSYS,
        Errno::INVAL,
    ];
    known.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
