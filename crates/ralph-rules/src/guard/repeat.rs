//! Guard: the same error again. Errors are compared by fingerprint, which ignores numbers, directories and times. An
//! iteration without an error resets the count.

use super::Closed;
use crate::fingerprint::Fingerprint;
use crate::objection::Objection;
use crate::policy::Policy;

/// The last error and how often it occurred in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeat {
    /// The error.
    pub error: Option<Fingerprint>,
    /// How often in a row.
    pub running: u32,
}

impl Repeat {
    /// An iteration closed.
    pub fn closed(&mut self, iteration: &Closed) {
        if iteration.failed {
            return;
        }
        // Only the hash: the displayed line depends on the order in which errors were printed.
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
