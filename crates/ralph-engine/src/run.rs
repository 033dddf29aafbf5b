//! A run in memory and on disk, kept in step: an observation and the decision that follows it go into one durable
//! commit. Only a journal that cannot be written ends a run abruptly.

use crate::circuit;
use crate::event_source::EventSource;
use crate::ledger::{self, LedgerAccounts};
use crate::notes::NoteMaker;
use crate::observation::Observation;
use crate::provider;
use crate::redact::Redactor;
use crate::rows;
use crate::session::Handover;
use crate::watch::Watchers;
use crate::world::World;
use ralph_rules::ending::Ending;
use ralph_rules::next::Next;
use ralph_rules::objection::Objection;
use ralph_rules::record::{Decision, Envelope, Fact, Record, Refuser, Seen};
use ralph_rules::state::State;
use ralph_store::{Batch, CommitError, Put, Store, StoreError};
use std::sync::Arc;

/// Why the journal cannot be written. Everything up to the last commit is safe.
#[derive(Debug, thiserror::Error)]
pub enum Unwritable {
    /// The store failed.
    #[error("the journal cannot be written, so the run stops here")]
    Store(#[source] StoreError),
    /// Another process writes to this run.
    #[error("another process writes to this run, so this one stops: {0}")]
    Conflict(String),
}

/// Why this process is done with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// It ended.
    Ended(Ending),
    /// A session that somebody else started has the call now: its hook continues the run.
    HandedOver(Handover),
}

/// A run that is being driven.
pub struct Run<'a> {
    /// Its current state.
    pub state: State,
    /// Starts steps.
    pub world: Box<dyn World + 'a>,
    /// Delivers observations.
    pub events: Box<dyn EventSource + 'a>,
    store: &'a dyn Store,
    stream: String,
    watchers: Watchers,
    redactor: Option<Arc<Redactor>>,
    notes: Option<Arc<dyn NoteMaker>>,
    pending: Option<Pending>,
    memory: rows::Memory,
    last_reasons: Vec<Objection>,
}

/// An observation that is applied to the state but not on disk yet: it is written with the decision that follows.
struct Pending {
    record: Record,
    observation: Observation,
    /// What was before it, kept if the ledger may still refuse it.
    before: Option<Before>,
}

/// A run before an observation.
struct Before {
    state: State,
    memory: rows::Memory,
}

impl<'a> Run<'a> {
    /// A run at this state; its next record follows the state's last one.
    pub fn new(
        id: &str,
        state: State,
        store: &'a dyn Store,
        world: Box<dyn World + 'a>,
        events: Box<dyn EventSource + 'a>,
        watchers: Watchers,
    ) -> Run<'a> {
        let stream = stream_of(id);
        let memory = rows::Memory::of(id, store);
        let (pending, redactor, notes, last_reasons) = (None, None, None, Vec::new());
        Run { state, world, events, store, stream, watchers, redactor, notes, pending, memory, last_reasons }
    }

    /// Removes secrets from facts before they are applied and written. Decisions follow from the redacted facts, so a
    /// replay of the journal decides the same.
    pub fn redacting(self, redactor: Arc<Redactor>) -> Run<'a> {
        Run { redactor: Some(redactor), ..self }
    }

    /// Leaves notes in the outbox, each in the commit of its record.
    pub fn noting(self, notes: Option<Arc<dyn NoteMaker>>) -> Run<'a> {
        Run { notes, ..self }
    }

    /// Applies an observation to the state. It goes to disk with the decision that follows.
    pub fn note(&mut self, mut observation: Observation) {
        if let Some(redactor) = &self.redactor {
            observation.seen = redactor.fact(observation.seen);
        }
        self.add_day_spend(&mut observation);
        let before = observation
            .reserve
            .is_some()
            .then(|| Before { state: self.state.clone(), memory: self.memory.clone() });
        let record = self.record(Fact::Seen(observation.seen.clone()));
        self.state.apply(&record);
        self.pending = Some(Pending { record, observation, before });
    }

    /// Adds to an ended call what all runs have spent that day.
    fn add_day_spend(&self, observation: &mut Observation) {
        if let Seen::CallEnded(call) = &mut observation.seen {
            let accounts = LedgerAccounts::of_call(&self.state);
            call.day = accounts.and_then(|b| b.spend(self.store, self.state.budget.reserved, call.charged));
        }
    }

    /// Writes the pending fact and this decision in one commit. False if a reservation was refused: ask the rules again.
    pub fn decide(&mut self, decision: &Decision) -> Result<bool, Unwritable> {
        let record = self.record(Fact::Decided(decision.clone()));
        if !self.write(Some(&record))? {
            return Ok(false);
        }
        self.state.apply(&record);
        self.watchers.record(&record);
        self.last_reasons.clone_from(&decision.reasons);
        Ok(true)
    }

    /// Writes the pending fact alone. False if a reservation was refused: ask the rules again.
    pub fn flush(&mut self) -> Result<bool, Unwritable> {
        if self.pending.is_none() {
            return Ok(true);
        }
        self.write(None)
    }

    /// The final state and the reasons of the last decision. Drops world, event source and watchers.
    pub fn finish(self) -> (State, Vec<Objection>) {
        (self.state, self.last_reasons)
    }

    fn write(&mut self, decided: Option<&Record>) -> Result<bool, Unwritable> {
        let pending = self.pending.take();
        let batch = self.batch(pending.as_ref(), decided);
        let began = std::time::Instant::now();
        match self.store.commit(&batch) {
            Ok(_) => {
                tracing::debug!(records = batch.put.len(), took = ?began.elapsed(), "committed");
                if let Some(pending) = pending {
                    self.world.kept(&pending.observation.seen);
                    self.watchers.record(&pending.record);
                }
                Ok(true)
            }
            Err(CommitError::Refused(refusal)) => {
                tracing::debug!(?refusal, "the ledger refused the reservation");
                self.take_back(pending, &refusal);
                Ok(false)
            }
            Err(CommitError::Conflict { stream, head, .. }) => {
                Err(Unwritable::Conflict(format!("{stream} is at record {head}")))
            }
            Err(CommitError::Store(error)) => Err(Unwritable::Store(error)),
        }
    }

    /// The ledger refused a reservation: the pending grant becomes a refusal.
    fn take_back(&mut self, pending: Option<Pending>, refusal: &ralph_store::Refusal) {
        let Some(Pending { before: Some(before), .. }) = pending else { return };
        // The rows of what was granted go with it: its call never began.
        (self.state, self.memory) = (before.state, before.memory);
        let refused = ledger::refused(refusal);
        let tried = (refused.by == Refuser::Provider).then(|| self.events.now().0);
        let tried = tried.and_then(|now| provider::tried_elsewhere(self.store, &self.state, now));
        self.note(Seen::Refused(tried.unwrap_or(refused)).into());
    }

    fn record(&self, fact: Fact) -> Record {
        let (at, ran) = self.events.now();
        Record { seq: self.state.seq + 1, at: at.max(self.state.at), ran: ran.max(self.state.ran), fact }
    }

    fn batch(&mut self, pending: Option<&Pending>, decided: Option<&Record>) -> Batch {
        let records = pending.map(|p| &p.record).into_iter().chain(decided);
        let mut batch = Batch { now: self.events.now().0, ..Batch::default() };
        for record in records.clone() {
            batch.put.push(put(&self.stream, record));
        }
        if let Some(Pending { observation, .. }) = pending {
            batch.reserve.clone_from(&observation.reserve);
            batch.settle.extend(observation.settle.clone());
            batch.done.extend(&observation.done);
            batch.memo.extend(provider::memos(self.store, &self.state, &observation.seen));
        }
        if let Some(record) = decided
            && let Fact::Decided(Decision { next: Next::Exit(ending), reasons }) = &record.fact
        {
            batch.settle.extend(ledger::unused(&self.state));
            let mut after = self.state.clone();
            after.apply(record);
            batch.memo.extend(circuit::memos(self.store, &after, *ending, reasons));
        }
        if let Some(notes) = &self.notes {
            batch.outbox = records.clone().flat_map(|record| notes.rows(&self.state, record)).collect();
        }
        batch.rows = self.memory.rows(&self.state, records);
        batch
    }
}

/// The journal's stream of a run.
pub fn stream_of(id: &str) -> String {
    format!("run/{id}")
}

/// A record as the store keeps it.
pub fn put(stream: &str, record: &Record) -> Put {
    let Envelope { seq, at, ran, v, kind, body } = Envelope::from(record);
    Put { stream: stream.into(), expect: seq - 1, at, ran, v, kind, body: body.to_string() }
}
