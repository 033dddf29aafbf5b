//! The store behind a plug that can be pulled: before a commit (nothing was written) or after it (all was written,
//! but the process never learned of it). It also checks that no grant passes a cap.

use super::dice::Dice;
use ralph_store::{
    AccountFilter, AccountRow, Batch, Booked, CommitError, Committed, Delivery, Entry, Head, IterationRow,
    Lease, Limit, Memory, OutboxEntry, OutboxFilter, Position, Request, RequestId, Row, RunFilter, RunRow,
    Store, StoreError, Tail, Totals, WindowUse,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What a row counts for.
const ROW: usize = 100;

/// A memory store with power cuts.
pub struct Power {
    pub store: Memory,
    plug: Mutex<Plug>,
    work: AtomicUsize,
}

struct Plug {
    dice: Dice,
    one_in: u64,
    cuts: u64,
}

impl Power {
    /// One commit in `one_in` loses power; 0 is a steady supply.
    pub fn new(dice: Dice, one_in: u64) -> Power {
        let plug = Mutex::new(Plug { dice, one_in, cuts: 0 });
        Power { store: Memory::new(), plug, work: AtomicUsize::new(0) }
    }

    /// What the store was given and asked for so far: bytes written, and what was read at a hundred bytes a row.
    pub fn work(&self) -> usize {
        self.work.load(Ordering::Relaxed)
    }

    fn wrote(&self, batch: &Batch) {
        let row = |row: &Row| match row {
            Row::Account(account) => account.body.len(),
            Row::Run(_) | Row::Iteration(_) => ROW,
        };
        let memo =
            |(key, value): &(String, Option<String>)| key.len() + value.as_ref().map_or(0, String::len);
        let bytes: usize = batch.put.iter().map(|put| put.body.len()).sum::<usize>()
            + batch.rows.iter().map(row).sum::<usize>()
            + batch.memo.iter().map(memo).sum::<usize>();
        self.work.fetch_add(bytes, Ordering::Relaxed);
    }

    fn counted<T>(&self, rows: Result<Vec<T>, StoreError>) -> Result<Vec<T>, StoreError> {
        let read = rows.as_ref().map_or(0, Vec::len);
        self.work.fetch_add(read * ROW, Ordering::Relaxed);
        rows
    }

    /// No more cuts.
    pub fn steady(&self) {
        self.plug.lock().unwrap().one_in = 0;
    }

    pub fn cuts(&self) -> u64 {
        self.plug.lock().unwrap().cuts
    }

    fn cut(&self) -> Option<bool> {
        let mut plug = self.plug.lock().unwrap();
        let one_in = plug.one_in;
        if !plug.dice.one_in(one_in) {
            return None;
        }
        plug.cuts += 1;
        Some(plug.dice.one_in(2))
    }

    /// What the money meters of a reservation hold, with their caps.
    fn held(&self, batch: &Batch) -> Vec<(i64, i64)> {
        let against = batch.reserve.iter().flat_map(|r| &r.against);
        let totals = against.filter_map(|limit| match limit {
            Limit::Total { meter, cap } => {
                Some((self.store.meter(meter).unwrap().total(), cap.unwrap_or(i64::MAX)))
            }
            Limit::Window { .. } => None,
        });
        totals.collect()
    }
}

fn gone() -> CommitError {
    CommitError::Store(StoreError::Busy { waited: Duration::ZERO })
}

impl Store for Power {
    fn commit(&self, batch: &Batch) -> Result<Committed, CommitError> {
        let cut = self.cut();
        if cut == Some(false) {
            return Err(gone());
        }
        let before = self.held(batch);
        let done = self.store.commit(batch)?;
        self.wrote(batch);
        for ((was, _), (is, cap)) in before.iter().zip(self.held(batch)) {
            assert!(is <= *was || is <= cap, "a grant passed its cap: {is} of {cap} in {:?}", batch.reserve);
        }
        if cut.is_some() { Err(gone()) } else { Ok(done) }
    }

    fn read(&self, stream: &str, after: u64) -> Result<Vec<Entry>, StoreError> {
        self.counted(self.store.read(stream, after))
    }
    fn head(&self, stream: &str) -> Result<Option<Head>, StoreError> {
        self.store.head(stream)
    }
    fn since(&self, prefix: &str, after: Position, limit: usize) -> Result<Tail, StoreError> {
        self.store.since(prefix, after, limit)
    }
    fn position(&self) -> Result<Position, StoreError> {
        self.store.position()
    }
    fn changed(&self) -> Result<u64, StoreError> {
        self.store.changed()
    }
    fn streams(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.counted(self.store.streams(prefix))
    }
    fn ask(&self, run: &str, body: &str, at: i64) -> Result<RequestId, StoreError> {
        self.store.ask(run, body, at)
    }
    fn requests(&self, run: &str) -> Result<Vec<Request>, StoreError> {
        self.counted(self.store.requests(run))
    }
    fn meter(&self, meter: &str) -> Result<Totals, StoreError> {
        self.store.meter(meter)
    }
    fn window(&self, meter: &str, span: i64, now: i64) -> Result<WindowUse, StoreError> {
        self.store.window(meter, span, now)
    }
    fn booked(&self, id: &str) -> Result<Option<Booked>, StoreError> {
        self.store.booked(id)
    }
    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        self.counted(self.store.runs(filter))
    }
    fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        self.store.run(id)
    }
    fn iterations(&self, run: &str) -> Result<Vec<IterationRow>, StoreError> {
        self.counted(self.store.iterations(run))
    }
    fn iterations_with_error(
        &self,
        workspace: &str,
        error: &str,
        before: &str,
        most: u32,
    ) -> Result<Vec<IterationRow>, StoreError> {
        self.store.iterations_with_error(workspace, error, before, most)
    }
    fn outbox_lease(&self, lease: &Lease<'_>) -> Result<Vec<OutboxEntry>, StoreError> {
        self.store.outbox_lease(lease)
    }
    fn outbox_settle(
        &self,
        which: (&[String], &str, i64),
        delivery: &Delivery,
        answer: &str,
    ) -> Result<usize, StoreError> {
        self.store.outbox_settle(which, delivery, answer)
    }
    fn outbox_keep_until(&self, now: i64, ends: Option<i64>) -> Result<usize, StoreError> {
        self.store.outbox_keep_until(now, ends)
    }
    fn outbox_prune(&self, before: i64) -> Result<usize, StoreError> {
        self.store.outbox_prune(before)
    }
    fn outbox(&self, filter: &OutboxFilter) -> Result<Vec<OutboxEntry>, StoreError> {
        self.counted(self.store.outbox(filter))
    }
    fn accounts(&self, filter: &AccountFilter) -> Result<Vec<AccountRow>, StoreError> {
        self.counted(self.store.accounts(filter))
    }
    fn memo(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.store.memo(key)
    }
    fn memos(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.store.memos(prefix)
    }
}
