//! The write-ahead log's file, kept at one size and written over.
//!
//! A log that grows makes every sync write the file's new size too, which costs many times the data itself
//! (0.15 against 3 ms on ext4). So it is filled with zeros once, while an agent runs, and folded before it outgrows that.

use super::explain;
use super::file_identity::beside;
use crate::disk::disk_free;
use crate::error::{BackendErrorKind, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Size the log is filled up to, and cut back to after a burst.
pub(super) const SIZE: u64 = 2 << 20;

/// SqlLedger in the log that make folding worth while: each time costs the next commit a second sync.
const WORTH_FOLDING_PAGES: i64 = 200;

/// Folds what the log holds into the database without making anybody wait, if it is much.
pub(super) fn fold_if_long(c: &Connection) -> Result<(), StoreError> {
    let (pages, folded): (i64, i64) =
        c.query_row("pragma wal_checkpoint(noop)", [], |r| Ok((r.get(1)?, r.get(2)?)))?;
    if pages - folded < WORTH_FOLDING_PAGES { Ok(()) } else { fold(c, "pragma wal_checkpoint(passive)") }
}

/// Folds all of the log and empties its file, if nobody else is reading.
pub(super) fn empty(c: &Connection) -> Result<(), StoreError> {
    fold(c, "pragma wal_checkpoint(truncate)")
}

/// A reader elsewhere may hold the log, or the disk be full: then another time, nothing is lost.
fn fold(c: &Connection, sql: &str) -> Result<(), StoreError> {
    match c.query_row(sql, [], |_| Ok(())) {
        Err(e) if matches!(explain::kind(&e), BackendErrorKind::Busy | BackendErrorKind::Full) => Ok(()),
        other => Ok(other?),
    }
}

/// True when the log's file is shorter than it should be and the disk has room to spare.
pub(super) fn is_short(database: &Path) -> bool {
    let len = std::fs::metadata(beside(database, "-wal")).map(|m| m.len());
    len.is_ok_and(|len| len < SIZE) && disk_free(database).is_ok_and(|room| room.free > 16 * SIZE)
}

/// Fills the log's file with zeros. Under SQLite's writing lock, so that no frame can be in the way; recovery
/// stops at the first frame that is not whole, so zeros mean nothing to it.
pub(super) fn grow(c: &mut Connection, database: &Path) -> Result<(), StoreError> {
    let lock = Transaction::new(c, TransactionBehavior::Immediate)?;
    let log = beside(database, "-wal");
    // SQLite keeps no POSIX locks on the log, so this descriptor takes none away when it closes.
    let filled = OpenOptions::new().write(true).open(&log).and_then(|mut file| fill(&mut file));
    lock.rollback()?;
    filled.map_err(|e| StoreError::file("fill", &log, e))
}

fn fill(file: &mut File) -> io::Result<()> {
    let mut at = file.seek(SeekFrom::End(0))?;
    let zeros = [0u8; 64 * 1024];
    while at < SIZE {
        let part = usize::try_from(SIZE - at).unwrap_or(zeros.len()).min(zeros.len());
        file.write_all(zeros.get(..part).unwrap_or(&zeros))?;
        at += u64::try_from(part).unwrap_or(SIZE);
    }
    file.sync_all()
}

/// Does the log hold anything at all? One that was only filled begins with zeros.
pub(super) fn holds_records(database: &Path) -> bool {
    let mut first = [0u8; 4];
    let read = File::open(beside(database, "-wal")).and_then(|mut f| f.read_exact(&mut first));
    read.is_ok() && first != [0; 4]
}
