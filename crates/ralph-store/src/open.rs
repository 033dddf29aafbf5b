//! The one way to a store on disk.

use crate::error::StoreError;
use crate::sqlite::Database;
use std::path::Path;

/// Opens the database in `dir`, creating both if they do not exist.
pub fn open(dir: &Path) -> Result<Database, StoreError> {
    Database::open(dir)
}

/// Opens the database in `dir` for commands that must not create one; `None` if there is none.
pub fn open_existing(dir: &Path) -> Result<Option<Database>, StoreError> {
    Database::open_existing(dir)
}
