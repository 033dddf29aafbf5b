//! What the call under way of a run has spent so far, read once from its transcript: a record has it only when the
//! reservation may be exceeded. The board follows the transcript instead (`board/open_run.rs`).

use crate::call_tail::{CallSource, CallTail};
use crate::run_state::RunState;
use ralph_engine::home::Home;
use ralph_engine::journal;
use ralph_engine::redact::Redactor;
use ralph_rules::prices::Prices;
use ralph_rules::state::{Phase, State};
use ralph_store::{RunRow, Store};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A longer journal is not folded for it: that takes longer than a list may.
const RECORDS: u64 = 10_000;
/// How long the transcripts of all runs of a command may be read.
const READING: Duration = Duration::from_millis(200);

/// Reads what calls have spent so far, within a bounded time.
pub struct LiveSpend<'a> {
    home: &'a Home,
    prices: &'a Prices,
    redactor: Arc<Redactor>,
    until: Instant,
}

impl<'a> LiveSpend<'a> {
    /// For the runs of this home; the time begins now.
    pub fn new(home: &'a Home, prices: &'a Prices) -> LiveSpend<'a> {
        // Nothing of the text is shown.
        let redactor = Arc::new(Redactor::new(std::iter::empty::<(&str, &str)>()));
        LiveSpend { home, prices, redactor, until: Instant::now() + READING }
    }

    /// Whether a row is of a run that may have a call under way.
    pub fn may_call(row: &RunRow) -> bool {
        row.exit_code.is_none() && RunState::named(&row.status).is_some_and(RunState::is_open)
    }

    /// The row with what the transcript tells.
    pub fn of_row(&self, row: RunRow, store: &dyn Store) -> RunRow {
        if !LiveSpend::may_call(&row) || row.head > RECORDS || Instant::now() > self.until {
            return row;
        }
        match journal::read(store, &row.id) {
            Ok(records) => self.of_state(row, &State::of(&records)),
            Err(_) => row,
        }
    }

    /// The same where the journal was folded already.
    pub fn of_state(&self, row: RunRow, state: &State) -> RunRow {
        let calling = matches!(state.phase, Phase::Calling { .. } | Phase::Ending);
        let Some(start) = state.start.as_deref().filter(|_| calling && LiveSpend::may_call(&row)) else {
            return row;
        };
        let mut tail = CallTail::open(&CallSource {
            folder: &self.home.run(&row.id),
            id: state.calls.id,
            agent: state.caller(start),
            workspace: &start.workspace,
            prices: self.prices,
            redactor: &self.redactor,
        });
        while !tail.read().is_empty() && Instant::now() < self.until {}
        let live_micro = row.live_micro.max(tail.live_micro().unwrap_or(0));
        RunRow { live_micro, ..row }
    }
}
