//! No rooms at another path: a process sees what everybody sees.

use std::io;
use std::path::Path;

use crate::RoomLayer;

/// Not available here; the caller runs in the room's own directory.
pub fn mount_room(_room: &Path, _over: &Path, _layers: &[RoomLayer]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There are none.
pub fn pass_on_capabilities() -> io::Result<()> {
    Ok(())
}
