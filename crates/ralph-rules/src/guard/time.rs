//! Guard: the run's active time, waits included. A wait that would end after the limit is not started.

use crate::objection::Objection;
use crate::policy::{MINUTE, Policy};
use crate::record::Ms;

/// A moment on both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Time of day.
    pub at: Ms,
    /// Active time.
    pub ran: Ms,
}

impl Moment {
    /// The active time at which a wait from here to `until` is over.
    pub fn awake_until(self, until: Ms) -> Ms {
        self.ran.saturating_add(until.saturating_sub(self.at))
    }

    /// Whether a wait from here to `until` is over, by time of day or by active time. Active time matters if the clock is
    /// set back during the wait.
    pub fn waited(self, until: Ms, now: Moment) -> bool {
        now.at >= until || now.ran >= self.awake_until(until)
    }
}

/// How long a verification may take after the limit stopped the call: its work is still verified.
const FINAL_VERIFICATION: Ms = MINUTE;

/// The active time at which the run's limit ends a verification that began at `began`.
pub fn ends_verification(began: Ms, policy: &Policy) -> Option<Ms> {
    let max = policy.max_time?;
    Some(if began < max { max } else { began.saturating_add(FINAL_VERIFICATION) })
}

/// The limit is reached now, or would be after waiting `wait` longer.
pub fn over(ran: Ms, wait: Ms, policy: &Policy) -> Option<Objection> {
    let max = policy.max_time?;
    (ran.saturating_add(wait.max(0)) >= max).then_some(Objection::TimeReached { ran, max })
}
