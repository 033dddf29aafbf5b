//! Rebuilds the read model from the journals, which are authoritative: rows that disagree with them are wrong.

use crate::journal::{self, JournalError};
use crate::rows::{Memory, account_row};
use ralph_rules::record::{Fact, Record};
use ralph_rules::state::State;
use ralph_store::{
    AccountFilter, AccountRow, Batch, CommitError, IterationRow, Row, RunRow, Store, StoreError,
};
use std::collections::BTreeMap;

/// Why rows could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// A journal cannot be read.
    #[error("the journal of run {run} cannot be read")]
    Journal {
        /// Whose.
        run: String,
        /// What is wrong with it.
        source: JournalError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rows could not be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// The rows of one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The run's row; none for a journal without a start.
    pub run: Option<RunRow>,
    /// Its attempts.
    pub iterations: Vec<IterationRow>,
    /// Its account; runs of versions before there were accounts have none until they are made anew.
    pub account: Option<AccountRow>,
}

impl Rows {
    /// The rows computed from a run's journal, as of a run that is not active.
    pub fn of(store: &dyn Store, run: &str) -> Result<Rows, RebuildError> {
        let records =
            journal::read(store, run).map_err(|source| RebuildError::Journal { run: run.into(), source })?;
        Ok(Rows::of_records(run, &records))
    }

    /// The same from its records.
    pub fn of_records(run: &str, records: &[Record]) -> Rows {
        let newest = records.last().map_or(0, |record| record.seq);
        let mut state = State::default();
        let mut memory = Memory::new(run);
        let mut attempts = BTreeMap::new();
        let (mut row, mut account) = (None, None);
        for record in records {
            // As when they were written: a fact is known to the state, a decision not yet.
            let decided = matches!(record.fact, Fact::Decided(_));
            if !decided {
                state.apply(record);
            }
            let added = memory.add(&state, record);
            if let Some(row) = memory.attempt().filter(|_| added.attempt) {
                attempts.insert((row.n, row.attempt), row.clone());
            }
            if added.account {
                account = Some(memory.account().clone());
            }
            // Only the last row and the last account are kept, so that a long journal makes each only once.
            if record.seq == newest {
                row = memory.run_row(&state, std::iter::once(record));
            }
            if decided {
                state.apply(record);
            }
        }
        Rows {
            run: row.map(|row| RunRow { pid: None, ..row }),
            iterations: attempts.into_values().collect(),
            account: account.and_then(|account| account_row(&state, &account)),
        }
    }

    /// The rows that are kept now.
    pub fn kept(store: &dyn Store, run: &str) -> Result<Rows, StoreError> {
        let iterations = store.iterations(run)?;
        let filter = AccountFilter { run: Some(run.into()), ..AccountFilter::default() };
        let account = store.accounts(&filter)?.into_iter().next();
        Ok(Rows { run: store.run(run)?.map(|row| RunRow { pid: None, ..row }), iterations, account })
    }
}

/// Writes the rows of every run that disagrees with its journal, apart from those that `busy` names. Says whose.
pub fn rebuild(store: &dyn Store, busy: &dyn Fn(&RunRow) -> bool) -> Result<Vec<String>, RebuildError> {
    let mut repaired = Vec::new();
    for stream in store.streams("run/")? {
        let run = stream.trim_start_matches("run/");
        let made = Rows::of(store, run)?;
        if made.run.as_ref().is_none_or(busy) || made == Rows::kept(store, run)? {
            continue;
        }
        let mut batch = Batch::default();
        batch.rows.extend(made.run.map(|run| Row::Run(Box::new(run))));
        batch.rows.extend(made.iterations.into_iter().map(Row::Iteration));
        batch.rows.extend(made.account.map(Row::Account));
        store.commit(&batch)?;
        repaired.push(run.to_string());
    }
    Ok(repaired)
}
