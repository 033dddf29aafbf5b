//! A run of 10,000 iterations is many small requests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
#![allow(clippy::cast_possible_truncation)]

#[path = "../../ralph-rules/tests/journal/mod.rs"]
mod journal;
mod trace_checks;

use journal::{Journal, more};
use ralph_otel::{SPANS_PER_REQUEST, export};
use ralph_rules::record::CheckOutcome;
use trace_checks::check;

const ITERATIONS: usize = 10_000;

#[test]
fn ten_thousand_iterations_are_requests_of_bounded_size() {
    let mut journal = Journal::after_baseline(false, |start| {
        start.policy.max_iterations = u32::MAX;
        start.policy.calls_per_hour = None;
        start.agent.model = Some("m".repeat(128));
        // The same error must not end it.
        start.policy.breaker.same_error = 0;
    });
    journal.cost = 1;
    for n in 0..ITERATIONS {
        journal.later(1_000).admit();
        let mut call = journal.closing(&more());
        (call.model, call.session) = (Some("r".repeat(128)), Some("s".repeat(128)));
        journal.later(60_000).see(ralph_rules::record::Seen::CallEnded(Box::new(call)));
        journal.inspected(true);
        journal.verified_saying(CheckOutcome::Failed, &format!("error: number {n}"));
    }
    let bodies = export(&journal.records, false);
    let spans = 2 + 3 * ITERATIONS;
    assert_eq!(bodies.len(), spans.div_ceil(SPANS_PER_REQUEST));
    let (all, largest) =
        (bodies.iter().map(Vec::len).sum::<usize>(), bodies.iter().map(Vec::len).max().unwrap());
    println!(
        "{} records, {spans} spans, {} requests, {all} bytes, largest {largest}",
        journal.records.len(),
        bodies.len()
    );
    assert_eq!(check(&journal.records).len(), spans);
    // It was built by the rules; deciding it all again takes longer than the rest.
    std::mem::forget(journal);
}
