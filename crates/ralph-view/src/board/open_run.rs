//! One run that is open: its journal folded, its process looked at, its call under way followed.

use super::BoardSettings;
use super::news::{Doing, RunActivity, ShownCall};
use crate::activity_line::ActivityLine;
use crate::call_tail::{CallSource, CallTail};
use crate::plain::plain;
use crate::run_lines::RunLines;
use crate::run_state::state_of_row;
use crate::style::Style;
use ralph_engine::home::Home;
use ralph_engine::journal::record_of;
use ralph_engine::run::stream_of;
use ralph_engine::run_state::RunState;
use ralph_rules::record::{Attempt, Ms};
use ralph_rules::state::Phase;
use ralph_store::{Entry, RunRow, Store, StoreError};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Lines of the call under way that are kept.
const KEPT: usize = 200;

/// A run that is open.
pub(super) struct OpenRun {
    row: RunRow,
    /// The words for what is under way; the fold of the journal.
    lines: RunLines,
    /// The newest record that was folded.
    seen: u64,
    /// As it was when its process was looked at last.
    state: Option<RunState>,
    /// The call under way, or the one before.
    call: Option<FollowedCall>,
}

/// A call whose transcript is followed.
struct FollowedCall {
    of: ShownCall,
    tail: CallTail,
    /// The latest of its lines.
    lines: VecDeque<ActivityLine>,
    /// It ended: its last lines were read.
    ended: bool,
}

impl OpenRun {
    /// Reads its journal.
    pub(super) fn read(store: &dyn Store, home: &Home, row: RunRow) -> Result<OpenRun, StoreError> {
        let lines = RunLines::new(&[], Style::default()).of_another_process();
        let mut open = OpenRun { row, lines, seen: 0, state: None, call: None };
        for entry in store.read(&stream_of(&open.row.id), 0)? {
            open.fold(&entry);
        }
        open.state = Some(state_of_row(&open.row, home));
        Ok(open)
    }

    pub(super) fn id(&self) -> &str {
        &self.row.id
    }

    /// One more record, and the row as it is now.
    pub(super) fn record(&mut self, entry: &Entry, row: RunRow) {
        self.row = row;
        self.fold(entry);
    }

    /// A record that was folded before is passed over. One of a newer ralph leaves the fold behind: the row still says what
    /// there is to say.
    fn fold(&mut self, entry: &Entry) {
        if entry.seq <= self.seen {
            return;
        }
        self.seen = entry.seq;
        if let Ok(record) = record_of(entry) {
            self.lines.record(&record, record.at);
        }
    }

    /// Nobody works on it any more.
    pub(super) fn is_gone(&self) -> bool {
        self.state.is_some_and(|state| !state.is_open())
    }

    /// Looks at its process; whether its state changed since the last time.
    pub(super) fn look(&mut self, home: &Home) -> bool {
        let state = Some(state_of_row(&self.row, home));
        std::mem::replace(&mut self.state, state) != state
    }

    /// The record that ended it.
    pub(super) fn record_ending(&mut self, entry: &Entry) {
        self.fold(entry);
    }

    /// What the agent said and did since the last time.
    pub(super) fn activity(&mut self, home: &Home, settings: &BoardSettings, now: Ms) -> Option<RunActivity> {
        self.lines.tick(now);
        if !self.is_calling() {
            return self.ended_call();
        }
        let id = self.lines.state().calls.id;
        if self.call.as_ref().is_none_or(|call| call.of.id != id || call.ended) {
            self.call = self.follow(&home.run(&self.row.id), id, settings);
        }
        let new = self.call.as_mut()?.tail.read();
        self.activity_of(new)
    }

    /// The last lines of a call that was followed and is over.
    pub(super) fn ended_call(&mut self) -> Option<RunActivity> {
        let (calling, id) = (self.is_calling(), self.lines.state().calls.id);
        let call = self.call.as_mut().filter(|call| !call.ended && (!calling || call.of.id != id))?;
        call.ended = true;
        let new = call.tail.end();
        self.activity_of(new)
    }

    fn is_calling(&self) -> bool {
        matches!(self.lines.state().phase, Phase::Calling { .. } | Phase::Ending)
    }

    /// Keeps new lines and says what there is to say about them.
    fn activity_of(&mut self, lines: Vec<ActivityLine>) -> Option<RunActivity> {
        let call = self.call.as_mut().filter(|_| !lines.is_empty())?;
        call.keep(&lines);
        let (call, live_micro) = (call.of, call.tail.live_micro());
        Some(RunActivity { run: self.row.id.clone(), call, lines, doing: self.doing(), live_micro })
    }

    fn follow(&self, folder: &Path, id: Attempt, settings: &BoardSettings) -> Option<FollowedCall> {
        let state = self.lines.state();
        let start = state.start.as_deref()?;
        let redactor = Arc::new(settings.redactor.of(Path::new(&start.workspace)));
        let (agent, workspace) = (state.caller(start), start.workspace.as_str());
        let prices = &settings.prices;
        let source = CallSource { folder, id, agent, workspace, prices, redactor: &redactor };
        let of = ShownCall { id, review: state.reviews.under_way() };
        Some(FollowedCall { of, tail: CallTail::open(&source), lines: VecDeque::new(), ended: false })
    }

    /// Micro-dollars seen in the call under way, where they can be told.
    pub(super) fn live_micro(&self) -> Option<i64> {
        self.call.as_ref().filter(|call| !call.ended).and_then(|call| call.tail.live_micro())
    }

    /// The latest lines of the call under way, or of the one before.
    pub(super) fn lines(&self) -> Vec<ActivityLine> {
        self.call.iter().flat_map(|call| call.lines.iter().cloned()).collect()
    }

    /// The call that these lines are of.
    pub(super) fn shown_call(&self) -> Option<ShownCall> {
        self.call.as_ref().map(|call| call.of)
    }

    /// What is done now: by the agent, or by ralph between two calls.
    pub(super) fn doing(&self) -> Option<Doing> {
        let by_agent = self.call.as_ref().filter(|call| !call.ended).and_then(|call| call.tail.doing());
        by_agent.or_else(|| {
            let text = self.lines.doing();
            (!text.is_empty()).then(|| Doing { text: plain(text), since: Some(self.lines.since()) })
        })
    }
}

impl FollowedCall {
    /// Keeps the latest lines; a tool that ended replaces its line.
    fn keep(&mut self, new: &[ActivityLine]) {
        for line in new {
            match self.lines.iter_mut().rev().find(|known| known.n == line.n) {
                Some(known) => known.clone_from(line),
                None => self.lines.push_back(line.clone()),
            }
        }
        let over = self.lines.len().saturating_sub(KEPT);
        self.lines.drain(..over);
    }
}
