//! The one way to a store on disk.

use crate::error::StoreError;
use crate::sqlite::{BUSY_LIMIT, Database};
use std::path::Path;
use std::time::Duration;

/// How long a screen waits for a database that is locked: longer than any commit takes.
const AT_ONCE: Duration = Duration::from_millis(250);

/// Opens the database in `dir`, creating both if they do not exist.
pub fn open(dir: &Path) -> Result<Database, StoreError> {
    Database::open(dir)
}

/// Opens the database in `dir` for commands that must not create one; `None` if there is none.
pub fn open_existing(dir: &Path) -> Result<Option<Database>, StoreError> {
    Database::open_existing(dir, BUSY_LIMIT)
}

/// As [`open_existing`]; a database that another process has locked is an error after a quarter of a second, here and
/// whenever it is read. For screens, which say so and try again. Writing waits as long as ever.
pub fn open_existing_at_once(dir: &Path) -> Result<Option<Database>, StoreError> {
    Database::open_existing(dir, AT_ONCE)
}
