//! What SQLite's error codes mean: first as a kind, then, where a path is known, as the store's own error.

use super::file_identity::beside;
use super::{Database, open};
use crate::disk::{NoRoom, disk_free, file_size_limit};
use crate::error::{BackendError, BackendErrorKind, CommitError, StoreError};
use rusqlite::{Error, ErrorCode};
use rustix::fs::{Access, access};
use std::path::Path;
use std::time::Duration;

/// What a commit may add to a file, and what the shared index has at first.
const ONE_COMMIT: u64 = 64 << 10;

impl Database {
    /// Gives an error of writing its path.
    pub(super) fn explain(&self, error: StoreError) -> StoreError {
        explain(&self.path, open::BUSY_LIMIT, error)
    }
}

/// Gives an error of the backend its path; `waited` is how long a busy database was waited for.
pub(super) fn explain(path: &Path, waited: Duration, error: StoreError) -> StoreError {
    let StoreError::Backend(error) = error else { return error };
    let path = path.to_path_buf();
    match error.kind {
        BackendErrorKind::Busy => StoreError::Busy { waited },
        BackendErrorKind::Full => {
            let why = NoRoom::at(&path, false);
            StoreError::Full { path, why }
        }
        BackendErrorKind::Corrupt => StoreError::Damaged { path, why: error.to_string(), kept: None },
        BackendErrorKind::ReadOnly => StoreError::ReadOnly { path, why: error.to_string() },
        // This has many reasons; only where the directory cannot be written is that the reason.
        BackendErrorKind::CannotOpen if is_unwritable(&path) => {
            StoreError::ReadOnly { path, why: error.to_string() }
        }
        BackendErrorKind::CannotOpen | BackendErrorKind::Io => match no_room(&path) {
            Some(why) => StoreError::Full { path, why },
            None => StoreError::Backend(error),
        },
        BackendErrorKind::Other => StoreError::Backend(error),
    }
}

/// SQLite has one code for every file it could not make or extend; the file system and the process's limit know more.
fn no_room(path: &Path) -> Option<NoRoom> {
    let files = ["", "-wal", "-shm"].map(|suffix| beside(path, suffix));
    let largest = files.iter().filter_map(|file| Some(file.metadata().ok()?.len())).max().unwrap_or(0);
    let at_limit = file_size_limit().is_some_and(|limit| limit < largest.saturating_add(ONE_COMMIT));
    let full = || NoRoom::at(path, false) == NoRoom::Inodes || disk_free(path).is_ok_and(|d| d.free == 0);
    (at_limit || full()).then(|| NoRoom::at(path, at_limit))
}

fn is_unwritable(path: &Path) -> bool {
    access(path.parent().unwrap_or(path), Access::WRITE_OK).is_err()
}

/// What an error means.
pub(super) fn kind(error: &Error) -> BackendErrorKind {
    // A value of another type than the one written.
    if let Error::FromSqlConversionFailure(..)
    | Error::IntegralValueOutOfRange(..)
    | Error::Utf8Error(..)
    | Error::InvalidColumnType(..) = error
    {
        return BackendErrorKind::Corrupt;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            BackendErrorKind::Busy
        }
        Some(ErrorCode::DiskFull) => BackendErrorKind::Full,
        Some(ErrorCode::SystemIoFailure) => BackendErrorKind::Io,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => BackendErrorKind::Corrupt,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => BackendErrorKind::ReadOnly,
        Some(ErrorCode::CannotOpen) => BackendErrorKind::CannotOpen,
        _ => BackendErrorKind::Other,
    }
}

pub(super) fn is_busy(error: &Error) -> bool {
    kind(error) == BackendErrorKind::Busy
}

impl From<Error> for StoreError {
    fn from(error: Error) -> StoreError {
        StoreError::Backend(BackendError::new(kind(&error), error))
    }
}

impl From<Error> for CommitError {
    fn from(error: Error) -> CommitError {
        CommitError::Store(error.into())
    }
}
