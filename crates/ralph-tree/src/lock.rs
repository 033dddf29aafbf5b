//! One ralph per workspace: an flock on a file in the state directory, named after the workspace's path.
//!
//! The file lies outside the workspace and is never unlinked: an agent's `git clean` or a helpful removal
//! would let a second holder in. The kernel releases the lock when the holder is gone, however it went; the
//! text in the file only says who it is and may be stale.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Those who only ask hold a shared lock for a moment; so long, in pauses, is that waited out.
const TRIES: u32 = 2000;
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_WHO: u64 = 4096;

/// Why a workspace could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody has it.
    #[error("another run is active in {}: {who}; wait for it, stop it, or use another checkout", workspace.display())]
    Held {
        /// The workspace.
        workspace: PathBuf,
        /// What the holder wrote about itself.
        who: String,
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
    file: File,
}

impl WorkspaceLock {
    /// Takes the lock of `workspace` in the directory `dir` (made if missing), or says who has it. `who` is
    /// what others will read about us.
    pub fn take(dir: &Path, workspace: &Path, who: &str) -> Result<WorkspaceLock, LockError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| LockError::Io { path, source }
        };
        fs::create_dir_all(dir).map_err(failed(dir))?;
        let path = lock_path(dir, workspace).map_err(failed(workspace))?;
        for _ in 0..TRIES {
            let file = open(&path, true).map_err(failed(&path))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Somebody may have removed the file between our opening and locking it.
                Ok(()) if is_at(&file, &path) => {
                    write_who(&file, who).map_err(failed(&path))?;
                    return Ok(WorkspaceLock { file });
                }
                Ok(()) | Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if is_held(&file) => break,
                Err(Errno::WOULDBLOCK) => {
                    drop(file);
                    sleep(PAUSE);
                }
                Err(error) => return Err(failed(&path)(error.into())),
            }
        }
        let who = open(&path, false).map(read_who).unwrap_or_default();
        Err(LockError::Held { workspace: workspace.to_path_buf(), who })
    }

    /// Who holds the lock of `workspace` now, in its own words; None if nobody does.
    #[must_use]
    pub fn holder(dir: &Path, workspace: &Path) -> Option<String> {
        let path = lock_path(dir, workspace).ok()?;
        let file = open(&path, false).ok()?;
        is_held(&file).then(|| read_who(file))
    }
}

impl Drop for WorkspaceLock {
    fn drop(&mut self) {
        // Closing releases the lock in any case; the empty file only spares readers an old name.
        let _ = self.file.set_len(0);
    }
}

fn lock_path(dir: &Path, workspace: &Path) -> io::Result<PathBuf> {
    let workspace = workspace.canonicalize()?;
    let name = blake3::hash(workspace.as_os_str().as_bytes()).to_hex();
    Ok(dir.join(format!("{}.lock", name.get(..32).unwrap_or(&name))))
}

/// True if somebody works here: a shared lock is refused only beside an exclusive one. Ours goes with `file`.
fn is_held(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

fn open(path: &Path, write: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(write).create(write).truncate(false).mode(0o600).open(path)
}

fn is_at(file: &File, path: &Path) -> bool {
    let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((file.metadata(), path.metadata()), (Ok(ours), Ok(there)) if same(&ours, &there))
}

fn write_who(mut file: &File, who: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(who.as_bytes())
}

fn read_who(file: File) -> String {
    let mut bytes = Vec::new();
    let _ = file.take(LONGEST_WHO).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim().replace(char::is_control, " ");
    if text.is_empty() { "unknown process".to_owned() } else { text }
}
