//! What overlays leave in their `work` directories.
//!
//! A volatile overlay leaves a mark there, and the kernel makes no other overlay until it is gone. Removing directories can take
//! long where the file system discards their blocks at once and the disk is busy. So the old directory is renamed when a new
//! overlay is made, and the box removes it while the program runs.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, chmodat, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::paths::open_own;
use crate::{Mount, Plan};

const NAME: &str = "stale-";

/// Renames what the last overlay left, if it left something.
pub(super) fn set_aside(work: &OwnedFd) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let _ = renameat(work, "work", work, format!("{NAME}{}", now.as_nanos()));
}

/// Removes a directory that the kernel made, with those in it: it gives them a mode by which not even their owner may look
/// into them.
fn remove(parent: impl AsFd, name: &CStr) -> Result<(), Errno> {
    chmodat(&parent, name, Mode::RWXU, AtFlags::empty())?;
    let dir = open_dir(&parent, name)?;
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        match (entry.file_name().to_bytes(), entry.file_type()) {
            (b"." | b"..", _) => {}
            (_, FileType::Directory) => remove(&dir, entry.file_name())?,
            _ => unlinkat(&dir, entry.file_name(), AtFlags::empty())?,
        }
    }
    unlinkat(&parent, name, AtFlags::REMOVEDIR)
}

fn open_dir(at: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// The `work` directories of a plan, opened while they can be reached.
#[derive(Debug)]
pub(super) struct WorkDirs(Vec<OwnedFd>);

impl WorkDirs {
    /// Opens them.
    pub fn of(plan: &Plan) -> WorkDirs {
        let work = plan.mounts.iter().filter_map(|mount| match mount {
            Mount::Layer { work, .. } => open_own(work).ok(),
            _ => None,
        });
        WorkDirs(work.collect())
    }

    /// Removes what was set aside. What cannot be removed now is removed by a later box. By descriptors alone: the first
    /// process may change the root of this one, and what is at `/proc`, at any moment.
    pub fn clean(self) {
        for work in self.0 {
            let entries = open_dir(&work, c".").and_then(Dir::read_from);
            for entry in entries.into_iter().flatten().flatten() {
                if entry.file_name().to_bytes().starts_with(NAME.as_bytes()) {
                    let _ = remove(&work, entry.file_name());
                }
            }
        }
    }
}
