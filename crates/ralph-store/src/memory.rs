//! The store in memory: same semantics as `sqlite.rs`, a microsecond a commit, for the simulation and for tests.
//! The journal and the read model are here, the money is in `memory/ledger_storage.rs`.

mod ledger_storage;
mod outbox;

use crate::batch::{Batch, Committed, Put, Request, RequestId, Row};
use crate::chain::{Chain, Link};
use crate::entry::{Entry, Head, Position, Tail};
use crate::error::{CommitError, StoreError};
use crate::ledger::{self, Booked, LedgerStorage, Totals, WindowUse};
use crate::model::{AccountFilter, AccountRow, IterationRow, RunFilter, RunRow};
use crate::outbox::{Delivery, Lease, OutboxEntry, OutboxFilter};
use crate::store::Store;
use ledger_storage::MemoryLedger;
use outbox::MemoryOutbox;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A store that lives and dies with its process.
#[derive(Debug, Default)]
pub struct Memory {
    contents: Mutex<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    names: HashMap<String, usize>,
    streams: Vec<Stream>,
    /// For each position, from 1: which stream, and which record of it.
    log: Vec<(usize, usize)>,
    ledger: MemoryLedger,
    inbox: BTreeMap<RequestId, Request>,
    asked: i64,
    runs: BTreeMap<String, RunRow>,
    iterations: BTreeMap<String, BTreeMap<(u32, u32), IterationRow>>,
    accounts: BTreeMap<String, AccountRow>,
    memo: HashMap<String, String>,
    outbox: MemoryOutbox,
    changes: u64,
}

#[derive(Debug, Default)]
struct Stream {
    name: String,
    records: Vec<Record>,
    /// The chain is only worked out when asked for: how far, and its value there.
    chained: Option<(usize, Chain)>,
}

#[derive(Debug)]
struct Record {
    at: i64,
    ran: i64,
    v: u32,
    kind: String,
    body: String,
}

impl Stream {
    fn entry(&self, index: usize, record: &Record) -> Entry {
        let Record { at, ran, v, ref kind, ref body } = *record;
        Entry {
            stream: self.name.clone(),
            seq: number(index + 1),
            at,
            ran,
            v,
            kind: kind.clone(),
            body: body.clone(),
        }
    }

    fn chain(&mut self) -> Chain {
        let (done, mut chain) = self.chained.unwrap_or((0, Chain::start(&self.name)));
        for (index, r) in self.records.iter().enumerate().skip(done) {
            let seq = number(index + 1);
            chain = chain.link(&Link { seq, at: r.at, ran: r.ran, v: r.v, kind: &r.kind, body: &r.body });
        }
        self.chained = Some((self.records.len(), chain));
        chain
    }
}

fn number(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

impl Contents {
    fn stream(&self, name: &str) -> Option<&Stream> {
        self.streams.get(*self.names.get(name)?)
    }

    /// Sorts runs by their first records, newest first.
    fn started_order(&self, run: &str) -> Reverse<Option<usize>> {
        Reverse(self.started(run))
    }

    /// Where a run stands among all, by its first record.
    fn started(&self, run: &str) -> Option<usize> {
        self.names.get(&format!("run/{run}")).copied()
    }

    fn check_heads(&self, puts: &[Put]) -> Result<(), CommitError> {
        for (nth, put) in puts.iter().enumerate() {
            let before = puts.iter().take(nth).filter(|p| p.stream == put.stream).count();
            let head = number(self.stream(&put.stream).map_or(0, |s| s.records.len()) + before);
            if head != put.expect {
                // What the batch itself would have added is not there: report the head that others see.
                let head = head - number(before);
                return Err(CommitError::Conflict { stream: put.stream.clone(), head, expected: put.expect });
            }
        }
        Ok(())
    }

    fn append(&mut self, put: &Put) {
        let at = match self.names.get(put.stream.as_str()) {
            Some(&at) => at,
            None => {
                self.names.insert(put.stream.clone(), self.streams.len());
                self.streams.push(Stream { name: put.stream.clone(), ..Stream::default() });
                self.streams.len() - 1
            }
        };
        if let Some(stream) = self.streams.get_mut(at) {
            self.log.push((at, stream.records.len()));
            let (kind, body) = (put.kind.clone(), put.body.clone());
            stream.records.push(Record { at: put.at, ran: put.ran, v: put.v, kind, body });
        }
    }

    fn keep_row(&mut self, row: &Row) {
        match row {
            Row::Run(run) => {
                self.runs.insert(run.id.clone(), RunRow::clone(run));
            }
            Row::Iteration(it) => {
                let of_run = self.iterations.entry(it.run.clone()).or_default();
                of_run.insert((it.n, it.attempt), it.clone());
            }
            Row::Account(account) => {
                self.accounts.insert(account.run.clone(), account.clone());
            }
        }
    }
}

impl Memory {
    /// An empty store.
    pub fn new() -> Memory {
        Memory::default()
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn commit(&self, batch: &Batch) -> Result<Committed, CommitError> {
        let mut contents = self.lock();
        contents.check_heads(&batch.put)?;
        ledger::note_clock_change(&mut contents.ledger, batch)?;
        contents.ledger.begin();
        let grant = ledger::apply(&mut contents.ledger, batch).inspect_err(|_| contents.ledger.undo())?;
        for put in &batch.put {
            contents.append(put);
        }
        for id in &batch.done {
            contents.inbox.remove(id);
        }
        for row in &batch.rows {
            contents.keep_row(row);
        }
        for (key, value) in &batch.memo {
            match value {
                Some(value) => contents.memo.insert(key.clone(), value.clone()),
                None => contents.memo.remove(key),
            };
        }
        for row in &batch.outbox {
            contents.outbox.add(row);
        }
        contents.changes += u64::from(!batch.is_empty());
        let position = (!batch.put.is_empty()).then(|| number(contents.log.len()));
        Ok(Committed { position, grant })
    }

    fn read(&self, stream: &str, after: u64) -> Result<Vec<Entry>, StoreError> {
        let contents = self.lock();
        let Some(stream) = contents.stream(stream) else { return Ok(Vec::new()) };
        let rest = stream.records.iter().enumerate().skip(index(after));
        Ok(rest.map(|(at, record)| stream.entry(at, record)).collect())
    }

    fn head(&self, stream: &str) -> Result<Option<Head>, StoreError> {
        let mut contents = self.lock();
        let Some(&at) = contents.names.get(stream) else { return Ok(None) };
        let found = contents.streams.get_mut(at);
        Ok(found.map(|s| Head { seq: number(s.records.len()), chain: s.chain() }))
    }

    fn since(&self, prefix: &str, after: Position, limit: usize) -> Result<Tail, StoreError> {
        let contents = self.lock();
        let mut tail = Tail { entries: Vec::new(), next: after.max(number(contents.log.len())) };
        for (at, &(stream, nth)) in contents.log.iter().enumerate().skip(index(after)) {
            let Some(stream) = contents.streams.get(stream).filter(|s| s.name.starts_with(prefix)) else {
                continue;
            };
            let Some(record) = stream.records.get(nth) else { continue };
            if tail.entries.len() == limit {
                tail.next = tail.entries.last().map_or(after, |(position, _)| *position);
                break;
            }
            tail.entries.push((number(at + 1), stream.entry(nth, record)));
        }
        Ok(tail)
    }

    fn position(&self) -> Result<Position, StoreError> {
        Ok(number(self.lock().log.len()))
    }

    fn changed(&self) -> Result<u64, StoreError> {
        Ok(self.lock().changes)
    }

    fn streams(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let contents = self.lock();
        let mut names: Vec<String> =
            contents.names.keys().filter(|n| n.starts_with(prefix)).cloned().collect();
        names.sort();
        Ok(names)
    }

    fn ask(&self, run: &str, body: &str, at: i64) -> Result<RequestId, StoreError> {
        let mut contents = self.lock();
        contents.asked += 1;
        contents.changes += 1;
        let id = RequestId(contents.asked);
        contents.inbox.insert(id, Request { id, run: run.to_owned(), at, body: body.to_owned() });
        Ok(id)
    }

    fn requests(&self, run: &str) -> Result<Vec<Request>, StoreError> {
        Ok(self.lock().inbox.values().filter(|r| r.run == run).cloned().collect())
    }

    fn meter(&self, meter: &str) -> Result<Totals, StoreError> {
        self.lock().ledger.totals(meter)
    }

    fn window(&self, meter: &str, span: i64, now: i64) -> Result<WindowUse, StoreError> {
        ledger::window(&self.lock().ledger, meter, span, now)
    }

    fn booked(&self, id: &str) -> Result<Option<Booked>, StoreError> {
        Ok(self.lock().ledger.hold(id)?.map(|hold| Booked::of(id, hold)))
    }

    fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let contents = self.lock();
        let started_before = filter.before.as_ref().map(|before| contents.started(before));
        let earlier = |r: &RunRow| match started_before {
            None => true,
            Some(limit) => contents.started(&r.id).zip(limit).is_some_and(|(own, limit)| own < limit),
        };
        let wanted = |r: &&RunRow| filter.admits(r) && earlier(r);
        let most = filter.limit.map_or(usize::MAX, |n| index(n.into()));
        let mut runs: Vec<RunRow> = contents.runs.values().rev().filter(wanted).cloned().collect();
        runs.sort_by_key(|run| contents.started_order(&run.id));
        runs.truncate(most);
        Ok(runs)
    }

    fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        Ok(self.lock().runs.get(id).cloned())
    }

    fn iterations(&self, run: &str) -> Result<Vec<IterationRow>, StoreError> {
        let contents = self.lock();
        Ok(contents.iterations.get(run).map(|rows| rows.values().cloned().collect()).unwrap_or_default())
    }

    fn iterations_with_error(
        &self,
        workspace: &str,
        error: &str,
        before: &str,
        most: u32,
    ) -> Result<Vec<IterationRow>, StoreError> {
        let contents = self.lock();
        let limit = contents.started(before);
        let wanted = |run: &str| {
            let here = contents.runs.get(run).is_some_and(|row| row.workspace == workspace);
            here && contents.started(run).zip(limit).is_some_and(|(own, limit)| own < limit)
        };
        let of_runs = contents.iterations.iter().filter(|(run, _)| wanted(run));
        let all = of_runs.flat_map(|(_, rows)| rows.values());
        let mut found: Vec<IterationRow> =
            all.filter(|row| row.error.as_deref() == Some(error)).cloned().collect();
        found.sort_by_key(|row| (contents.started_order(&row.run), Reverse((row.n, row.attempt))));
        found.truncate(index(most.into()));
        Ok(found)
    }

    fn accounts(&self, filter: &AccountFilter) -> Result<Vec<AccountRow>, StoreError> {
        let contents = self.lock();
        let wanted = |a: &&AccountRow| {
            filter.run.as_ref().is_none_or(|run| *run == a.run)
                && filter.workspace.as_ref().is_none_or(|w| *w == a.workspace)
                && filter.key.as_ref().is_none_or(|key| *key == a.key)
                && filter.from.is_none_or(|from| a.started >= from)
                && filter.before.is_none_or(|before| a.started < before)
        };
        let most = filter.limit.map_or(usize::MAX, |n| index(n.into()));
        let mut accounts: Vec<AccountRow> =
            contents.accounts.values().rev().filter(wanted).cloned().collect();
        accounts.sort_by_key(|account| contents.started_order(&account.run));
        accounts.truncate(most);
        Ok(accounts)
    }

    fn memo(&self, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self.lock().memo.get(key).cloned())
    }

    fn memos(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        let contents = self.lock();
        let found = contents.memo.iter().filter(|(key, _)| key.starts_with(prefix));
        let mut found: Vec<_> = found.map(|(key, value)| (key.clone(), value.clone())).collect();
        found.sort();
        Ok(found)
    }

    fn outbox_lease(&self, lease: &Lease<'_>) -> Result<Vec<OutboxEntry>, StoreError> {
        let mut contents = self.lock();
        let leased = contents.outbox.lease(lease);
        contents.changes += u64::from(!leased.is_empty());
        Ok(leased)
    }

    fn outbox_settle(
        &self,
        which: (&[String], &str, i64),
        delivery: &Delivery,
        answer: &str,
    ) -> Result<usize, StoreError> {
        let mut contents = self.lock();
        let changed = contents.outbox.settle(which, delivery, answer);
        contents.changes += u64::from(changed > 0);
        Ok(changed)
    }

    fn outbox_keep_until(&self, now: i64, ends: Option<i64>) -> Result<usize, StoreError> {
        let mut contents = self.lock();
        let changed = contents.outbox.keep_until(now, ends);
        contents.changes += u64::from(changed > 0);
        Ok(changed)
    }

    fn outbox_prune(&self, before: i64) -> Result<usize, StoreError> {
        let mut contents = self.lock();
        let deleted = contents.outbox.prune(before);
        contents.changes += u64::from(deleted > 0);
        Ok(deleted)
    }

    fn outbox(&self, filter: &OutboxFilter) -> Result<Vec<OutboxEntry>, StoreError> {
        Ok(self.lock().outbox.list(filter))
    }
}
