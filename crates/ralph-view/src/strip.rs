//! The strip: a run as a row of bars, one an iteration. Height is cost, fill is what came of it, dots are what is left, a
//! line is the number of failing tests. Every screen draws it from the same data.

use crate::fact_text::money;
use crate::run_state::RunState;
use ralph_rules::ending::{Reason, Status};
use ralph_rules::failure::{Class, Reaction};
use ralph_rules::grade::Grade;
use ralph_store::{IterationRow, RunRow};
use serde::Serialize;

/// Bars on a card.
pub const CARD_BARS: u32 = 14;
/// Bars of one run in depth.
pub const RUN_BARS: u32 = 100;

/// Failures of a call that was ended from outside, as rows name them: an agent may say nothing more, or something unknown.
const CUT_OFF: [&str; 2] = ["aborted", "unknown"];

/// What came of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BarOutcome {
    /// It changed files, and the work is not done yet. A failed verification is how the loop works, not a failure.
    Worked,
    /// It brought the files to no new state.
    NothingNew,
    /// The run ended with it, and its work was shown by experiment.
    Proven,
    /// The call failed other than by a limit that is waited for, or the run ended with it because of what it did.
    Wrong,
    /// A person stopped the run during it.
    Stopped,
    /// Its call, inspection or verification is open.
    UnderWay,
}

impl BarOutcome {
    /// Every outcome, in the order of a legend.
    pub const ALL: [BarOutcome; 6] = [
        BarOutcome::Worked,
        BarOutcome::NothingNew,
        BarOutcome::Proven,
        BarOutcome::Wrong,
        BarOutcome::Stopped,
        BarOutcome::UnderWay,
    ];

    /// What a legend says.
    pub fn words(self) -> &'static str {
        match self {
            BarOutcome::Worked => "worked",
            BarOutcome::NothingNew => "nothing new",
            BarOutcome::Proven => "proven",
            BarOutcome::Wrong => "went wrong",
            BarOutcome::Stopped => "stopped",
            BarOutcome::UnderWay => "under way",
        }
    }
}

/// One iteration, its attempts together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// Number of the iteration, from 1.
    pub n: u32,
    /// What came of it.
    pub outcome: BarOutcome,
    /// Micro-dollars; of one under way, what was seen so far; of one that was cut off, what was reserved for it.
    pub cost_micro: i64,
    /// The cost is not, or not wholly, known.
    pub cost_unknown: bool,
    /// When its first attempt began, UTC milliseconds.
    pub at: i64,
    /// How long its calls took.
    pub ms: i64,
    /// Files changed.
    pub files: u32,
    /// Failing tests after it, where they could be counted.
    pub failing: Option<u32>,
    /// Rung of the ladder that worked, from 0.
    pub rung: u32,
    /// Calls it took.
    pub attempts: u32,
}

/// A run's bars.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Strip {
    /// Oldest first, the latest ones.
    pub bars: Vec<Bar>,
    /// Iterations before those.
    pub earlier: u32,
    /// Iterations that are left; 0 once the run ended.
    pub left: u32,
    /// The highest bar, in micro-dollars.
    pub most_micro: i64,
    /// Failing tests before the first call, where they could be counted.
    pub failing_before: Option<u32>,
}

impl Strip {
    /// The bars of a run from its latest rows. `is_open`: the run has neither ended nor crashed.
    pub fn of(run: &RunRow, rows: &[IterationRow], is_open: bool) -> Strip {
        let mut bars: Vec<Bar> = Vec::new();
        for row in rows {
            let is_last = rows.last().is_some_and(|last| last.n == row.n);
            let bar = one_bar(run, row, is_last, is_open);
            match bars.last_mut().filter(|before| before.n == row.n) {
                Some(before) => before.add_attempt(&bar),
                None => bars.push(bar),
            }
        }
        let last = bars.last().map_or(0, |bar| bar.n);
        let earlier = bars.first().map_or(0, |bar| bar.n.saturating_sub(1));
        let left = if is_open { run.max_iterations.saturating_sub(last) } else { 0 };
        let most_micro = bars.iter().map(|bar| bar.cost_micro).max().unwrap_or(0);
        Strip { bars, earlier, left, most_micro, failing_before: run.failing_before }
    }

    /// The call of the last bar was cut off: it counts as its reservation, as in `ralph list`. Nobody knows what it cost.
    pub(crate) fn cut_off(&mut self, reserved: i64) {
        let Some(last) = self.bars.last_mut() else { return };
        last.cost_micro = last.cost_micro.saturating_add(reserved);
        last.cost_unknown = true;
        self.most_micro = self.most_micro.max(last.cost_micro);
    }

    /// Failing tests from before the run to now, where they were counted.
    pub fn failing(&self) -> Vec<u32> {
        let before = self.failing_before.filter(|_| self.earlier == 0);
        before.into_iter().chain(self.bars.iter().filter_map(|bar| bar.failing)).collect()
    }
}

impl Bar {
    /// Its cost; `~` marks one that is not wholly known.
    pub fn cost(&self) -> String {
        money(self.cost_micro, !self.cost_unknown)
    }

    /// One more attempt of the same iteration: what it cost is added, what came of it counts.
    fn add_attempt(&mut self, attempt: &Bar) {
        *self = Bar {
            cost_micro: self.cost_micro.saturating_add(attempt.cost_micro),
            cost_unknown: self.cost_unknown || attempt.cost_unknown,
            at: self.at,
            ms: self.ms.saturating_add(attempt.ms),
            attempts: self.attempts.saturating_add(1),
            ..attempt.clone()
        };
    }
}

fn one_bar(run: &RunRow, row: &IterationRow, is_last: bool, is_open: bool) -> Bar {
    let outcome = outcome(run, row, is_last, is_open);
    let live = if outcome == BarOutcome::UnderWay { run.live_micro } else { 0 };
    Bar {
        n: row.n,
        outcome,
        cost_micro: row.cost_micro.max(live),
        cost_unknown: row.cost_unknown,
        at: row.at,
        ms: row.dur_ms,
        files: row.files,
        failing: row.failing,
        rung: row.rung,
        attempts: 1,
    }
}

fn outcome(run: &RunRow, row: &IterationRow, is_last: bool, is_open: bool) -> BarOutcome {
    let closed = !row.decision.is_empty() || is_last && is_between_calls(run, row);
    if is_last && is_open && !closed && row.failure.is_none() {
        return BarOutcome::UnderWay;
    }
    // A person's stop is nobody's mistake, unless the call had failed before.
    let cut_off = row.failure.as_deref().map_or(!closed, |failure| CUT_OFF.contains(&failure));
    if is_last && cut_off && run.status == Status::Interrupted.name() {
        return BarOutcome::Stopped;
    }
    let failed = row.failure.as_deref().is_some_and(|class| !is_waited_out(class));
    // One that was cut off was never inspected: it is not known to have brought nothing.
    let lost = !closed && row.failure.is_none() && !is_open;
    if failed || lost || (is_last && ended_by_what_it_did(run)) {
        return BarOutcome::Wrong;
    }
    let shown = run.proof.as_deref().and_then(Grade::of).is_some_and(Grade::shows_work);
    if is_last && shown && run.exit_code == Some(0) {
        return BarOutcome::Proven;
    }
    // Rows of an older ralph do not say whether there was progress.
    match row.progress.unwrap_or(row.files > 0) {
        true => BarOutcome::Worked,
        false => BarOutcome::NothingNew,
    }
}

/// The run waits: no call, inspection or verification is open. Rows of an earlier ralph have no decision for that.
fn is_between_calls(run: &RunRow, row: &IterationRow) -> bool {
    let waits = [RunState::Paused, RunState::Waiting { until: None }];
    row.progress.is_some() && waits.iter().any(|state| state.name() == run.status)
}

/// A limit or an outage, which a run waits for: nothing that the iteration did went wrong.
fn is_waited_out(class: &str) -> bool {
    let class = serde_json::from_value::<Class>(class.into());
    class.is_ok_and(|class| class.reaction() == Reaction::Wait)
}

/// The agent's own doing ended the run, or something failed outside of its work.
fn ended_by_what_it_did(run: &RunRow) -> bool {
    let reason = run.reason.as_deref().unwrap_or_default();
    let error = Status::Error.name();
    reason == Reason::ProhibitedPath.name() || reason == Reason::OracleChanged.name() || run.status == error
}
