//! The two clocks of a run. `at` is UTC and never goes back within a run. `ran` is active time: it stands still while
//! ralph is stopped (Ctrl-Z), suspended or not running, so that a closed laptop does not look like a hang.

use ralph_rules::record::Ms;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A reading that comes later than this means that the process was stopped in between.
const GAP: Duration = Duration::from_secs(5);
/// Longest time between two readings while something is awaited.
pub const BEAT: Duration = Duration::from_secs(1);

/// Time of day, UTC, in milliseconds.
pub fn utc() -> Ms {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ms::try_from(since.as_millis()).unwrap_or(Ms::MAX)
}

/// Active time, shared between threads.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Mutex<Active>>);

#[derive(Debug)]
struct Active {
    ran: Duration,
    beat: Instant,
    paused: bool,
}

impl Clock {
    /// Continues from the active time that a journal ended with.
    pub fn from(ran: Ms) -> Clock {
        let ran = Duration::from_millis(u64::try_from(ran).unwrap_or(0));
        Clock(Arc::new(Mutex::new(Active { ran, beat: Instant::now(), paused: false })))
    }

    /// Active time now. Read it at least once per `BEAT` while waiting; a gap of more than a few seconds does not count.
    pub fn ran(&self) -> Ms {
        let mut active = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        active.beat();
        Ms::try_from(active.ran.as_millis()).unwrap_or(Ms::MAX)
    }

    /// Stops the clock until `resume`.
    pub fn pause(&self) {
        let mut active = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        active.beat();
        active.paused = true;
    }

    /// Starts the clock again.
    pub fn resume(&self) {
        let mut active = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        active.beat = Instant::now();
        active.paused = false;
    }
}

impl Active {
    fn beat(&mut self) {
        let now = Instant::now();
        let since = now.saturating_duration_since(self.beat);
        self.beat = now;
        if !self.paused {
            self.ran += if since > GAP { BEAT } else { since };
        }
    }
}
