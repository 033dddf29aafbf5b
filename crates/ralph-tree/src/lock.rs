//! One ralph per workspace: an flock on a file in the state directory, named after the workspace's path.
//!
//! The file lies outside the workspace and is never unlinked: an agent's `git clean` or a helpful removal
//! would let a second holder in. The kernel releases the lock when the holder is gone, however it went; the
//! text in the file only says who it is and where, and may be stale.
//!
//! Workspaces that lie in each other exclude each other, too: whoever takes a lock looks, in its turn, at those of the
//! directories above and below. Who works with another state directory is found by a second lock, in the workspace
//! (`workspace_file_lock.rs`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::workspace_file_lock::WorkspaceFileLock;

/// Those who only ask hold a shared lock for a moment; so long, in pauses, is that waited out.
const TRIES: u32 = 2000;
/// So long is waited for others who are taking a lock.
const TURNS: u32 = 10_000;
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_TEXT: u64 = 16_384;

/// Why a workspace could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody has it.
    #[error("another run is active in {}: {who}; wait for it, stop it, or use another checkout", workspace.display())]
    Held {
        /// The workspace that is held: this one, or one that lies above or below it.
        workspace: PathBuf,
        /// What the holder wrote about itself.
        who: String,
        /// The holder uses another state directory.
        elsewhere: bool,
    },
    /// The lock file or the workspace cannot be used.
    #[error("cannot lock the workspace: {}: {source}; check that it exists and may be written", path.display())]
    Io {
        /// The file or directory in question.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The workspace is ours until this is dropped or the process ends.
#[derive(Debug)]
pub struct WorkspaceLock {
    file: Flocked,
    workspace: PathBuf,
    who: String,
    in_workspace: Option<WorkspaceFileLock>,
}

impl WorkspaceLock {
    /// Takes the lock of `workspace` in the directory `dir` (made if missing), or says who has it or one that lies
    /// above or below it. `who` is what others will read about us.
    pub fn take(dir: &Path, workspace: &Path, who: &str) -> Result<WorkspaceLock, LockError> {
        fs::create_dir_all(dir).map_err(failed(dir))?;
        let workspace = workspace.canonicalize().map_err(failed(workspace))?;
        let path = lock_path(dir, &workspace);
        let turn = turn(dir)?;
        let file = match flocked(|| open(&path, true), |file| is_at(file, &path)).map_err(failed(&path))? {
            Some(file) => file,
            None => return Err(LockError::held(workspace, open(&path, false))),
        };
        above(dir, &workspace)?;
        below(dir, &path, &workspace)?;
        write_text(&file.0, who, &workspace).map_err(failed(&path))?;
        drop(turn);
        Ok(WorkspaceLock { file, workspace, who: who.to_owned(), in_workspace: None })
    }

    /// Takes the lock in the workspace's own `.ralph/` as well, for whoever writes into the workspace. Where that file
    /// cannot be made, such as on a read-only disk, only the first lock holds.
    pub fn and_in_workspace(mut self) -> Result<WorkspaceLock, LockError> {
        WorkspaceFileLock::held_above(&self.workspace)?;
        self.in_workspace = WorkspaceFileLock::take(&self.workspace, &self.who)?;
        Ok(self)
    }

    /// Makes the lock file in the workspace anew if somebody has removed it, such as an agent with `git clean -xdf`.
    pub fn renew(&self) {
        if let Some(lock) = &self.in_workspace {
            lock.renew(&self.workspace, &self.who);
        }
    }

    /// Who holds the lock of `workspace` now, in its own words; None if nobody does.
    #[must_use]
    pub fn holder(dir: &Path, workspace: &Path) -> Option<String> {
        // One that was moved away is still held by its path.
        let there = workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf());
        let file = open(&lock_path(dir, &there), false).ok()?;
        is_held(&file).then(|| read_text(file).0)
    }

    /// Everybody who holds a lock in the directory `dir` now, in their own words.
    #[must_use]
    pub fn holders(dir: &Path) -> Vec<String> {
        let files = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let locks = files.filter(|path| path.extension().is_some_and(|name| name == "lock"));
        let held = locks.filter_map(|path| open(&path, false).ok()).filter(is_held);
        held.map(|file| read_text(file).0).collect()
    }

    /// Makes sure that nobody holds a lock in the directory `dir`, and keeps it so: nobody takes one before the answer
    /// is dropped.
    pub fn nobody(dir: &Path) -> Result<NobodyWorks, LockError> {
        let turn = turn(dir)?;
        held_lock(dir, |_, _| true)?;
        Ok(NobodyWorks { _turn: turn })
    }
}

/// Nobody works with this state directory until this is dropped.
#[derive(Debug)]
pub struct NobodyWorks {
    _turn: Flocked,
}

impl Drop for WorkspaceLock {
    fn drop(&mut self) {
        // The empty file only spares readers an old name.
        let _ = self.file.0.set_len(0);
    }
}

/// A file with our lock on it.
#[derive(Debug)]
pub(crate) struct Flocked(pub File);

impl Drop for Flocked {
    fn drop(&mut self) {
        // The kernel does so when the file is closed, but a process that is being started may still hold a copy of it.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl LockError {
    fn held(workspace: PathBuf, file: io::Result<File>) -> LockError {
        let who = file.map(|file| read_text(file).0).unwrap_or_default();
        LockError::Held { workspace, who, elsewhere: false }
    }
}

pub(crate) fn failed(path: &Path) -> impl FnOnce(io::Error) -> LockError {
    let path = path.to_path_buf();
    move |source| LockError::Io { path, source }
}

fn lock_path(dir: &Path, workspace: &Path) -> PathBuf {
    let name = blake3::hash(workspace.as_os_str().as_bytes()).to_hex();
    dir.join(format!("{}.lock", name.get(..32).unwrap_or(&name)))
}

/// Everybody takes locks one after another, so that of two who look at each other's one sees the other.
fn turn(dir: &Path) -> Result<Flocked, LockError> {
    let held = File::open(dir).map_err(failed(dir))?;
    for _ in 0..TURNS {
        match flock(&held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Flocked(held)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => sleep(PAUSE),
            Err(error) => return Err(failed(dir)(error.into())),
        }
    }
    Err(failed(dir)(io::Error::new(
        io::ErrorKind::TimedOut,
        "other ralph processes kept the directory busy for 10 s; try again",
    )))
}

/// A run in a directory above would see what is done here as its agent's work.
fn above(dir: &Path, workspace: &Path) -> Result<(), LockError> {
    for parent in workspace.ancestors().skip(1) {
        match open(&lock_path(dir, parent), false) {
            Ok(file) if is_held(&file) => return Err(LockError::held(parent.to_path_buf(), Ok(file))),
            _ => {}
        }
    }
    Ok(())
}

/// And what a run does in a directory below is done here, too.
fn below(dir: &Path, own: &Path, workspace: &Path) -> Result<(), LockError> {
    held_lock(dir, |path, place| path != own && place.is_some_and(|place| place.starts_with(workspace)))
}

/// Fails with the first lock that is held, among those whose file and workspace are asked for. Locks of older versions do
/// not name their workspace, so the file is named instead.
fn held_lock(dir: &Path, asked: impl Fn(&Path, Option<&Path>) -> bool) -> Result<(), LockError> {
    for entry in fs::read_dir(dir).map_err(failed(dir))?.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|name| name != "lock") {
            continue;
        }
        let Ok(file) = open(&path, false) else { continue };
        let Ok(again) = file.try_clone() else { continue };
        let (who, place) = read_text(file);
        if asked(&path, place.as_deref()) && is_held(&again) {
            return Err(LockError::Held { workspace: place.unwrap_or(path), who, elsewhere: false });
        }
    }
    Ok(())
}

/// The file with the lock on it; `None` if somebody has it. `in_place` says whether the file is still where it was
/// opened: somebody may have removed it between our opening and locking it.
pub(crate) fn flocked(
    open: impl Fn() -> io::Result<File>,
    in_place: impl Fn(&File) -> bool,
) -> io::Result<Option<Flocked>> {
    for _ in 0..TRIES {
        let file = open()?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if in_place(&file) => return Ok(Some(Flocked(file))),
            Ok(()) | Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) if is_held(&file) => return Ok(None),
            Err(Errno::WOULDBLOCK) => {
                drop(file);
                sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// True if somebody works here: a shared lock is refused only beside an exclusive one. Ours goes with `file`.
pub(crate) fn is_held(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

/// Never waits: a pipe in the place of a lock is refused.
fn open(path: &Path, write: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(write).create(write).truncate(false).mode(0o600);
    let file = options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    match ralph_os::what_it_is(file.metadata()?.file_type()) {
        Some(what) => Err(ralph_os::ReadError::IsA(what).into()),
        None => Ok(file),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    matches!((file.metadata(), path.metadata()), (Ok(ours), Ok(there)) if same(&ours, &there))
}

pub(crate) fn same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// One line of words, then the workspace's path as it is.
pub(crate) fn write_text(mut file: &File, who: &str, workspace: &Path) -> io::Result<()> {
    file.set_len(0)?;
    let mut text = who.replace(char::is_control, " ").into_bytes();
    text.push(b'\n');
    text.extend(workspace.as_os_str().as_bytes());
    file.write_all(&text)
}

/// Who wrote it, and where they work; locks of older versions do not tell the latter.
pub(crate) fn read_text(file: File) -> (String, Option<PathBuf>) {
    let mut bytes = Vec::new();
    let _ = file.take(LONGEST_TEXT).read_to_end(&mut bytes);
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let who = String::from_utf8_lossy(parts.next().unwrap_or_default()).trim().replace(char::is_control, " ");
    let place = parts.next().filter(|path| !path.is_empty());
    let place = place.map(|path| PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())));
    (if who.is_empty() { "unknown process".to_owned() } else { who }, place)
}
