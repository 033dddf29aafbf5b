//! Guard: no progress. Counts iterations that brought the files to no new state. A failed call does not count; progress
//! always resets the count. `breaker.rs` turns the count into CLOSED, HALF_OPEN or OPEN.

use super::Closed;

/// Iterations in a row without progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stall {
    /// How many.
    pub running: u32,
}

impl Stall {
    /// An iteration closed.
    pub fn closed(&mut self, iteration: &Closed) {
        if iteration.progress {
            self.running = 0;
        } else if !iteration.failed {
            self.running += 1;
        }
    }
}
