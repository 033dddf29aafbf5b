//! What it takes for a run to be proven, and how far it is: each condition holds, does not hold, or is still open. And
//! what would stop it: the breaker's counts.

use crate::fact_text::seconds;
use crate::plain::plain;
use ralph_rules::breaker::{Breaker, idle_limit};
use ralph_rules::claim::Exit;
use ralph_rules::counting::counted;
use ralph_rules::grade::Grade;
use ralph_rules::policy::Until;
use ralph_rules::record::{CheckOutcome, CheckResult, RunStarted, Verified};
use ralph_rules::state::State;
use serde::Serialize;

/// Something that has to hold for the work to be proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Whether it holds; none while that is open.
    pub holds: Option<bool>,
    /// What has to hold.
    pub what: String,
    /// The observation behind it.
    pub detail: String,
}

/// A count that opens the breaker at its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fuse {
    /// What is counted.
    pub name: &'static str,
    /// How often in a row.
    pub used: u32,
    /// How often opens the breaker.
    pub limit: u32,
}

/// The breaker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BreakerView {
    /// closed, half-open or open.
    pub state: &'static str,
    /// Its counts; those that are switched off are left out.
    pub fuses: Vec<Fuse>,
}

/// What it takes for this run to be proven.
pub fn conditions(state: &State) -> Vec<Condition> {
    let Some(start) = state.start.as_deref() else { return Vec::new() };
    let mut all = Vec::new();
    all.extend(claim(state, start));
    all.extend(state.commands().map(|command| verification(state, command)));
    all.extend(state.verifies().then(|| original_tests(state)));
    all.push(protected_paths(state, start));
    all.extend(plan(state));
    all
}

/// The breaker and its counts.
pub fn breaker_view(state: &State) -> BreakerView {
    let name = match state.circuit.now {
        Breaker::Closed => "closed",
        Breaker::HalfOpen => "half-open",
        Breaker::Open => "open",
    };
    let Some(policy) = state.start.as_ref().map(|start| &start.policy) else {
        return BreakerView { state: name, fuses: Vec::new() };
    };
    let idle = if policy.breaker.half_open_after > 0 { idle_limit(state, policy) } else { 0 };
    let fuses = [
        Fuse { name: "no progress", used: state.stall.running, limit: idle },
        Fuse { name: "same error", used: state.repeat.longest().running, limit: policy.breaker.same_error },
        Fuse { name: "only tests", used: state.saturation.running, limit: policy.breaker.saturation },
        Fuse { name: "tools denied", used: state.denials.running, limit: policy.breaker.denials },
    ];
    BreakerView { state: name, fuses: fuses.into_iter().filter(|fuse| fuse.limit > 0).collect() }
}

fn claim(state: &State, start: &RunStarted) -> Option<Condition> {
    let gate = &start.policy.gate;
    if gate.until == Until::Verified {
        return None;
    }
    let what = "the agent says it is done".to_owned();
    let Some(signal) = state.signals.last.last() else {
        return Some(Condition { holds: None, what, detail: "no iteration has ended yet".into() });
    };
    let exit = match signal.exit {
        Exit::True => "EXIT_SIGNAL true",
        Exit::False => "EXIT_SIGNAL false",
        Exit::Absent => "no EXIT_SIGNAL",
    };
    let needed = gate.indicators;
    let detail = format!("{exit}, {} ({needed} needed)", counted(signal.indicators, "indicator"));
    let holds = signal.exit == Exit::True && signal.indicators >= needed;
    Some(Condition { holds: Some(holds), what, detail })
}

fn verification(state: &State, command: &str) -> Condition {
    let what = format!("`{}` passes", plain(command));
    let before = state.checks.baseline.as_ref().and_then(Verified::counts).map(|counts| counts.failed);
    let fresh = state.checks.analyzed().is_some();
    let latest = state.checks.last.as_ref().filter(|_| fresh);
    let latest = latest.and_then(|verified| verified.results.iter().find(|result| result.command == command));
    match latest {
        None => Condition { holds: None, what, detail: "not run on the latest files yet".into() },
        Some(result) => {
            let holds = match result.how {
                CheckOutcome::Passed => Some(true),
                CheckOutcome::Failed | CheckOutcome::TimedOut => Some(false),
                CheckOutcome::NotRun | CheckOutcome::Interrupted => None,
            };
            Condition { holds, what, detail: result_words(result, before) }
        }
    }
}

fn result_words(result: &CheckResult, before: Option<u32>) -> String {
    let how = match (result.how, result.exit) {
        (CheckOutcome::Passed, _) => format!("passed in {}", seconds(result.ms)),
        (CheckOutcome::Failed, Some(exit)) => format!("exit code {exit}"),
        (CheckOutcome::Failed, None) => "failed".into(),
        (CheckOutcome::TimedOut, _) => format!("timed out after {}", seconds(result.ms)),
        (CheckOutcome::NotRun, _) => "not run".into(),
        (CheckOutcome::Interrupted, _) => "interrupted".into(),
    };
    match (result.counts, before) {
        (Some(now), Some(before)) if before > 0 => {
            format!("{how}: {} of {} failing, {before} before", now.failed, counted(now.total, "test"))
        }
        (Some(now), _) => format!("{how}: {} of {} failing", now.failed, counted(now.total, "test")),
        _ => how,
    }
}

/// Weakened tests do not count: the checks also have to pass with the tests as they were before the run.
fn original_tests(state: &State) -> Condition {
    let what = "the original tests pass with the work".to_owned();
    let grade = state.ending.and_then(|ending| ending.grade);
    match (grade, state.checks.oracle_holds()) {
        (Some(grade), _) => {
            let holds = grade.shows_work() || grade == Grade::Unbroken;
            Condition { holds: Some(holds), what, detail: format!("{grade}: {}", grade.meaning()) }
        }
        (None, Some(true)) => Condition { holds: Some(true), what, detail: "they pass".into() },
        (None, Some(false)) => Condition { holds: Some(false), what, detail: "they fail".into() },
        (None, None) => Condition { holds: None, what, detail: "tried once verification passes".into() },
    }
}

fn protected_paths(state: &State, start: &RunStarted) -> Condition {
    let what = "protected paths are unchanged".to_owned();
    match state.trees.touched.first() {
        Some(violation) => Condition { holds: Some(false), what, detail: plain(&violation.path) },
        None => Condition { holds: Some(true), what, detail: counted(start.protect.len() as u64, "pattern") },
    }
}

fn plan(state: &State) -> Option<Condition> {
    let seen = state.tasks.latest.as_ref().filter(|seen| seen.has_items())?;
    let total = seen.done.saturating_add(seen.pending);
    Some(Condition {
        holds: (seen.pending == 0).then_some(true),
        what: format!("{} has no open item", plain(&state.tasks.file)),
        detail: format!("{} of {total} done", seen.done),
    })
}
