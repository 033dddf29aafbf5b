//! Guard: denied tools in several iterations in a row without progress.

use super::Closed;
use crate::objection::Objection;
use crate::policy::Policy;

/// Iterations in a row with denied tools and no progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Denials {
    /// How many.
    pub running: u32,
    /// The tools denied last.
    pub tools: Vec<String>,
}

impl Denials {
    /// An iteration closed.
    pub fn closed(&mut self, iteration: &Closed) {
        if iteration.failed {
            return;
        }
        if iteration.denials.is_empty() || iteration.progress {
            self.running = 0;
            self.tools.clear();
        } else {
            self.running += 1;
            self.tools.clone_from(&iteration.denials);
        }
    }

    /// Often enough to stop.
    pub fn verdict(&self, policy: &Policy) -> Option<Objection> {
        let limit = policy.breaker.denials;
        (limit > 0 && self.running >= limit).then(|| self.objection(limit))
    }

    /// Reported in the next prompt.
    pub fn note(&self, policy: &Policy) -> Option<Objection> {
        (self.running > 0).then(|| self.objection(policy.breaker.denials))
    }

    fn objection(&self, limit: u32) -> Objection {
        Objection::Denied { running: self.running, limit, tools: self.tools.clone(), allow: None }
    }
}
