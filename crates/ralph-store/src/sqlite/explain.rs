//! SQLite's codes in plain words, with the path and what to do.

use super::{Sqlite, open};
use crate::error::StoreError;
use rusqlite::{Error, ErrorCode};
use rustix::fs::{Access, access};
use std::path::Path;

impl Sqlite {
    /// Gives a bare SQLite error its place and meaning.
    pub(super) fn explain(&self, e: StoreError) -> StoreError {
        explain(&self.path, e)
    }
}

pub(super) fn explain(path: &Path, e: StoreError) -> StoreError {
    let StoreError::Sqlite(e) = e else { return e };
    let place = path.to_path_buf();
    if is_busy(&e) {
        StoreError::Busy { waited: open::BUSY_LIMIT }
    } else if is_full(&e) {
        StoreError::Full { path: place }
    } else if is_damage(&e) {
        StoreError::Damaged { path: place, why: e.to_string(), kept: None }
    } else if is_shut(&e, path) {
        StoreError::ReadOnly { path: place, why: e.to_string() }
    } else {
        StoreError::Sqlite(e)
    }
}

pub(super) fn is_busy(e: &Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed};
    matches!(e.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed))
}

pub(super) fn is_full(e: &Error) -> bool {
    e.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

pub(super) fn is_io(e: &Error) -> bool {
    e.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}

/// The file does not hold what we put there: pages that make no sense, or a value of another type.
pub(super) fn is_damage(e: &Error) -> bool {
    match e {
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::Utf8Error(..)
        | Error::InvalidColumnType(..) => true,
        other => {
            matches!(other.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        }
    }
}

/// "Cannot open" has many reasons; only where the directory cannot be written it is that.
fn is_shut(e: &Error, path: &Path) -> bool {
    let dir = path.parent().unwrap_or(path);
    match e.sqlite_error_code() {
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => true,
        Some(ErrorCode::CannotOpen) => access(dir, Access::WRITE_OK).is_err(),
        _ => false,
    }
}
