//! A clock that stops while a call is paused, so that grace periods do not expire during Ctrl-Z. Used for silence, the
//! grace after a final result, and the duration of the call.

use std::time::{Duration, Instant};

/// Monotonic time since the start, without the pauses.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    paused: Duration,
    paused_since: Option<Instant>,
}

impl Clock {
    pub(crate) fn started_at(start: Instant) -> Self {
        Self { start, paused: Duration::ZERO, paused_since: None }
    }

    /// How long the clock has run, as of `now`.
    pub(crate) fn ran(&self, now: Instant) -> Duration {
        let until = self.paused_since.unwrap_or(now);
        until.saturating_duration_since(self.start).saturating_sub(self.paused)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused_since.is_some()
    }

    pub(crate) fn pause(&mut self, now: Instant) {
        self.paused_since.get_or_insert(now);
    }

    pub(crate) fn resume(&mut self, now: Instant) {
        if let Some(since) = self.paused_since.take() {
            self.paused += now.saturating_duration_since(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_still_while_paused() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut clock = Clock::started_at(start);
        clock.pause(after(5));
        clock.pause(after(7));
        assert_eq!(clock.ran(after(60)), Duration::from_secs(5));
        clock.resume(after(60));
        clock.resume(after(61));
        assert_eq!(clock.ran(after(63)), Duration::from_secs(8));
    }
}
