//! The breaker: CLOSED, HALF_OPEN or OPEN. It is derived from the guards' counts and the policy, so it cannot disagree
//! with them; `Circuit` only remembers when it changed and why. When a run ends with OPEN, the engine stores that for the
//! workspace.

use crate::ending::{Ending, Reason};
use crate::next::Next;
use crate::objection::Objection;
use crate::policy::{Decline, Policy};
use crate::record::{Decision, Ms};
use crate::state::State;
use serde::{Deserialize, Serialize};

/// How many changes are remembered.
pub const HISTORY: usize = 20;

/// State of the circuit breaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Breaker {
    /// The run makes progress.
    #[default]
    Closed,
    /// Recovery iterations: the agent is asked for another approach.
    HalfOpen,
    /// The run stops.
    Open,
}

impl Breaker {
    /// The name in JSON and on screen.
    pub fn name(self) -> &'static str {
        match self {
            Breaker::Closed => "CLOSED",
            Breaker::HalfOpen => "HALF_OPEN",
            Breaker::Open => "OPEN",
        }
    }
}

/// Iterations without progress that open the breaker: those before HALF_OPEN plus the recovery iterations. Every rung of
/// the ladder gets at least one.
pub fn idle_limit(state: &State, policy: &Policy) -> u32 {
    let rungs = state.start.as_ref().filter(|s| !s.rotate).map_or(0, |s| s.rungs());
    policy.breaker.half_open_after.saturating_add(policy.breaker.open_after.max(rungs))
}

/// The breaker's state by the guards' counts.
pub fn breaker(state: &State, policy: &Policy) -> Breaker {
    let idle = state.stall.running;
    let half = policy.breaker.half_open_after;
    let declined = policy.breaker.decline == Decline::Open && state.decline.verdict(policy).is_some();
    if (half > 0 && idle >= idle_limit(state, policy))
        || state.repeat.verdict(policy).is_some()
        || state.denials.verdict(policy).is_some()
        || declined
    {
        Breaker::Open
    } else if half > 0 && idle >= half {
        Breaker::HalfOpen
    } else {
        Breaker::Closed
    }
}

/// The breaker's state and its history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circuit {
    /// State after the last decision.
    pub now: Breaker,
    /// Latest changes, oldest first.
    pub history: Vec<Transition>,
}

/// One change of the breaker. A blocked agent is recorded too, with the same state on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// When, UTC.
    pub at: Ms,
    /// After which iteration.
    pub iteration: u32,
    /// State before.
    pub from: Breaker,
    /// State after.
    pub to: Breaker,
    /// The objection that caused it.
    #[serde(rename = "because")]
    pub reason: Option<Objection>,
}

impl Circuit {
    /// A decision was written down; `derived` is the breaker it was made with.
    pub(crate) fn decided(&mut self, derived: Breaker, decision: &Decision, at: Ms, iteration: u32) {
        let ending = match &decision.next {
            Next::Exit(ending) => Some(ending),
            _ => None,
        };
        let from = self.now;
        if ending.is_some_and(|e| e.reason == Reason::Blocked) {
            let reason = decision.reasons.first().cloned();
            self.note(Transition { at, iteration, from, to: from, reason });
        }
        // A run that completed, or whose agent was unavailable, does not open the breaker, whatever the counts.
        if derived == from || (derived == Breaker::Open && !ending.is_some_and(Ending::opens_breaker)) {
            return;
        }
        let reason = match derived {
            Breaker::Closed => Some(Objection::ProgressAgain),
            _ => decision.reasons.iter().find(|o| concerns(o)).cloned(),
        };
        self.now = derived;
        self.note(Transition { at, iteration, from, to: derived, reason });
    }

    fn note(&mut self, transition: Transition) {
        if self.history.len() >= HISTORY {
            self.history.remove(0);
        }
        self.history.push(transition);
    }
}

fn concerns(objection: &Objection) -> bool {
    matches!(
        objection,
        Objection::HalfOpen { .. }
            | Objection::NoProgress { .. }
            | Objection::SameError { .. }
            | Objection::Denied { .. }
            | Objection::OutputDecline { .. }
    )
}
