//! The store in one SQLite file: WAL, synchronous=FULL, one fdatasync a commit.
//!
//! `open.rs` finds or makes the file, `write.rs` runs the one writing transaction, `journal.rs`, `ledger_storage.rs`, `inbox.rs`
//! and `rows.rs` hold the SQL. Never open the database with `File` while a connection lives: closing that
//! descriptor would drop SQLite's POSIX locks for the whole process.

mod accounts;
mod ballast;
mod copies;
mod damage;
mod explain;
mod file_identity;
mod inbox;
mod journal;
mod ledger_storage;
mod log;
mod network;
mod open;
mod outbox;
mod restore;
mod rows;
mod schema;
mod write;
mod write_queue;

use crate::batch::{Batch, Committed, Request, RequestId};
use crate::entry::{Entry, Head, Position, Tail, UncheckedEntry};
use crate::error::{CommitError, StoreError};
use crate::ledger::{self, Booked, LedgerStorage, Totals, WindowUse};
use crate::model::{AccountFilter, AccountRow, IterationRow, RunFilter, RunRow};
use crate::outbox::{Delivery, Lease, OutboxEntry, OutboxFilter};
use crate::store::Store;
use ballast::Ballast;
pub use copies::{COPY, copies};
use file_identity::FileIdentity;
use ledger_storage::SqlLedger;
pub(crate) use open::BUSY_LIMIT;
pub use restore::{Restored, restore};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use write_queue::WriteQueue;

/// Name of the database in the directory given to [`Database::open`].
pub const DATABASE: &str = "ralph.db";

/// The store in a directory on a local disk.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    writer: Mutex<Option<Connection>>,
    reader: Mutex<Option<Connection>>,
    /// How long reading waits for whoever has the database locked.
    busy: Duration,
    queue: WriteQueue,
    identity: FileIdentity,
    ballast: Ballast,
    /// Schema of the file when it is newer than ours; then it is only read.
    newer: Option<i64>,
    commits: AtomicU64,
}

impl Database {
    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Durable transactions this handle has made, for tests and benchmarks.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Checks every record of a stream against the chain; its head when all agree.
    pub fn verify_chain(&self, stream: &str) -> Result<Option<Head>, StoreError> {
        self.reading(|c| journal::verify(c, stream))
    }

    /// Checks every record of every stream, past the index; says how many there are.
    pub fn verify(&self) -> Result<u64, StoreError> {
        self.reading(journal::verify_all)
    }

    /// Everything that is booked, and what every money meter holds.
    pub fn books(&self) -> Result<(Vec<Booked>, BTreeMap<String, Totals>), StoreError> {
        self.reading(|c| {
            let ledger = SqlLedger(c);
            Ok((ledger.all()?, ledger.all_totals()?))
        })
    }

    /// Makes `copies/ralph-<date>.db` unless it is there, and keeps the newest seven. `date` is digits and dashes.
    pub fn daily_copy(&self, date: &str) -> Result<Option<PathBuf>, StoreError> {
        let connection = open::connect(&self.path, false, open::BUSY_LIMIT).map_err(|e| self.explain(e))?;
        copies::daily(&connection, &self.path, date).map_err(|e| self.explain(e))
    }

    /// Runs `f` on the reading connection, which sees other connections' commits (ours too) as changes.
    fn reading<T>(&self, f: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut slot = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *slot {
            Some(connection) => connection,
            None => {
                self.identity.check()?;
                slot.insert(open::connect(&self.path, true, self.busy).map_err(|e| self.unread(e))?)
            }
        };
        f(connection).map_err(|e| self.unread(e))
    }

    /// Gives an error of reading its path.
    fn unread(&self, error: StoreError) -> StoreError {
        explain::explain(&self.path, self.busy, error)
    }
}

impl Store for Database {
    fn commit(&self, batch: &Batch) -> Result<Committed, CommitError> {
        self.commit_batch(batch)
    }

    fn read(&self, stream: &str, after: u64) -> Result<Vec<Entry>, StoreError> {
        self.reading(|c| journal::read(c, stream, after))
    }

    fn each(
        &self,
        stream: &str,
        after: u64,
        each: &mut dyn FnMut(UncheckedEntry<'_>),
    ) -> Result<(), StoreError> {
        self.reading(|c| journal::each(c, stream, after, each))
    }

    fn head(&self, stream: &str) -> Result<Option<Head>, StoreError> {
        self.reading(|c| journal::head(c, stream))
    }

    fn since(&self, prefix: &str, after: Position, limit: usize) -> Result<Tail, StoreError> {
        self.reading(|c| journal::since(c, prefix, after, limit))
    }

    fn position(&self) -> Result<Position, StoreError> {
        self.reading(journal::position)
    }

    fn changed(&self) -> Result<u64, StoreError> {
        self.reading(|c| {
            let version: i64 = c.prepare_cached("pragma data_version")?.query_row([], |r| r.get(0))?;
            Ok(version.unsigned_abs())
        })
    }

    fn streams(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.reading(|c| journal::streams(c, prefix))
    }

    fn ask(&self, run: &str, body: &str, at: i64) -> Result<RequestId, StoreError> {
        self.write_one(|c| inbox::ask(c, run, body, at))
    }

    fn requests(&self, run: &str) -> Result<Vec<Request>, StoreError> {
        self.reading(|c| inbox::pending(c, run))
    }

    fn meter(&self, meter: &str) -> Result<Totals, StoreError> {
        self.reading(|c| SqlLedger(c).totals(meter))
    }

    fn window(&self, meter: &str, span: i64, now: i64) -> Result<WindowUse, StoreError> {
        self.reading(|c| ledger::window(&SqlLedger(c), meter, span, now))
    }

    fn booked(&self, id: &str) -> Result<Option<Booked>, StoreError> {
        self.reading(|c| Ok(SqlLedger(c).hold(id)?.map(|hold| Booked::of(id, hold))))
    }

    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        self.reading(|c| rows::runs(c, filter))
    }

    fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        self.reading(|c| rows::run(c, id))
    }

    fn iterations(&self, run: &str) -> Result<Vec<IterationRow>, StoreError> {
        self.reading(|c| rows::iterations(c, run))
    }

    fn latest_iterations(&self, run: &str, most: u32) -> Result<Vec<IterationRow>, StoreError> {
        self.reading(|c| rows::latest_iterations(c, run, most))
    }

    fn iterations_with_error(
        &self,
        workspace: &str,
        error: &str,
        before: &str,
        most: u32,
    ) -> Result<Vec<IterationRow>, StoreError> {
        self.reading(|c| rows::iterations_with_error(c, workspace, error, before, most))
    }

    fn accounts(&self, filter: &AccountFilter) -> Result<Vec<AccountRow>, StoreError> {
        self.reading(|c| accounts::read(c, filter))
    }

    fn memo(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.reading(|c| rows::memo(c, key))
    }

    fn memos(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.reading(|c| rows::memos(c, prefix))
    }

    fn outbox_lease(&self, lease: &Lease<'_>) -> Result<Vec<OutboxEntry>, StoreError> {
        // A write has to wait for its turn among all processes; most of the time there is nothing to take.
        match self.reading(|c| outbox::is_any_free(c, lease))? {
            true => self.write_one(|c| outbox::lease(c, lease)),
            false => Ok(Vec::new()),
        }
    }

    fn outbox_settle(
        &self,
        which: (&[String], &str, i64),
        delivery: &Delivery,
        answer: &str,
    ) -> Result<usize, StoreError> {
        self.write_one(|c| outbox::settle(c, which, delivery, answer))
    }

    fn outbox_keep_until(&self, now: i64, ends: Option<i64>) -> Result<usize, StoreError> {
        match self.reading(|c| outbox::is_any_kept_otherwise(c, now, ends))? {
            true => self.write_one(|c| outbox::keep_until(c, now, ends)),
            false => Ok(0),
        }
    }

    fn outbox_prune(&self, before: i64) -> Result<usize, StoreError> {
        match self.reading(|c| outbox::is_any_older(c, before))? {
            true => self.write_one(|c| outbox::prune(c, before)),
            false => Ok(0),
        }
    }

    fn outbox(&self, filter: &OutboxFilter) -> Result<Vec<OutboxEntry>, StoreError> {
        self.reading(|c| outbox::list(c, filter))
    }

    fn housekeep(&self) -> Result<(), StoreError> {
        self.ballast.ensure();
        self.reading(log::fold_if_long)?;
        if self.newer.is_none() && log::is_short(&self.path) {
            self.with_turn(|c| log::grow(c, &self.path))?;
        }
        Ok(())
    }

    fn truncate(&self) -> Result<(), StoreError> {
        self.reading(|c| {
            c.busy_timeout(Duration::from_millis(100))?;
            let emptied = log::empty(c);
            c.busy_timeout(self.busy)?;
            emptied
        })
    }

    fn check_in_place(&self) -> Result<(), StoreError> {
        self.identity.check()
    }

    fn ballast_ready(&self) -> bool {
        self.ballast.ready()
    }
}
