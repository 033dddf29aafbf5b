//! How many files may be held open. A process may have as few as 256, and ralph needs some for other things.

use std::io;

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Most drafts that are held open, each with its directory.
pub(crate) const MOST_DRAFTS: usize = 64;

/// Most directories that are held open only to save time.
pub(crate) fn most_directories() -> usize {
    let most =
        getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(0));
    (most / 4).min(256)
}

/// Whether something failed because too many files are open, so that it may succeed after some were closed.
pub(crate) fn too_many_open(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}
