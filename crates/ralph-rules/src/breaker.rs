//! The breaker: CLOSED, HALF_OPEN or OPEN. It is derived from the guards' counts and the policy, never stored,
//! so it cannot disagree with them. OPEN is remembered for the workspace by the hands when a run ends so.

use crate::policy::Policy;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// The memory of recent failures, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Breaker {
    /// All is well.
    Closed,
    /// One recovery iteration.
    HalfOpen,
    /// Stopped.
    Open,
}

/// The breaker as the guards' counts have it.
pub fn breaker(state: &State, policy: &Policy) -> Breaker {
    let idle = state.stall.running;
    let half = policy.breaker.half_open_after;
    let open = half.saturating_add(policy.breaker.open_after);
    let same = policy.breaker.same_error;
    if (half > 0 && idle >= open) || (same > 0 && state.repeat.running >= same) {
        Breaker::Open
    } else if half > 0 && idle >= half {
        Breaker::HalfOpen
    } else {
        Breaker::Closed
    }
}
