//! What every store provides. `memory.rs` and `sqlite.rs` implement it; the engine knows only this trait.

use crate::batch::{Batch, Committed, Request, RequestId};
use crate::entry::{Entry, Head, Position, Tail, UncheckedEntry};
use crate::error::{CommitError, StoreError};
use crate::ledger::{Booked, Totals, WindowUse};
use crate::model::{AccountFilter, AccountRow, IterationRow, RunFilter, RunRow};
use crate::outbox::{Delivery, Lease, OutboxEntry, OutboxFilter};

/// Journal, ledger, inbox, read model and memory behind one door.
///
/// Synchronous on purpose: the loop may not go on before its record is written anyway.
pub trait Store: Send + Sync {
    /// Writes all of the batch, durably, or nothing.
    fn commit(&self, batch: &Batch) -> Result<Committed, CommitError>;

    /// Records of one stream after `after`, in order, each checked against the chain.
    fn read(&self, stream: &str, after: u64) -> Result<Vec<Entry>, StoreError>;
    /// The same, one record after another; whoever takes one has to check it.
    fn each(
        &self,
        stream: &str,
        after: u64,
        each: &mut dyn FnMut(UncheckedEntry<'_>),
    ) -> Result<(), StoreError> {
        self.read(stream, after)?.iter().for_each(|entry| each(entry.into()));
        Ok(())
    }
    /// Newest record of a stream, `None` when it is empty.
    fn head(&self, stream: &str) -> Result<Option<Head>, StoreError>;
    /// At most `limit` records of all streams that begin with `prefix`, after a position: catch up, then ask again from `next`.
    fn since(&self, prefix: &str, after: Position, limit: usize) -> Result<Tail, StoreError>;
    /// Position of the newest record, 0 if there is none.
    fn position(&self) -> Result<Position, StoreError>;
    /// Differs from its last answer when anybody has committed since; cheap enough to poll.
    fn changed(&self) -> Result<u64, StoreError>;
    /// Names of all streams that begin with `prefix`, sorted.
    fn streams(&self, prefix: &str) -> Result<Vec<String>, StoreError>;

    /// Leaves a request for a run; any process may.
    fn ask(&self, run: &str, body: &str, at: i64) -> Result<RequestId, StoreError>;
    /// Requests of a run that nobody has answered, oldest first.
    fn requests(&self, run: &str) -> Result<Vec<Request>, StoreError>;

    /// What a money meter holds.
    fn meter(&self, meter: &str) -> Result<Totals, StoreError>;
    /// What a sliding window of `span` milliseconds holds at `now`.
    fn window(&self, meter: &str, span: i64, now: i64) -> Result<WindowUse, StoreError>;

    /// What is booked for a call; `None` if nothing ever was.
    fn booked(&self, id: &str) -> Result<Option<Booked>, StoreError>;

    /// Runs, newest first.
    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError>;
    /// One run.
    fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError>;
    /// Iterations of a run, in order.
    fn iterations(&self, run: &str) -> Result<Vec<IterationRow>, StoreError>;
    /// All attempts of the latest `most` iterations of a run, in order.
    fn latest_iterations(&self, run: &str, most: u32) -> Result<Vec<IterationRow>, StoreError> {
        let all = self.iterations(run)?;
        let first = all.last().map_or(0, |row| row.n.saturating_sub(most));
        Ok(all.into_iter().filter(|row| row.n > first).collect())
    }
    /// The latest attempt of a run.
    fn latest_iteration(&self, run: &str) -> Result<Option<IterationRow>, StoreError> {
        Ok(self.latest_iterations(run, 1)?.pop())
    }
    /// At most `most` attempts in a workspace that ended with this error, newest first: those of runs that were started
    /// before the run `before`, and none at all if there is no such run.
    fn iterations_with_error(
        &self,
        workspace: &str,
        error: &str,
        before: &str,
        most: u32,
    ) -> Result<Vec<IterationRow>, StoreError>;
    /// Accounts of runs, newest first.
    fn accounts(&self, filter: &AccountFilter) -> Result<Vec<AccountRow>, StoreError>;
    /// A remembered value.
    fn memo(&self, key: &str) -> Result<Option<String>, StoreError>;
    /// Remembered values whose keys begin with `prefix`, sorted by key.
    fn memos(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError>;

    /// Takes the next row of a target that is due and free, with all free ones of the same digest. Nobody else gets them
    /// until the lease ends.
    fn outbox_lease(&self, lease: &Lease<'_>) -> Result<Vec<OutboxEntry>, StoreError>;
    /// Says what became of rows at a moment, and what was answered. Rows that somebody else has leased meanwhile stay as
    /// they are; returns how many were changed.
    fn outbox_settle(
        &self,
        which: (&[String], &str, i64),
        delivery: &Delivery,
        answer: &str,
    ) -> Result<usize, StoreError>;
    /// Rows that are kept for the end of quiet hours and that nobody delivers wait until `ends` from now on, as one
    /// digest of each target; none: they are due now. How many were changed.
    fn outbox_keep_until(&self, now: i64, ends: Option<i64>) -> Result<usize, StoreError>;
    /// Deletes rows that were closed before a moment; one that is to be delivered stays, however old. How many.
    fn outbox_prune(&self, before: i64) -> Result<usize, StoreError>;
    /// Rows of the outbox, with what became of them.
    fn outbox(&self, filter: &OutboxFilter) -> Result<Vec<OutboxEntry>, StoreError>;

    /// Work that may be done while an agent runs, so that no commit has to.
    fn housekeep(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Folds the log away at the end of a run.
    fn truncate(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Asked before every call: is what we write still what others will find?
    fn check_in_place(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Is the reserve for the last records of a full disk in place?
    fn ballast_ready(&self) -> bool {
        true
    }
}
