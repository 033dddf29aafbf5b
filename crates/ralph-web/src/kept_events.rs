//! The latest events, kept so that whoever lost the connection for a moment continues where it was.

use bytes::Bytes;
use ralph_store::Position;
use std::collections::VecDeque;

/// Bytes that are kept at most.
const MOST_BYTES: usize = 1 << 20;

/// The latest events in the order in which they were sent.
#[derive(Debug, Default)]
pub struct KeptEvents {
    events: VecDeque<(Option<Position>, Bytes)>,
    bytes: usize,
    /// Everything after this position was kept.
    complete_after: Position,
    /// The newest position among those that were let go.
    let_go: Position,
}

impl KeptEvents {
    /// Forgets everything: whoever knows this position has nothing to catch up on.
    pub fn restart(&mut self, position: Position) {
        *self = KeptEvents { complete_after: position, let_go: position, ..KeptEvents::default() };
    }

    /// Keeps one more.
    pub fn push(&mut self, position: Option<Position>, event: Bytes) {
        self.bytes += event.len();
        self.events.push_back((position, event));
        while self.bytes > MOST_BYTES
            && let Some((position, event)) = self.events.pop_front()
        {
            self.bytes -= event.len();
            match position {
                Some(position) => (self.let_go, self.complete_after) = (position, position),
                // It came after `let_go`: whoever stopped there may not have seen it.
                None => self.complete_after = self.let_go + 1,
            }
        }
    }

    /// What came after a position; none if a part of it was let go.
    pub fn after(&self, position: Position) -> Option<Vec<Bytes>> {
        if position < self.complete_after {
            return None;
        }
        let is_seen = |(at, _): &&(Option<Position>, Bytes)| at.is_none_or(|at| at > position);
        // Events without a position belong to the one before: they are sent again rather than missed.
        let seen = self.events.iter().rposition(|(at, _)| at.is_some_and(|at| at <= position));
        let after = self.events.iter().skip(seen.map_or(0, |seen| seen + 1));
        Some(after.filter(is_seen).map(|(_, event)| event.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(events: &[(Option<Position>, &'static str)]) -> KeptEvents {
        let mut kept = KeptEvents::default();
        kept.restart(10);
        for (position, text) in events {
            kept.push(*position, Bytes::from_static(text.as_bytes()));
        }
        kept
    }

    #[test]
    fn whoever_comes_back_gets_what_came_after() {
        let kept = kept(&[(Some(11), "a"), (None, "b"), (Some(13), "c"), (Some(15), "d")]);
        assert_eq!(kept.after(9), None);
        assert_eq!(kept.after(10).unwrap(), ["a", "b", "c", "d"]);
        assert_eq!(kept.after(11).unwrap(), ["b", "c", "d"]);
        assert_eq!(kept.after(12).unwrap(), ["b", "c", "d"]);
        assert_eq!(kept.after(13).unwrap(), ["d"]);
        assert!(kept.after(15).unwrap().is_empty() && kept.after(99).unwrap().is_empty());
    }

    #[test]
    fn old_events_are_let_go_and_whoever_needs_them_is_told() {
        let mut kept = kept(&[]);
        let large = Bytes::from(vec![b'x'; MOST_BYTES / 4]);
        for position in 11..=16 {
            kept.push(Some(position), large.clone());
            kept.push(None, Bytes::from_static(b"y"));
        }
        // 11, 12 and 13 are gone, and so is what came after 12 without a position.
        assert_eq!(kept.after(12), None);
        assert_eq!(kept.after(14).map(|events| events.len()), Some(5));
        assert!(kept.bytes <= MOST_BYTES);
    }
}
