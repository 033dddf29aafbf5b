//! Guard: shrinking answers. From the fourth iteration on, a final message shorter than `decline_below` percent of the
//! average is a warning or, if the policy says so, opens the breaker.

use super::Closed;
use crate::objection::Objection;
use crate::policy::Policy;

/// Lengths of the final messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decline {
    count: u64,
    sum: u64,
    last: u64,
}

impl Decline {
    /// An iteration closed.
    pub fn closed(&mut self, iteration: &Closed) {
        if !iteration.failed {
            self.count += 1;
            self.sum = self.sum.saturating_add(iteration.text_bytes);
            self.last = iteration.text_bytes;
        }
    }

    /// The last final message is much shorter than the average before it.
    pub fn verdict(&self, policy: &Policy) -> Option<Objection> {
        let before = self.count.checked_sub(1).filter(|n| *n >= 3)?;
        let mean = self.sum.saturating_sub(self.last) / before;
        let percent = u32::try_from(self.last.saturating_mul(100).checked_div(mean)?).unwrap_or(u32::MAX);
        let below = policy.breaker.decline_below;
        let of_mean = u32::try_from(mean).unwrap_or(u32::MAX);
        (percent < below).then_some(Objection::OutputDecline { percent, of_mean, below: Some(below) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Micro;

    #[test]
    fn only_from_the_fourth_answer_on() {
        let policy = Policy::strict(9, Micro(1));
        let mut decline = Decline::default();
        for (bytes, shrunk) in [(1000, false), (10, false), (1000, false), (100, true), (900, false)] {
            decline.closed(&Closed { text_bytes: bytes, ..Closed::default() });
            assert_eq!(decline.verdict(&policy).is_some(), shrunk, "{bytes}");
        }
    }
}
