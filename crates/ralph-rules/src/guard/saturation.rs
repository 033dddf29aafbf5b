//! Guard: several iterations in a row changed only tests.

use super::Closed;
use crate::objection::Objection;
use crate::policy::Policy;

/// Test-only iterations in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saturation {
    /// How many.
    pub running: u32,
}

impl Saturation {
    /// An iteration closed.
    pub fn closed(&mut self, iteration: &Closed) {
        if !iteration.failed {
            self.running = if iteration.test_only { self.running + 1 } else { 0 };
        }
    }

    /// Often enough to stop.
    pub fn verdict(&self, policy: &Policy) -> Option<Objection> {
        let limit = policy.breaker.saturation;
        (limit > 0 && self.running >= limit).then_some(Objection::TestOnly { running: self.running, limit })
    }
}
