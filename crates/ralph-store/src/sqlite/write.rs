//! The one writing transaction: wait in the queue, BEGIN IMMEDIATE, write, commit. On a full disk the ballast is released
//! and the write tried once more.

use super::ledger_storage::SqlLedger;
use super::{Database, explain, inbox, journal, open, outbox, rows, schema, write_queue};
use crate::batch::{Batch, Committed};
use crate::disk::disk_free;
use crate::error::{BackendErrorKind, CommitError, StoreError};
use crate::ledger;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::convert::Infallible;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What a transaction's work says: `Ok(Err(_))` is an answer that must leave no trace.
type Answer<T, N> = Result<Result<T, N>, StoreError>;

impl Database {
    pub(super) fn commit_batch(&self, batch: &Batch) -> Result<Committed, CommitError> {
        let answer = self.write(|tx| match apply(tx, batch) {
            Ok(done) => Ok(Ok(done)),
            Err(CommitError::Store(e)) => Err(e),
            Err(no) => Ok(Err(no)),
        })?;
        if let Err(CommitError::Refused(_)) = answer {
            self.remember_the_clock(batch)?;
        }
        answer
    }

    /// A refusal is rolled back, but a clock set back must still be noted, or the window would stay full for the length of the jump.
    fn remember_the_clock(&self, batch: &Batch) -> Result<(), StoreError> {
        self.write(|tx| {
            let moved = ledger::note_clock_change(&mut SqlLedger(tx), batch)?;
            Ok(if moved > 0 { Ok(()) } else { Err(()) })
        })
        .map(|_| ())
    }

    /// A write that nothing but the store itself can refuse.
    pub(super) fn write_one<T>(
        &self,
        f: impl Fn(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Ok(done) = self.write(|tx| Ok(Ok::<T, Infallible>(f(tx)?)))?;
        Ok(done)
    }

    /// An error if a newer ralph wrote the file, because this one may only read it.
    pub fn refuse_newer(&self) -> Result<(), StoreError> {
        let known = schema::newest(schema::STEPS);
        self.newer.map_or(Ok(()), |found| Err(StoreError::Newer { found, known }))
    }

    fn write<T, N>(&self, f: impl Fn(&Transaction<'_>) -> Answer<T, N>) -> Answer<T, N> {
        self.refuse_newer()?;
        let answer = self.with_turn(|connection| match attempt(connection, &f) {
            Err(e) if self.needs_room(&e) && self.ballast.release() => attempt(connection, &f),
            other => other,
        })?;
        // Only now is it sure that what was synced is what others will find under this name.
        self.identity.check()?;
        self.commits.fetch_add(u64::from(answer.is_ok()), Ordering::Relaxed);
        Ok(answer)
    }

    /// Runs `f` on the writing connection when it is our turn among all processes.
    pub(super) fn with_turn<T>(
        &self,
        f: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *slot {
            Some(connection) => connection,
            None => {
                self.identity.check()?;
                slot.insert(open::connect(&self.path, false, open::BUSY_LIMIT).map_err(|e| self.explain(e))?)
            }
        };
        let _turn = self.queue.enter(write_queue::QUEUE_WAIT);
        f(connection).map_err(|e| self.explain(e))
    }

    fn needs_room(&self, error: &StoreError) -> bool {
        let StoreError::Backend(error) = error else { return false };
        let nearly_full = || disk_free(&self.path).is_ok_and(|room| room.free < self.ballast.size());
        match error.kind {
            BackendErrorKind::Full => true,
            BackendErrorKind::Io => nearly_full(),
            _ => false,
        }
    }
}

fn attempt<T, N>(c: &mut Connection, f: &impl Fn(&Transaction<'_>) -> Answer<T, N>) -> Answer<T, N> {
    let began = Instant::now();
    // SQLite's busy handler waits by itself; some kinds of "busy" come back at once and are asked again here.
    let tx = loop {
        match Transaction::new_unchecked(c, TransactionBehavior::Immediate) {
            Err(e) if explain::is_busy(&e) && began.elapsed() < open::BUSY_LIMIT => {
                std::thread::sleep(Duration::from_millis(2));
            }
            begun => break begun?,
        }
    };
    let answer = f(&tx)?;
    if answer.is_ok() {
        tx.commit()?;
    }
    Ok(answer)
}

fn apply(tx: &Transaction<'_>, batch: &Batch) -> Result<Committed, CommitError> {
    let position = journal::append(tx, &batch.put)?;
    ledger::note_clock_change(&mut SqlLedger(tx), batch)?;
    let grant = ledger::apply(&mut SqlLedger(tx), batch)?;
    inbox::done(tx, &batch.done)?;
    rows::keep(tx, &batch.rows)?;
    rows::remember(tx, &batch.memo)?;
    outbox::add(tx, &batch.outbox)?;
    Ok(Committed { position, grant })
}
