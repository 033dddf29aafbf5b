//! Checks that the database files at their paths are still the ones that are open. After `rm` or `git clean -fdx` SQLite
//! would keep writing to deleted files.

use crate::error::StoreError;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Device and inode of the database, its log and its shared index, as they were when opened.
#[derive(Debug)]
pub(super) struct FileIdentity {
    files: Vec<(PathBuf, (u64, u64))>,
}

impl FileIdentity {
    /// Takes note of the files; call it after the first read, when SQLite has all three open.
    pub(super) fn note(path: &Path) -> Result<FileIdentity, StoreError> {
        let mut files = vec![(path.to_path_buf(), identity(path)?)];
        for suffix in ["-wal", "-shm"] {
            let file = beside(path, suffix);
            // Both are absent on a read-only disk; then nothing is written either.
            if let Ok(id) = identity(&file) {
                files.push((file, id));
            }
        }
        Ok(FileIdentity { files })
    }

    /// Three `stat` calls, a few microseconds.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        for (path, id) in &self.files {
            if identity(path).ok() != Some(*id) {
                return Err(StoreError::Gone { path: path.clone() });
            }
        }
        Ok(())
    }
}

/// `ralph.db` and `-wal` make `ralph.db-wal`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn identity(path: &Path) -> Result<(u64, u64), StoreError> {
    let meta = std::fs::metadata(path).map_err(|e| StoreError::file("look at", path, e))?;
    Ok((meta.dev(), meta.ino()))
}
