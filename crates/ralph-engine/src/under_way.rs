//! The process that runs now, agent or verify command, as other threads reach it: the loop ends it, Ctrl-Z freezes it.
//! If the step is interrupted before its process has started, the process is ended as soon as it has.

use crate::leftovers::Loss;
use ralph_rules::next::Why;
use ralph_supervisor::ProcessHandle;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The process that runs now, if any.
#[derive(Clone, Default)]
pub struct UnderWay {
    current: Arc<Mutex<Current>>,
    loss: Loss,
}

#[derive(Default)]
struct Current {
    process: Option<ProcessHandle>,
    interrupted_by: Option<Why>,
    grace: Duration,
}

impl UnderWay {
    /// The processes of the run with this folder.
    pub fn of_run(folder: &Path) -> UnderWay {
        UnderWay { loss: Loss::of_run(folder), ..UnderWay::default() }
    }

    /// Whether a supervisor was lost.
    pub fn loss(&self) -> &Loss {
        &self.loss
    }

    /// A step begins: forgets the process and the interruption of the last one.
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

    /// Interrupts the step and ends its process.
    pub fn end(&self, why: Why, grace: Duration) {
        let mut current = self.current();
        current.interrupted_by.get_or_insert(why);
        current.grace = grace;
        if let Some(process) = &current.process {
            process.end(grace);
        }
    }

    /// Why the step was interrupted, if it was.
    pub fn interrupted_by(&self) -> Option<Why> {
        self.current().interrupted_by
    }

    /// Stops the process (Ctrl-Z).
    pub fn freeze(&self) {
        if let Some(process) = &self.current().process {
            process.stop();
        }
    }

    /// Continues a stopped process.
    pub fn thaw(&self) {
        if let Some(process) = &self.current().process {
            process.cont();
        }
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
