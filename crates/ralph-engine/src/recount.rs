//! Calls that the database does not know, found by their transcripts: it was restored from an older copy. They are booked
//! from what the transcripts show, so that no budget is too low, and a run that is resumed takes them into its journal
//! (`CallsFound`) instead of making them again.

use crate::clock::utc;
use crate::home::Home;
use crate::journal;
use crate::ledger::{self, LedgerAccounts};
use crate::transcript;
use ralph_agents::Exit;
use ralph_agents::detect::OfflineReader;
use ralph_rules::cost::{Account, cost};
use ralph_rules::estimate;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::prices::Prices;
use ralph_rules::record::{Attempt, CallsFound, Fact, HOUR, Ms, PriceFrom, Record, RunStarted, Seen};
use ralph_store::{Batch, COPY, CommitError, Settle, Store, StoreError};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// How transcripts end.
const TRANSCRIPT: &str = ".out.jsonl";

/// What is needed to price a call.
#[derive(Clone, Copy)]
pub struct Pricing<'a> {
    /// Prices of models.
    pub prices: &'a Prices,
    /// The zone of calendar days, for runs whose own is not known.
    pub zone: &'a str,
}

/// What was booked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recounted {
    /// Calls.
    pub calls: u32,
    /// What they cost.
    pub cost: Micro,
    /// Runs among them that began after the copy: they have no journal, and cannot be resumed.
    pub without_journal: Vec<String>,
}

/// Books the calls since the copy, if the database is a copy that was restored and nobody has done so yet.
pub fn after_restore(
    home: &Home,
    store: &dyn Store,
    pricing: Pricing<'_>,
) -> Result<Option<Recounted>, StoreError> {
    match store.memo(COPY)? {
        Some(_) => recount(home, store, pricing).map(Some),
        None => Ok(None),
    }
}

/// Books every call whose transcript is there and of which the ledger knows nothing.
pub fn recount(home: &Home, store: &dyn Store, pricing: Pricing<'_>) -> Result<Recounted, StoreError> {
    let mut batch = Batch { memo: vec![(COPY.to_owned(), None)], now: utc(), ..Batch::default() };
    let mut done = Recounted::default();
    let folders = std::fs::read_dir(home.dir().join("runs")).into_iter().flatten().flatten();
    for run in folders.filter_map(|folder| folder.file_name().into_string().ok()) {
        let found = unbooked(store, &run, transcripts(&home.run(&run)))?;
        if found.is_empty() {
            continue;
        }
        let start = start_of(store, &run);
        if start.is_none() {
            done.without_journal.push(run.clone());
        }
        for (id, path) in found {
            let call = FoundCall::read(&path, start.as_ref(), pricing);
            done.calls += 1;
            done.cost = done.cost.plus(call.cost);
            batch.settle.push(call.settle(&run, id, start.as_ref(), pricing.zone));
        }
    }
    book(store, &batch)?;
    done.without_journal.sort();
    Ok(done)
}

/// The calls of a run that its journal does not hold, booked if they were not; `None` if there are none.
pub fn found(
    home: &Home,
    store: &dyn Store,
    records: &[Record],
    start: &RunStarted,
    pricing: Pricing<'_>,
) -> Result<Option<CallsFound>, StoreError> {
    let admitted = records.iter().filter_map(|record| match &record.fact {
        Fact::Seen(Seen::Admitted(admitted)) => Some(admitted.id),
        _ => None,
    });
    let known: BTreeSet<Attempt> = admitted.collect();
    let taken = records.iter().filter_map(|record| match &record.fact {
        Fact::Seen(Seen::CallsFound(found)) => Some(found.last),
        _ => None,
    });
    let taken = taken.max().unwrap_or(0);
    let last = known.last().copied().unwrap_or_default();
    let folder = home.run(&start.run);
    if !may_follow(&folder, last.max(Attempt { iteration: taken, attempt: 0 })) {
        return Ok(None);
    }
    let mut batch = Batch { now: utc(), ..Batch::default() };
    let mut all = CallsFound::default();
    for (id, path) in transcripts(&folder) {
        if known.contains(&id) || id.iteration <= taken {
            continue;
        }
        let call = FoundCall::read(&path, Some(start), pricing);
        let settle = call.settle(&start.run, id, Some(start), pricing.zone);
        let booked = store.booked(&settle.id)?.and_then(|booked| booked.actual);
        let day = LedgerAccounts::of(start, call.at).day().to_owned();
        let sum = all.days.entry(day).or_default();
        *sum = sum.plus(booked.map_or(call.cost, Micro));
        all.calls += 1;
        all.last = all.last.max(id.iteration);
        all.usage = all.usage.plus(&call.usage);
        all.unpriced += u32::from(call.unpriced);
        if booked.is_none() {
            batch.settle.push(settle);
        }
    }
    book(store, &batch)?;
    Ok((all.calls > 0).then_some(all))
}

/// One look instead of a list of all files: whether a transcript follows the last known attempt.
fn may_follow(folder: &Path, last: Attempt) -> bool {
    let again = Attempt { attempt: last.attempt + 1, ..last };
    let next = Attempt { iteration: last.iteration + 1, attempt: 1 };
    [again, next].iter().any(|id| folder.join(format!("{id}{TRANSCRIPT}")).exists())
}

/// The transcripts of a run, in order. An agent that said nothing has an empty one, and was paid for all the same.
fn transcripts(folder: &Path) -> Vec<(Attempt, PathBuf)> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Attempt, PathBuf)> = files
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let id = Attempt::of_name(name.strip_suffix(TRANSCRIPT)?)?;
            file.file_type().ok()?.is_file().then(|| (id, file.path()))
        })
        .collect();
    found.sort();
    found
}

fn unbooked(
    store: &dyn Store,
    run: &str,
    found: Vec<(Attempt, PathBuf)>,
) -> Result<Vec<(Attempt, PathBuf)>, StoreError> {
    let mut unknown = Vec::new();
    for (id, path) in found {
        if store.booked(&ledger::call_id(run, id))?.is_none() {
            unknown.push((id, path));
        }
    }
    Ok(unknown)
}

/// What the run was given; none where the database has no journal of it.
fn start_of(store: &dyn Store, run: &str) -> Option<RunStarted> {
    match journal::read(store, run).ok()?.into_iter().next()?.fact {
        Fact::Seen(Seen::RunStarted(start)) => Some(*start),
        _ => None,
    }
}

/// Settlements are never refused, and nothing else is in the batch.
fn book(store: &dyn Store, batch: &Batch) -> Result<(), StoreError> {
    match store.commit(batch) {
        Err(CommitError::Store(error)) => Err(error),
        _ => Ok(()),
    }
}

/// A call as its transcript shows it.
struct FoundCall {
    at: Ms,
    cost: Micro,
    usage: Usage,
    unpriced: bool,
}

impl FoundCall {
    fn read(path: &Path, start: Option<&RunStarted>, pricing: Pricing<'_>) -> FoundCall {
        // With a ladder or a reviewer, more than one agent may have written it: then the output itself says whose it is.
        let alone = start.filter(|start| start.ladder.is_empty() && start.review.is_none());
        let mut reader = OfflineReader::new(alone.map(|start| start.agent.name.as_str()));
        if let Ok(mut kept) = transcript::read_back(path) {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(n @ 1..) = kept.read(&mut buffer) {
                reader.feed(buffer.get(..n).unwrap_or_default());
            }
        }
        let reply = reader.close(Exit { by_us: true, ..Exit::default() });
        let asked = start.and_then(|start| start.agent.model.as_deref());
        let account = Account {
            reported: reply.cost,
            usage: reply.usage,
            models: &reply.models,
            model: reply.model.as_deref().or(asked),
            finished: reply.finished,
            reserved: start.map_or(estimate::DEFAULT, |start| start.policy.estimate),
            ..Account::default()
        };
        let priced = cost(&account, pricing.prices);
        let unpriced = priced.price == PriceFrom::Unpriced;
        FoundCall { at: written_at(path), cost: priced.charged, usage: priced.usage, unpriced }
    }

    fn settle(&self, run: &str, id: Attempt, start: Option<&RunStarted>, zone: &str) -> Settle {
        let accounts = match start {
            Some(start) => LedgerAccounts::of(start, self.at),
            None => LedgerAccounts::new(run, &crate::reset_time::day_of(self.at, zone)),
        };
        let recent = self.at > utc().saturating_sub(HOUR);
        ledger::settle_found(&accounts, id, self.cost, self.usage.total(), recent)
    }
}

/// When a file was written last, UTC.
fn written_at(path: &Path) -> Ms {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| Ms::try_from(since.as_millis()).ok()).unwrap_or_else(utc)
}
