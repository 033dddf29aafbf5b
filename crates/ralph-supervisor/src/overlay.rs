//! An overlay over a directory that only one program and its descendants see: the directory's own files below, another
//! directory's above, at the directory's own path. What is written goes into the upper one. The view ends with the last
//! process that sees it; nothing has to be taken down.

use std::io;
use std::path::PathBuf;

/// What lies over what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// The directory that is covered, and where the view is seen.
    pub over: PathBuf,
    /// What lies over it, and takes what is written.
    pub upper: PathBuf,
    /// An empty directory beside `upper` for the file system's own use.
    pub work: PathBuf,
}

impl Overlay {
    /// This process, which has one thread, and all its children see the overlay from now on.
    pub(crate) fn enter(&self) -> io::Result<()> {
        ralph_os::mount_overlay(&self.over, &self.upper, &self.work)
    }
}
