//! A dozen recorded calls, told in full: everything events on the way and the reply at the end.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::ReaderEvent;
use support::{Capture, captures, named};

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

const TOLD_BY_QWEN: &[&str] = &[
    "0.24.4-stream-json-partial.jsonl",
    "0.24.4-stream-json-denied-rule.jsonl",
    "0.24.4-stream-json-e429-retries0.jsonl",
    "0.24.4-stream-json-loop-maxturns3.jsonl",
    "0.24.4-stream-json-maxtok.jsonl",
    "0.24.4-json-e401.jsonl",
    "0.24.4-text-e401.txt",
];

const TOLD_BY_GROK: &[&str] = &[
    "1.0.41-streaming-messages-json-partial.jsonl",
    "1.0.41-streaming-messages-json-denied.jsonl",
    "1.0.41-streaming-messages-json-ectx.jsonl",
    "1.0.41-streaming-json.jsonl",
    "1.0.41-streaming-json-denied.jsonl",
    "1.0.41-json-loop-maxturns3.jsonl",
    "1.0.41-json-e401.jsonl",
];

const TOLD_BY_CODEX: &[&str] = &[
    "0.166.0-json.jsonl",
    "0.166.0-json-down.jsonl",
    "0.166.0-json-e401-dflt.jsonl",
    "0.166.0-json-eusage.jsonl",
    "0.166.0-json-maxtok.jsonl",
    "0.166.0-text-e429.txt",
    "0.36.0-json.jsonl",
];

const TOLD_BY_GOOSE: &[&str] = &[
    "1.34.0-stream-json.jsonl",
    "1.34.0-stream-json-approve.jsonl",
    "1.34.0-stream-json-ectx.jsonl",
    "1.34.0-stream-json-loop-maxturns3.jsonl",
    "1.34.0-stream-json-sleep-SIGINT.jsonl",
    "1.34.0-json-e401.jsonl",
    "1.34.0-text-down.txt",
];

const TOLD_BY_COPILOT: &[&str] = &[
    "1.0.102-json-usage.jsonl",
    "1.0.102-json-denied.jsonl",
    "1.0.102-json-mid429.jsonl",
    "1.0.102-json-ectx.jsonl",
    "1.0.102-json-sleep-SIGTERM.jsonl",
];

const TOLD_BY_KIMI: &[&str] = &[
    "2.1.0-stream-json.jsonl",
    "2.1.0-stream-json-fail.jsonl",
    "2.1.0-stream-json-mid429.jsonl",
    "2.1.0-stream-json-refusal.jsonl",
    "2.1.0-text.txt",
];

const TOLD_BY_PI: &[&str] = &[
    "0.73.1-json.jsonl",
    "0.73.1-json-flaky500.jsonl",
    "0.73.1-json-mid429.jsonl",
    "0.73.1-json-refusal.jsonl",
    "0.73.1-json-sleep-SIGTERM.jsonl",
];

const TOLD_BY_AIDER: &[&str] = &["0.86.2-text-aider.txt", "0.86.2-text-e429.txt", "0.86.2-text-maxtok.txt"];

const TOLD_BY_MINI: &[&str] =
    &["2.4.6-text-mini.txt", "2.4.6-text-trajectory.txt", "2.4.6-text-trajectory-limit.txt"];

const TOLD_BY_OPENCODE: &[&str] = &[
    "1.18.33-json.jsonl",
    "1.18.33-json-permask.jsonl",
    "1.18.33-json-refusal.jsonl",
    "1.18.33-json-e429.jsonl",
    "1.18.33-json-sleep-SIGTERM.jsonl",
    "1.18.33-json-badflag.jsonl",
    "1.2.1-json-writeout.jsonl",
];

const TOLD_BY_GEMINI: &[&str] = &[
    "0.61.0-stream-json.jsonl",
    "0.61.0-stream-json-writeout.jsonl",
    "0.61.0-stream-json-gquota.jsonl",
    "0.61.0-stream-json-loop-unbounded.jsonl",
    "0.61.0-stream-json-sleep-SIGTERM.jsonl",
    "0.61.0-json.jsonl",
    "0.61.0-json-e401.jsonl",
    "0.11.3-stream-json-e401.jsonl",
];

fn tell(capture: &Capture, name: &str) {
    let (events, reply) = capture.read();
    let events: Vec<_> =
        events.into_iter().filter(|h| !matches!(h, ReaderEvent::Send(_) | ReaderEvent::CloseStdin)).collect();
    insta::assert_debug_snapshot!(name, (events, reply));
}

fn stem(file: &str) -> &str {
    file.rsplit_once('.').unwrap().0
}

#[test]
fn recorded_calls_are_told_as_before() {
    for file in TOLD {
        tell(&named(file), stem(file));
    }
}

#[test]
fn recorded_calls_of_other_agents_are_told_as_before() {
    for (agent, told) in [
        ("qwen", TOLD_BY_QWEN),
        ("grok", TOLD_BY_GROK),
        ("codex", TOLD_BY_CODEX),
        ("opencode", TOLD_BY_OPENCODE),
        ("gemini", TOLD_BY_GEMINI),
        ("goose", TOLD_BY_GOOSE),
        ("copilot", TOLD_BY_COPILOT),
        ("kimi", TOLD_BY_KIMI),
        ("pi", TOLD_BY_PI),
        ("aider", TOLD_BY_AIDER),
        ("mini", TOLD_BY_MINI),
    ] {
        let all = captures(agent);
        for file in told {
            let capture = all.iter().find(|capture| capture.file == *file).expect(file);
            tell(capture, &format!("{agent}-{}", stem(file)));
        }
    }
}
