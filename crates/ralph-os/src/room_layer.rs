//! A directory that is shown inside a room, under a throwaway layer for what is written to it.

use std::path::PathBuf;

/// One directory to show inside a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomLayer {
    /// The directory whose files are shown. It is never written to.
    pub from: PathBuf,
    /// Where it is shown, relative to the room. A directory must exist there.
    pub at: PathBuf,
    /// Receives what is written.
    pub upper: PathBuf,
    /// An empty directory beside `upper` for the file system's own use.
    pub work: PathBuf,
}
