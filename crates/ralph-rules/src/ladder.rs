//! The escalation ladder: which agent and model make the next call. A run begins with the chosen agent, usually the
//! cheapest. Each iteration after which the run is half-open or stuck moves one rung up; each with progress moves one
//! rung down. A failed call does not move it. `admission.rs` asks for the rung; `breaker.rs` gives every rung a recovery
//! iteration.
//!
//! If the agents rotate instead, the iteration's number alone decides: a retry stays with its agent.

use crate::breaker::{Breaker, breaker};
use crate::guard::Closed;
use crate::objection::Objection;
use crate::record::RunStarted;
use crate::state::State;
use std::collections::BTreeMap;

/// The run's position on the ladder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ladder {
    /// The rung of the call admitted last.
    pub rung: u32,
    /// The rung of the last iteration that did not fail.
    settled: u32,
    /// That iteration brought progress.
    progress: bool,
    /// The same error had come back often enough by then.
    stuck: bool,
    /// Iterations by rung.
    pub used: BTreeMap<u32, u32>,
}

impl Ladder {
    /// A call is admitted on this rung.
    pub(crate) fn admitted(&mut self, rung: u32) {
        self.rung = rung;
    }

    /// An iteration closed, after which the run is `stuck` or not. Only one that did not fail says anything about the rung.
    pub(crate) fn closed(&mut self, iteration: &Closed, stuck: bool) {
        *self.used.entry(self.rung).or_default() += 1;
        if !iteration.failed {
            self.settled = self.rung;
            self.progress = iteration.progress;
            self.stuck = stuck;
        }
    }
}

/// The breaker is half-open, or the same error keeps coming back.
pub fn needs_escalation(state: &State, start: &RunStarted) -> bool {
    breaker(state, &start.policy) == Breaker::HalfOpen || state.ladder.stuck
}

/// The rung of the next call. It depends on the state alone, so asking twice does not change it.
pub fn next_rung(state: &State, start: &RunStarted) -> u32 {
    let highest = start.rungs();
    if start.rotate {
        let turn = state.calls.next_id().iteration.saturating_sub(1);
        return turn.checked_rem(highest.saturating_add(1)).unwrap_or(0);
    }
    let from = state.ladder.settled.min(highest);
    if needs_escalation(state, start) {
        from.saturating_add(1).min(highest)
    } else if state.ladder.progress {
        from.saturating_sub(1)
    } else {
        from
    }
}

/// The reason to report if the rung differs from the last call's.
pub fn rung_change(state: &State, start: &RunStarted, rung: u32) -> Option<Objection> {
    if start.rotate {
        return None;
    }
    let agent = start.rung(rung);
    let (of, agent, model) = (start.rungs(), agent.name.clone(), agent.model.clone());
    match rung.cmp(&state.ladder.rung) {
        std::cmp::Ordering::Greater => Some(Objection::Escalated { rung, of, agent, model }),
        std::cmp::Ordering::Less => Some(Objection::Deescalated { rung, of, agent, model }),
        std::cmp::Ordering::Equal => None,
    }
}
