//! The process under way, agent or verification, as everybody may reach it: the loop tells it to end, a signal freezes
//! it. Told to end before it has started, it ends as soon as it has.

use ralph_rules::next::Why;
use ralph_supervisor::ProcessHandle;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The process under way.
#[derive(Clone, Default)]
pub struct UnderWay(Arc<Mutex<Current>>);

#[derive(Default)]
struct Current {
    process: Option<ProcessHandle>,
    interrupted_by: Option<Why>,
    grace: Duration,
}

impl UnderWay {
    /// A step begins that will have processes.
    pub fn clear(&self) {
        *self.current() = Current::default();
    }

    /// A process of the step has started.
    pub fn started(&self, process: &ProcessHandle) {
        let mut current = self.current();
        current.process = Some(process.clone());
        if current.interrupted_by.is_some() {
            process.end(current.grace);
        }
    }

    /// The process has ended.
    pub fn ended(&self) {
        self.current().process = None;
    }

    /// Tells the step to end.
    pub fn end(&self, why: Why, grace: Duration) {
        let mut current = self.current();
        current.interrupted_by.get_or_insert(why);
        current.grace = grace;
        if let Some(process) = &current.process {
            process.end(grace);
        }
    }

    /// Why the step was told to end, if it was.
    pub fn interrupted_by(&self) -> Option<Why> {
        self.current().interrupted_by
    }

    /// Freezes it (Ctrl-Z).
    pub fn freeze(&self) {
        if let Some(process) = &self.current().process {
            process.stop();
        }
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        if let Some(process) = &self.current().process {
            process.cont();
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
