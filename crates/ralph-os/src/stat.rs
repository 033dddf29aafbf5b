//! What a look at a file says, in types that are the same everywhere.

use rustix::fs::FileType;

/// One look at a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: FileType,
    /// Permissions, with set-uid, set-gid and the sticky bit.
    pub mode: u16,
    /// Its number on its file system.
    pub ino: u64,
    /// Bytes.
    pub size: u64,
    /// When its content changed, in nanoseconds since 1970.
    pub mtime: i64,
    /// When anything about it changed, in nanoseconds since 1970.
    pub ctime: i64,
}
