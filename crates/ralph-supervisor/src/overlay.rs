//! An overlay over a directory that only one program and its descendants see, at the directory's own path: its files
//! below, those of another directory above. Writes go to the upper directory. The overlay disappears with the last
//! process that sees it; nothing has to be unmounted.

use std::io;
use std::path::PathBuf;

/// An overlay mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// The lower directory, and where the overlay is mounted.
    pub over: PathBuf,
    /// The upper directory, which receives writes.
    pub upper: PathBuf,
    /// An empty directory beside `upper` for the file system's own use.
    pub work: PathBuf,
}

impl Overlay {
    /// Mounts the overlay for this process, which must have a single thread, and all its children.
    pub(crate) fn enter(&self) -> io::Result<()> {
        ralph_os::mount_overlay(&self.over, &self.upper, &self.work)
    }
}
