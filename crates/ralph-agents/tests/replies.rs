//! A dozen recorded calls, told in full: everything heard on the way and the reply at the end.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::Heard;
use support::named;

const TOLD: &[&str] = &[
    "1.0.60-stream-json-denied.jsonl",
    "1.0.60-stream-json-loop-maxturns3.jsonl",
    "1.0.128-stream-json-eweekly-oauth.jsonl",
    "1.0.90-text-eunified-oauth.txt",
    "2.1.325-json-verbose.jsonl",
    "2.1.325-json-limitbar.jsonl",
    "2.1.325-stream-json-partial.jsonl",
    "2.1.325-stream-json-denied.jsonl",
    "2.1.325-stream-json-e500-retries1.jsonl",
    "2.1.325-stream-json-eunified-oauth-retries1.jsonl",
    "2.1.325-stream-json-loop-budget0.02.jsonl",
    "2.1.325-stream-json-refusal.jsonl",
    "2.1.325-stream-json-sleep-SIGTERM.jsonl",
    "2.1.325-json-badflag.jsonl",
];

#[test]
fn recorded_calls_are_told_as_before() {
    for file in TOLD {
        let (heard, reply) = named(file).read();
        let heard: Vec<_> =
            heard.into_iter().filter(|h| !matches!(h, Heard::Send(_) | Heard::CloseStdin)).collect();
        let name = file.rsplit_once('.').unwrap().0;
        insta::assert_debug_snapshot!(name, (heard, reply));
    }
}
