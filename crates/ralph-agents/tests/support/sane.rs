//! What holds for every reader, whatever it was fed.

use ralph_agents::{Exit, ReaderEvent, Reply, Spent};
use ralph_rules::money::Micro;

/// Whether what was told as spent only ever grew.
pub fn grows(events: &[ReaderEvent]) -> bool {
    let spent: Vec<&Spent> =
        events.iter().filter_map(|h| if let ReaderEvent::Spent(s) = h { Some(s) } else { None }).collect();
    spent.windows(2).all(|pair| {
        let (a, b) = (pair[0], pair[1]);
        a.total <= b.total
            && a.dearest <= b.dearest
            && a.usage.input <= b.usage.input
            && a.usage.output <= b.usage.output
            && a.usage.cache_read <= b.usage.cache_read
            && a.usage.cache_write <= b.usage.cache_write
    })
}

/// A reply that can be used: it ended or says why not, is bounded, and took nothing back.
pub fn sane(events: &[ReaderEvent], reply: &Reply) {
    assert!(grows(events));
    assert!(reply.text.len() <= 3 << 20, "{}", reply.text.len());
    assert!(reply.finished || reply.failure.is_some());
    assert!(reply.cost.is_none_or(|c| c >= Micro::ZERO));
}

/// A program that exited with this code.
pub fn code(code: i32) -> Exit {
    Exit { code: Some(code), ..Exit::default() }
}
