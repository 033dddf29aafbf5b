//! Every recorded call of every agent, good and bad, in all versions there are: class, end, claim, denials, cost,
//! tokens. What only one agent has is in a file of its name.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::detect::read_all;
use ralph_agents::{Exit, Format, ReaderEvent, Reply, Reset};
use support::{Capture, captures, feed, named, recorded};

fn class(reply: &Reply) -> Option<String> {
    let class = reply.failure.as_ref()?.class;
    Some(serde_json::to_string(&class).unwrap().trim_matches('"').to_owned())
}

fn check(capture: &Capture, reply: &Reply, how: &str) {
    let file = &capture.file;
    assert_eq!(class(reply), capture.class, "{how}: class of {file}: {:?}", reply.failure);
    assert_eq!(reply.finished, capture.finished, "{how}: end of {file}");
    assert_eq!(reply.text.contains("---END_RALPH_STATUS---"), capture.claim, "{how}: claim of {file}");
    assert_eq!(reply.denials.len(), capture.denials, "{how}: denials of {file}");
    assert_eq!(reply.cost.map(|c| c.0), capture.cost, "{how}: cost of {file}");
    if let Some(tokens) = &capture.tokens {
        let used = reply.usage;
        let events = format!("{}/{}/{}", used.input, used.cache_read, used.output);
        assert_eq!(&events, tokens, "{how}: tokens of {file}");
    }
    if let Some(session) = capture.session {
        assert_eq!(reply.session.is_some(), session, "{how}: session of {file}");
    }
}

#[test]
fn every_reader_understands_every_recorded_call() {
    for agent in recorded() {
        for capture in captures(agent) {
            let (events, reply) = capture.read();
            check(&capture, &reply, agent);
            let finals = events.iter().filter(|h| **h == ReaderEvent::Final).count();
            assert!(finals <= 1, "{agent}: {} final events in {}", finals, capture.file);
        }
    }
}

#[test]
fn the_claude_reader_understands_every_recorded_call() {
    let all = captures("claude");
    assert!(all.len() > 180, "{}", all.len());
    for capture in &all {
        let (events, reply) = capture.read();
        assert_eq!(reply.garbled, 0, "{}", capture.file);
        let finals = events.iter().filter(|h| **h == ReaderEvent::Final).count();
        let result = reply.finished && reply.format != Format::Text;
        assert_eq!(finals, usize::from(result), "{}", capture.file);
    }
}

#[test]
fn the_command_reader_opens_the_same_output() {
    for capture in captures("claude") {
        let (_, reply) = feed("command", &[], &capture.stdout, &capture.stderr, capture.exit);
        if reply.format == Format::Text {
            assert_eq!(reply.failure.is_some(), capture.class.is_some(), "{}", capture.file);
        } else {
            check(&capture, &reply, "command");
        }
    }
}

#[test]
fn analysis_without_an_exit_code_comes_to_the_same_class() {
    for capture in captures("claude") {
        if capture.stdout.is_empty() {
            continue;
        }
        for agent in [None, Some("claude"), Some("command")] {
            let reply = read_all(&capture.stdout, agent, Exit::default());
            assert_eq!(class(&reply), capture.class, "{agent:?} {}", capture.file);
        }
    }
}

#[test]
fn live_usage_is_the_final_usage_when_messages_come_in_parts() {
    let (events, reply) = named("2.1.325-stream-json-partial.jsonl").read();
    let spent: Vec<_> =
        events.iter().filter_map(|h| if let ReaderEvent::Spent(s) = h { Some(s) } else { None }).collect();
    assert_eq!(spent.last().unwrap().usage, reply.usage);
    assert!(spent.iter().any(|s| s.usage.output == 50), "the first message's end was seen live");
    assert!(spent.last().unwrap().dearest.0 * 2 >= spent.last().unwrap().total.0);
}

#[test]
fn reset_times_are_found_in_every_version() {
    let reset = |file: &str| named(file).read().1.failure.unwrap().reset.unwrap();
    assert_eq!(reset("1.0.60-stream-json-eunified-oauth.jsonl"), Reset::At(1_794_730_236_000));
    assert_eq!(reset("2.1.325-stream-json-eunified-oauth-retries1.jsonl"), Reset::At(1_794_726_675_000));
    let clock = |date, hour, minute, zone: Option<&str>| Reset::Clock {
        date,
        hour,
        minute,
        zone: zone.map(str::to_owned),
    };
    assert_eq!(reset("1.0.128-stream-json-eunified-oauth.jsonl"), clock(None, 8, 10, None));
    assert_eq!(reset("1.0.90-text-eweekly-oauth.txt"), clock(Some((11, 18)), 7, 25, None));
    assert_eq!(reset("2.1.325-json-eunified-oauth-retries0.jsonl"), clock(None, 7, 11, Some("UTC")));
}

#[test]
fn a_warning_that_the_limit_is_near_is_no_failure() {
    let (_, reply) = named("2.1.325-stream-json-warn-oauth.jsonl").read();
    assert_eq!(reply.failure, None);
}

#[test]
fn text_is_no_answer_where_events_were_asked_for() {
    let zero = Exit { code: Some(0), ..Exit::default() };
    let (_, reply) = feed("claude", &[], b"All done!\n", b"", zero);
    assert_eq!((class(&reply).as_deref(), reply.finished), (Some("aborted"), false));
}

#[test]
fn who_ended_the_call_is_said() {
    let hang = named("2.1.325-stream-json-hang-SIGTERM.jsonl").stdout;
    for (exit, words) in [
        (Exit { by_us: true, signal: Some(15), ..Exit::default() }, "ralph ended it"),
        (Exit { signal: Some(9), ..Exit::default() }, "signal 9"),
        (Exit { code: Some(0), ..Exit::default() }, "exit code 0"),
    ] {
        let (_, reply) = feed("claude", &[], &hang, b"", exit);
        assert!(reply.failure.unwrap().message.contains(words), "{words}");
    }
    let (_, reply) = feed("claude", &[], b"", b"", Exit { not_started: true, ..Exit::default() });
    assert!(reply.failure.unwrap().message.contains("could not be started"));
}
