//! Guard: the run's active time. Waits count; a wait that would end after the limit stops at once.

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
    /// When a wait from here until then is over by active time.
    pub fn awake_until(self, until: Ms) -> Ms {
        self.ran.saturating_add(until.saturating_sub(self.at))
    }

    /// A wait from here until then is over: the time of day has come, or the run was awake for as long. Without the
    /// second a clock that is set back would prolong the wait.
    pub fn waited(self, until: Ms, now: Moment) -> bool {
        now.at >= until || now.ran >= self.awake_until(until)
    }
}

/// How long a verification may last that follows a call which the limit ended: its work is still looked at.
const LAST_LOOK: Ms = MINUTE;

/// The active time at which the run's limit ends a verification that began at this one.
pub fn ends_verification(began: Ms, policy: &Policy) -> Option<Ms> {
    let max = policy.max_time?;
    Some(if began < max { max } else { began.saturating_add(LAST_LOOK) })
}

/// The limit is reached now, or would be after `wait` more.
pub fn over(ran: Ms, wait: Ms, policy: &Policy) -> Option<Objection> {
    let max = policy.max_time?;
    (ran.saturating_add(wait.max(0)) >= max).then_some(Objection::TimeReached { ran, max })
}
