//! Guard: the same error again. The fingerprint ignores numbers, directories and times, so "the same" means
//! the same; an iteration that ends without an error clears the count.

use super::Closed;
use crate::fingerprint::Fingerprint;
use crate::objection::Objection;
use crate::policy::Policy;

/// The last error and how often it came running.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeat {
    /// The error.
    pub error: Option<Fingerprint>,
    /// How often running.
    pub running: u32,
}

impl Repeat {
    /// An iteration closed.
    pub fn closed(&mut self, iteration: &Closed) {
        if iteration.failed {
            return;
        }
        // Only the hash is compared: the line that is shown depends on the order in which errors were printed.
        let same = |now: &Fingerprint| self.error.as_ref().is_some_and(|before| before.hash == now.hash);
        self.running = match &iteration.error {
            None => 0,
            Some(now) if same(now) => self.running + 1,
            Some(_) => 1,
        };
        self.error.clone_from(&iteration.error);
    }

    /// Often enough to open the breaker.
    pub fn verdict(&self, policy: &Policy) -> Option<Objection> {
        self.at_least(policy.breaker.same_error, policy.breaker.same_error)
    }

    /// Often enough for a hint in the prompt.
    pub fn stuck(&self, policy: &Policy) -> Option<Objection> {
        self.at_least(policy.breaker.stuck, policy.breaker.same_error)
    }

    fn at_least(&self, times: u32, limit: u32) -> Option<Objection> {
        let error = self.error.as_ref()?;
        (times > 0 && self.running >= times).then(|| Objection::SameError {
            running: self.running,
            limit,
            error: error.head.clone(),
            fingerprint: Some(error.hash.clone()),
        })
    }
}
