//! Guard: the run's active time. Waits count; a wait that would end after the limit stops at once.

use crate::objection::Objection;
use crate::policy::Policy;
use crate::record::Ms;

/// The limit is reached now, or would be after `wait` more.
pub fn over(ran: Ms, wait: Ms, policy: &Policy) -> Option<Objection> {
    let max = policy.max_time?;
    (ran.saturating_add(wait.max(0)) >= max).then_some(Objection::TimeReached { ran, max })
}
