//! Guard: no progress. Counts iterations whose files reached no new state; a failed call neither counts nor
//! clears, progress always clears. `breaker.rs` turns the count into CLOSED, HALF_OPEN or OPEN.

use super::Closed;

/// Iterations running without progress.
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
