//! Guard: the same error again. Errors are compared by fingerprint, which ignores numbers, directories and times. What the
//! verification found and what the agent itself reports are counted apart, so that a message that varies does not hide a
//! verification that fails in the same way each time.

use super::Closed;
use crate::fingerprint::{ErrorCount, Fingerprint};
use crate::objection::Objection;
use crate::policy::Policy;

/// Errors in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeat {
    verification: Streak,
    agent: Streak,
}

/// The last error and how often it occurred in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Streak {
    /// The error.
    pub error: Option<Fingerprint>,
    /// How often in a row.
    pub running: u32,
    /// The iteration it occurred in first.
    pub since: u32,
    /// How little was wrong at best.
    best: ErrorCount,
}

impl Streak {
    fn note(&mut self, now: Option<&Fingerprint>, count: ErrorCount, iteration: u32) {
        // Only the hash: the displayed line depends on the order in which errors were printed.
        let same = |now: &Fingerprint| self.error.as_ref().is_some_and(|before| before.hash == now.hash);
        // With fewer failures than ever before it is not the same error: something was repaired.
        let again = now.is_some_and(same) && !count.improves(self.best);
        (self.running, self.since) = match now {
            None => (0, iteration),
            Some(_) if again => (self.running + 1, self.since),
            Some(_) => (1, iteration),
        };
        self.best = if again { self.best.best(count) } else { count };
        self.error = now.cloned();
    }
}

impl Repeat {
    /// An iteration closed. One without an error resets the count; a failed call says nothing about the verification, and
    /// one that was cut short while it worked says nothing at all.
    pub fn closed(&mut self, iteration: &Closed) {
        if iteration.cut_short {
            return;
        }
        if !iteration.failed {
            self.verification.note(iteration.error.as_ref(), iteration.error_count, iteration.iteration);
        }
        self.agent.note(iteration.agent_error.as_ref(), iteration.agent_error_count, iteration.iteration);
    }

    /// The error that has repeated most.
    pub fn longest(&self) -> &Streak {
        if self.agent.running > self.verification.running { &self.agent } else { &self.verification }
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
        let Streak { error, running, .. } = self.longest();
        let error = error.as_ref()?;
        (times > 0 && *running >= times).then(|| Objection::SameError {
            running: *running,
            limit,
            error: error.head.clone(),
            fingerprint: Some(error.hash.clone()),
        })
    }
}
