//! The process under way, agent or verification, as everybody may reach it: the loop tells it to end, a signal freezes
//! it. Told to end before it has started, it ends as soon as it has.

use ralph_rules::next::Why;
use ralph_tend::Tended;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The process under way.
#[derive(Clone, Default)]
pub struct UnderWay(Arc<Mutex<Current>>);

#[derive(Default)]
struct Current {
    tended: Option<Tended>,
    told: Option<Why>,
    grace: Duration,
}

impl UnderWay {
    /// A step begins that will have processes.
    pub fn clear(&self) {
        *self.current() = Current::default();
    }

    /// A process of the step has started.
    pub fn started(&self, tended: &Tended) {
        let mut current = self.current();
        current.tended = Some(tended.clone());
        if current.told.is_some() {
            tended.end(current.grace);
        }
    }

    /// The process has ended.
    pub fn ended(&self) {
        self.current().tended = None;
    }

    /// Tells the step to end.
    pub fn end(&self, why: Why, grace: Duration) {
        let mut current = self.current();
        current.told.get_or_insert(why);
        current.grace = grace;
        if let Some(tended) = &current.tended {
            tended.end(grace);
        }
    }

    /// Why the step was told to end, if it was.
    pub fn told(&self) -> Option<Why> {
        self.current().told
    }

    /// Freezes it (Ctrl-Z).
    pub fn freeze(&self) {
        if let Some(tended) = &self.current().tended {
            tended.stop();
        }
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        if let Some(tended) = &self.current().tended {
            tended.cont();
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
