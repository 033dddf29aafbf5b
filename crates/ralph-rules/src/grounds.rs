//! The grounds of a verdict: the counts and the limits they were compared with. Derived from the state before the
//! decision, so nothing has to be stored; `explain` prints them beside each decision.

use crate::breaker::{Breaker, breaker, idle_limit};
use crate::claim::{Evidence, Exit};
use crate::claim_check::ClaimCheck;
use crate::fingerprint::Fingerprint;
use crate::gate::{count, explicit, kinds};
use crate::policy::Until;
use crate::record::RunStarted;
use crate::state::{Phase, State};
use serde::Serialize;

/// A count and its limit; a limit of 0 is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The count in a row.
    pub running: u32,
    /// The limit.
    pub limit: u32,
}

/// What an iteration did to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Moved {
    /// A state not seen before in this run.
    New,
    /// Nothing changed.
    Nothing,
    /// Back to the state after this iteration; 0 is before the run.
    Back(u32),
}

/// Counts and limits behind a verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grounds {
    /// The iteration.
    pub iteration: u32,
    /// Whether the agent says it is done.
    pub exit: Exit,
    /// Completion indicators, by name.
    pub indicators: Vec<Evidence>,
    /// How many they count as: the fields of one status block are one without a verify command.
    pub indicators_counted: u32,
    /// How many are required without a verify command.
    pub indicators_needed: u32,
    /// A passing verification alone completes the run.
    pub until_verified: bool,
    /// Whether verification passed; none without a verify command.
    pub verified: Option<bool>,
    /// Whether it passed before the run.
    pub baseline_green: Option<bool>,
    /// Which claims of the status block hold.
    pub claims: ClaimCheck,
    /// What happened to the files.
    pub files: Moved,
    /// The error of the verification or of the agent, whichever repeated more often.
    pub error: Option<Fingerprint>,
    /// How often in a row; the limit opens the breaker.
    pub same_error: Count,
    /// Stuck from this count on.
    pub stuck_at: u32,
    /// Iterations without progress; the limit opens the breaker.
    pub no_progress: Count,
    /// Half-open from this count on.
    pub half_open_at: u32,
    /// Test-only iterations.
    pub test_only: Count,
    /// Iterations with denied tools and without progress.
    pub denials: Count,
    /// The breaker by these counts.
    pub breaker: Breaker,
    /// The rung the iteration was on.
    pub rung: u32,
}

/// The grounds of the next decision, if an iteration has just closed.
pub fn grounds(state: &State) -> Option<Grounds> {
    let start = state.start.as_deref()?;
    let closed = match state.phase {
        Phase::Judging => !state.proof.under_way,
        Phase::Inspected => !state.verifies() && state.calls.counted,
        _ => false,
    };
    closed.then(|| of(state, start))
}

fn of(state: &State, start: &RunStarted) -> Grounds {
    let policy = &start.policy;
    let limits = &policy.breaker;
    let passed = state.checks.passed();
    let (verifies, trees) = (state.verifies(), &state.trees);
    Grounds {
        iteration: state.calls.done,
        exit: explicit(state),
        indicators: kinds(&state.claim, passed, state.tasks.pending()).into_iter().collect(),
        indicators_counted: count(state),
        claims: state.claim_check.clone(),
        indicators_needed: policy.gate.indicators,
        until_verified: policy.gate.until == Until::Verified,
        verified: verifies.then_some(passed),
        baseline_green: verifies.then(|| state.checks.baseline_green()),
        files: match trees.seen_at {
            _ if trees.progress => Moved::New,
            Some(iteration) => Moved::Back(iteration),
            None => Moved::Nothing,
        },
        error: state.repeat.longest().error.clone(),
        same_error: Count { running: state.repeat.longest().running, limit: limits.same_error },
        stuck_at: limits.stuck,
        no_progress: Count { running: state.stall.running, limit: idle_limit(state, policy) },
        half_open_at: limits.half_open_after,
        test_only: Count { running: state.saturation.running, limit: limits.saturation },
        denials: Count { running: state.denials.running, limit: limits.denials },
        breaker: breaker(state, policy),
        rung: state.ladder.rung,
    }
}

impl Grounds {
    /// The grounds as text, for `explain`.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.claim(), self.files()];
        lines.extend(self.claims());
        lines.extend(self.error());
        let counts = [
            ("no progress", self.no_progress),
            ("only tests", self.test_only),
            ("tools denied", self.denials),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(_, c)| c.running > 0)
            .map(|(name, c)| format!("{name} {} of {}", c.running, c.limit))
            .collect();
        if !counts.is_empty() || self.breaker != Breaker::Closed {
            let counts = if counts.is_empty() { String::new() } else { format!(", {}", counts.join(", ")) };
            lines.push(format!("breaker {}{counts}", self.breaker.name()));
        }
        lines
    }

    fn claim(&self) -> String {
        let exit = match self.exit {
            Exit::True => "says it is done",
            Exit::False => "says there is more to do",
            Exit::Absent => "gives no completion signal",
        };
        let names: Vec<String> = self.indicators.iter().map(name).collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let proof = match (self.verified, self.baseline_green) {
            (Some(true), Some(true)) => "verification passed (also before the run)",
            (Some(true), _) => "verification passed (failed before the run)",
            (Some(false), _) => "verification failed",
            (None, _) => "no verify command",
        };
        let (found, needed) = (self.indicators_counted, self.indicators_needed);
        let plural = if found == 1 { "" } else { "s" };
        format!("the agent {exit}; {found} indicator{plural}{names}, {needed} needed; {proof}")
    }

    fn claims(&self) -> Option<String> {
        let ClaimCheck { made, held, lints, not_done } = &self.claims;
        let done = not_done.then_some("it says that it is done, but verification failed");
        let wrong: Vec<&str> = lints.iter().map(|lint| lint.detail.as_str()).chain(done).collect();
        let wrong = if wrong.is_empty() { String::new() } else { format!(": {}", wrong.join("; ")) };
        (*made > 0).then(|| format!("claims that held: {held} of {made}{wrong}"))
    }

    fn files(&self) -> String {
        match self.files {
            Moved::New => "files changed to a new state: progress".into(),
            Moved::Nothing => "no file changes: no progress".into(),
            Moved::Back(0) => "the files are as they were before the run: no progress".into(),
            Moved::Back(n) => format!("the files are as they were after iteration {n}: no progress"),
        }
    }

    fn error(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        let Count { running, limit } = self.same_error;
        let times = match running {
            0 | 1 => "not seen in the previous iteration".into(),
            n => format!("{n} times in a row (stuck at {}, stop at {limit})", self.stuck_at),
        };
        Some(format!("error {}, {times}: {}", error.hash, error.head))
    }
}

/// The name a value has in JSON.
fn name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
