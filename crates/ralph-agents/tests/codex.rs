//! What only Codex has: an end that never comes, warnings that look like errors, limits with a time, early versions.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::detect::{read_all, whose};
use ralph_agents::{Activity, Denial, Exit, Format, ReaderEvent, Reply, Reset};
use ralph_rules::failure::Class;
use support::{Capture, captures, feed};

const STARTED: &str = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n";

fn named(file: &str) -> Capture {
    captures("codex").into_iter().find(|capture| capture.file == file).unwrap()
}

fn zero() -> Exit {
    Exit { code: Some(0), ..Exit::default() }
}

fn read(events: &str) -> (Vec<ReaderEvent>, Reply) {
    feed("codex", &[], format!("{STARTED}{events}").as_bytes(), b"", zero())
}

fn class(reply: &Reply) -> Option<Class> {
    reply.failure.as_ref().map(|failure| failure.class)
}

#[test]
fn analysis_finds_out_whose_it_is_and_comes_to_the_same() {
    for capture in captures("codex") {
        if capture.stdout.is_empty() || capture.file.ends_with(".txt") {
            continue;
        }
        assert_eq!(whose(&capture.stdout), "codex", "{}", capture.file);
        let (_, live) = capture.read();
        let reply = read_all(&capture.stdout, None, Exit::default());
        assert_eq!((class(&reply), reply.text), (class(&live), live.text), "{}", capture.file);
    }
}

#[test]
fn waiting_for_the_network_is_ended_by_us() {
    let (events, reply) = named("0.166.0-json-down.jsonl").read();
    let tries =
        events.iter().filter(|h| matches!(h, ReaderEvent::Activity(Activity::Retrying { .. }))).count();
    assert_eq!((tries, events.iter().filter(|h| **h == ReaderEvent::Final).count()), (4, 1));
    assert_eq!((class(&reply), reply.finished), (Some(Class::Network), false));
    // Two tries and then an answer: nothing is ended, nothing has failed.
    let wait = "{\"type\":\"error\",\"message\":\"Reconnecting... waiting for network (x)\"}\n".repeat(2);
    let went_on =
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"hi\"}}\n";
    let (events, reply) = read(&format!("{wait}{went_on}{wait}"));
    assert!(!events.contains(&ReaderEvent::Final) && class(&reply) == Some(Class::Network));
    let (_, reply) = read(&format!("{wait}{went_on}"));
    assert_eq!(class(&reply), Some(Class::Aborted), "it went on before it ended");
}

#[test]
fn retries_and_warnings_are_no_failure() {
    let (events, reply) = read(concat!(
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\",\"type\":\"error\",\"message\":\"401 Unauthorized\"}}\n",
        "{\"type\":\"error\",\"message\":\"Reconnecting... 1/5 (unexpected status 500 x)\"}\n",
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_1\",\"type\":\"agent_message\",\"text\":\"You've hit your usage limit.\"}}\n",
        "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":\"10\",\"cached_input_tokens\":4,\"output_tokens\":NaN}}\n",
    ));
    assert_eq!((class(&reply), reply.text.as_str()), (None, "You've hit your usage limit."));
    assert_eq!((reply.usage.input, reply.usage.cache_read, reply.usage.output), (6, 4, 0));
    assert!(events.iter().any(|h| matches!(h, ReaderEvent::Activity(Activity::Retrying { .. }))));
}

#[test]
fn a_limit_says_when_it_ends_in_every_version() {
    let reset = |file: &str| named(file).read().1.failure.unwrap().reset.unwrap();
    let clock = |hour, minute| Reset::Clock { date: None, hour, minute, zone: None };
    assert_eq!(reset("0.166.0-json-eusage.jsonl"), clock(7, 21));
    assert_eq!(reset("0.166.0-text-eusage.txt"), clock(7, 22));
    assert_eq!(reset("0.98.0-json-eusage.jsonl"), clock(12, 36));
    assert_eq!(reset("0.50.0-json-eusage.jsonl"), Reset::After(59 * 60_000));
    assert_eq!(reset("0.36.0-json-eusage.jsonl"), Reset::After(3_600_000));
}

#[test]
fn tools_are_told_with_what_they_do() {
    let (events, reply) = read(concat!(
        "{\"type\":\"item.started\",\"item\":{\"id\":\"a\",\"type\":\"command_execution\",\"command\":\"ls\",\"status\":\"in_progress\"}}\n",
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"a\",\"type\":\"command_execution\",\"command\":\"ls\",\"status\":\"declined\"}}\n",
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"b\",\"type\":\"file_change\",\"changes\":[{\"path\":\"/r/a.rs\",\"kind\":\"add\"}],\"status\":\"completed\"}}\n",
        "{\"type\":\"item.started\",\"item\":{\"id\":\"c\",\"type\":\"mcp_tool_call\",\"server\":\"s\",\"tool\":\"t\",\"arguments\":{}}}\n",
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"c\",\"type\":\"mcp_tool_call\",\"server\":\"s\",\"tool\":\"t\",\"status\":\"failed\"}}\n",
        "{\"type\":\"turn.completed\",\"usage\":{}}\n",
    ));
    let tool = |name: &str, detail: &str, file: Option<&str>| {
        ReaderEvent::Activity(Activity::Tool {
            name: name.into(),
            detail: detail.into(),
            file: file.map(str::to_owned),
        })
    };
    let ended = |failed| ReaderEvent::Activity(Activity::ToolEnded { failed });
    let tools: Vec<ReaderEvent> = events
        .into_iter()
        .filter(|h| matches!(h, ReaderEvent::Activity(Activity::Tool { .. } | Activity::ToolEnded { .. })))
        .collect();
    assert_eq!(
        tools,
        [
            tool("shell", "ls", None),
            ended(true),
            tool("edit", "/r/a.rs", Some("/r/a.rs")),
            ended(false),
            tool("s.t", "", None),
            ended(true),
        ]
    );
    assert_eq!(reply.denials, [Denial { tool: "shell".into(), detail: "ls".into() }]);
}

#[test]
fn an_output_cut_by_the_hands_still_ends_the_tool() {
    let started = "{\"type\":\"item.started\",\"item\":{\"id\":\"a\",\"type\":\"command_execution\",\"command\":\"ls\"}}\n";
    let cut = "{\"type\":\"item.completed\",\"item\":{\"id\":\"a\",\"type\":\"command_execution\",\"aggregated_output\":\"xxx";
    let (events, _) = read(&format!("{started}{cut}"));
    assert!(events.contains(&ReaderEvent::Activity(Activity::ToolEnded { failed: false })));
}

#[test]
fn a_stream_cut_at_any_byte_is_aborted_and_claims_nothing() {
    let whole = named("0.166.0-json.jsonl").stdout;
    let end = whole.trim_ascii_end().len();
    for cut in 0..whole.len() {
        let (_, reply) = feed("codex", &[], &whole[..cut], b"", zero());
        assert_eq!(reply.finished, cut >= end, "cut at {cut}");
        assert_eq!(class(&reply), (cut < end).then_some(Class::Aborted), "cut at {cut}");
        assert!(cut >= end || !reply.text.contains("RALPH_STATUS") || reply.format == Format::Text, "{cut}");
    }
}

#[test]
fn an_early_version_that_stops_in_the_middle_was_aborted() {
    let whole = named("0.36.0-json.jsonl").stdout;
    let lines: Vec<&[u8]> = whole.trim_ascii_end().split(|b| *b == b'\n').collect();
    for kept in 0..lines.len() {
        let (_, reply) = feed("codex", &[], &lines[..kept].join(&b'\n'), b"", zero());
        assert_eq!((class(&reply), reply.finished), (Some(Class::Aborted), false), "{kept} lines");
    }
    let killed = Exit { signal: Some(15), ..Exit::default() };
    let (_, reply) = feed("codex", &[], &whole, b"", killed);
    assert_eq!((class(&reply), reply.finished), (Some(Class::Aborted), false));
}
