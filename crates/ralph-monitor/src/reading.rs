//! When the cards and the selected run are read again: not more often than they change, never for most of the time, and a run
//! that cannot be read only now and then.

use std::time::{Duration, Instant};

/// Reading takes at most this part of the time.
const SHARE: u32 = 8;
/// How long a run that could not be read is left alone, unless something happens in it.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// When something is read again.
pub struct Reading {
    /// It may have changed.
    pub wanted: bool,
    /// Not before: reading must not take all the time.
    pub not_before: Instant,
}

impl Reading {
    /// Something that has not been read yet.
    pub fn wanted(now: Instant) -> Reading {
        Reading { wanted: true, not_before: now }
    }

    /// Whether to read it now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.wanted && now >= self.not_before
    }

    /// It was read from `since` until now.
    pub fn done(&mut self, since: Instant, now: Instant) {
        self.wanted = false;
        self.not_before = now + now.saturating_duration_since(since) * SHARE;
    }
}

/// When the selected run is read again.
pub struct DetailReading {
    /// Whether something happened in it.
    pub reading: Reading,
    /// The run that could not be read, and when that is tried again.
    failed: Option<(String, Instant)>,
}

impl DetailReading {
    /// No run has been read yet.
    pub fn new(now: Instant) -> DetailReading {
        DetailReading { reading: Reading::wanted(now), failed: None }
    }

    /// Whether to read this run now, while that one is shown.
    pub fn is_due(&self, run: &str, shown: Option<&str>, now: Instant) -> bool {
        let is_due = self.reading.is_due(now);
        match &self.failed {
            Some((failed, again)) if failed == run => is_due || now >= *again,
            _ => is_due || shown != Some(run),
        }
    }

    /// This run was read from `since` until now.
    pub fn done(&mut self, run: &str, worked: bool, since: Instant, now: Instant) {
        self.reading.done(since, now);
        self.failed = (!worked).then(|| (run.to_owned(), now + TRY_AGAIN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_cannot_be_read_is_tried_again_after_a_while_or_when_it_changes() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut detail = DetailReading::new(start);
        assert!(detail.is_due("a", None, start));
        detail.done("a", false, start, after(10));
        assert!(!detail.is_due("a", None, after(60)), "not at every look");
        assert!(!detail.is_due("a", None, after(5_009)));
        assert!(detail.is_due("a", None, after(5_010)), "after a while");
        assert!(detail.is_due("b", None, after(60)), "another run is read at once");
        detail.reading.wanted = true;
        assert!(!detail.is_due("a", None, after(89)), "reading took 10 ms: not within 80 ms");
        assert!(detail.is_due("a", None, after(90)), "something happened in it");
        detail.done("a", true, after(90), after(91));
        assert!(!detail.is_due("a", Some("a"), after(9_000)), "it is shown, and nothing happened");
        assert!(detail.is_due("a", Some("b"), after(9_000)));
    }
}
