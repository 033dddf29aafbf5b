//! The directories of one contained program: its plan, its `/tmp`, what it writes to the home directory. They are deleted when
//! the program has ended. They lie outside of the home directory, because a layer cannot be kept below what it covers, and on a
//! disk rather than in memory where there is a choice.

use crate::verification::tree_copy;
use ralph_diagnostics::Discard;
use ralph_os::{Links, open_regular};
use rustix::fs::{FlockOperation, flock};
use rustix::process::getuid;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const PREFIX: &str = "ralph-sandbox-";
const LOCK: &str = "lock";
/// Where they are made, the best place first.
const PLACES: [&str; 3] = ["/var/tmp", "/tmp", "/run"];

/// The directories of one program.
#[derive(Debug)]
pub(super) struct CallDirs {
    base: PathBuf,
    /// Locked while it is used, so that what a killed process left can be told from it.
    _lock: File,
}

impl CallDirs {
    /// Makes them, not below `home`.
    pub(super) fn make(home: &Path) -> io::Result<CallDirs> {
        let mut refused = io::Error::from(io::ErrorKind::NotFound);
        for place in places(home) {
            // Where it is a link, an engine in a machine of its own knows only what it leads to.
            match made(&place.canonicalize().unwrap_or(place)) {
                Ok(dirs) => return Ok(dirs),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// The directory that they lie in.
    pub(super) fn base(&self) -> &Path {
        &self.base
    }

    /// The file of the plan.
    pub(super) fn plan(&self) -> PathBuf {
        self.base.join("plan.json")
    }

    /// Shown as `/tmp`.
    pub(super) fn tmp(&self) -> PathBuf {
        self.base.join("tmp")
    }

    /// For what is written to the home directory.
    pub(super) fn home_layer(&self) -> PathBuf {
        self.base.join("home")
    }

    /// For layers that are not kept.
    pub(super) fn dropped(&self) -> PathBuf {
        self.base.join("layers")
    }
}

impl Drop for CallDirs {
    fn drop(&mut self) {
        tree_copy::remove(&self.base).discard("remove the directories of a sandbox");
    }
}

fn places(home: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    let inside = move |place: &PathBuf| place.canonicalize().is_ok_and(|real| real.starts_with(home));
    PLACES.into_iter().map(PathBuf::from).filter(move |place| home.parent().is_none() || !inside(place))
}

fn made(place: &Path) -> io::Result<CallDirs> {
    let base = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(place)?
        .keep();
    let lock = File::create_new(base.join(LOCK))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok(CallDirs { base, _lock: lock })
}

/// Deletes what processes left that were killed.
pub(super) fn remove_left(home: &Path) {
    let left = places(home).filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
    let ours =
        |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.uid() == getuid().as_raw());
    for entry in left.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let path = entry.path();
        // Others can make such a directory too, with a FIFO as its lock. Without a lock it is being made at this moment.
        let lock = Some(path.join(LOCK)).filter(|_| ours(&path));
        let Some(lock) = lock.and_then(|lock| open_regular(&lock, Links::RefuseLast).ok()) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            tree_copy::remove(&path).discard("remove the directories of an earlier sandbox");
        }
    }
}

/// Whether the process that made this directory is alive.
pub(super) fn is_used(base: &Path) -> bool {
    let lock = open_regular(&base.join(LOCK), Links::RefuseLast).ok();
    lock.is_some_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_uses_is_removed() {
        let home = Path::new("/nonexistent/home");
        let used = CallDirs::make(home).unwrap();
        let left = CallDirs::make(home).unwrap();
        fs::create_dir_all(left.tmp().join("a/b")).unwrap();
        let base = left.base.clone();
        // As a killed process leaves it: the lock is gone, the directory is not.
        let CallDirs { _lock: lock, .. } = &left;
        flock(lock, FlockOperation::Unlock).unwrap();
        assert_eq!((is_used(&base), is_used(&used.base)), (false, true));
        remove_left(home);
        assert!(!base.exists() && !is_used(&base));
        assert!(used.base.exists());
        let base = used.base.clone();
        drop(used);
        assert!(!base.exists());
    }

    #[test]
    fn they_do_not_lie_in_the_home_directory() {
        assert!(places(Path::new("/var")).all(|place| !place.starts_with("/var")));
        assert_eq!(places(Path::new("/")).count(), PLACES.len());
    }
}
