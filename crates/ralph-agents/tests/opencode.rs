//! opencode, which has no terminal event: its steps add up, and only its exit says which of them was the last.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::detect::{read_all, whose};
use ralph_agents::{Activity, Exit, ReaderEvent, Reply, Reset, Spent};
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;
use support::{Capture, captures, feed};

fn one(file: &str) -> Capture {
    captures("opencode").into_iter().find(|capture| capture.file == file).expect(file)
}

fn class(reply: &Reply) -> Option<Class> {
    reply.failure.as_ref().map(|failure| failure.class)
}

fn zero() -> Exit {
    Exit { code: Some(0), ..Exit::default() }
}

fn read(lines: &[&str], exit: Exit) -> (Vec<ReaderEvent>, Reply) {
    feed("opencode", &[], lines.join("\n").as_bytes(), b"", exit)
}

const START: &str = r#"{"type":"step_start","sessionID":"s","part":{"type":"step-start"}}"#;
const STOP: &str =
    r#"{"type":"step_finish","sessionID":"s","part":{"reason":"stop","cost":0.5,"tokens":{"input":9}}}"#;

fn text(words: &str) -> String {
    format!(r#"{{"type":"text","sessionID":"s","part":{{"text":"{words}"}}}}"#)
}

fn spent(events: &[ReaderEvent]) -> Vec<Spent> {
    events.iter().filter_map(|h| if let ReaderEvent::Spent(s) = h { Some(*s) } else { None }).collect()
}

#[test]
fn every_step_is_told_while_it_works() {
    let (events, reply) = one("1.18.33-json.jsonl").read();
    let spent = spent(&events);
    let totals: Vec<i64> = spent.iter().map(|s| s.total.0).collect();
    assert_eq!(totals, [3210, 6420]);
    assert_eq!(spent[1].dearest, Micro(3210));
    assert_eq!((spent[1].usage, reply.turns), (reply.usage, Some(2)));
}

#[test]
fn no_end_is_announced_before_the_exit() {
    for capture in captures("opencode") {
        assert!(!capture.read().0.contains(&ReaderEvent::Final), "{}", capture.file);
    }
}

#[test]
fn an_answer_counts_only_when_the_program_ended_by_itself() {
    let said = text("done");
    let lines = [START, &said, STOP];
    for (exit, finished) in [
        (zero(), true),
        (Exit::default(), true),
        (Exit { signal: Some(9), ..Exit::default() }, false),
        (Exit { by_us: true, signal: Some(15), ..Exit::default() }, false),
        (Exit { code: Some(143), ..Exit::default() }, false),
        (Exit { code: Some(1), ..Exit::default() }, false),
    ] {
        let reply = read(&lines, exit).1;
        assert_eq!((reply.finished, reply.text == "done"), (finished, finished), "{exit:?}");
        assert_eq!(class(&reply).is_some(), !finished, "{exit:?}");
    }
    let reply = read(&[START, &said, STOP, START], zero()).1;
    assert_eq!((class(&reply), reply.text.as_str()), (Some(Class::Aborted), ""), "another step began");
}

#[test]
fn the_final_message_is_the_last_steps_text() {
    let (before, first, second) = (text("on the way"), text("one"), text("two"));
    let reply = read(&[START, &before, STOP, START, &first, &second, STOP], zero()).1;
    assert_eq!(reply.text, "one\ntwo");
}

#[test]
fn an_error_that_was_got_over_is_no_failure() {
    let error = String::from_utf8(one("1.18.33-json-ectx.jsonl").stdout).unwrap();
    let error = error.lines().next().unwrap();
    let said = text("done after all");
    let (_, reply) = read(&[START, error, START, &said, STOP], zero());
    assert_eq!((class(&reply), reply.text.as_str()), (None, "done after all"));
    assert_eq!(reply.cost, None, "the step that failed has no account");
    let (_, reply) = read(&[START, &said, STOP, error], zero());
    assert_eq!((class(&reply), reply.finished), (Some(Class::ContextTooLong), true));
}

#[test]
fn what_has_no_price_is_not_free() {
    let free = STOP.replace("0.5", "0");
    let (events, reply) = read(&[START, &free], zero());
    assert_eq!(reply.cost, None);
    assert!(spent(&events)[0].total > Micro::ZERO, "a budget still holds");
    let task = r#"{"type":"tool_use","sessionID":"s","part":{"tool":"task","state":{"status":"completed"}}}"#;
    assert_eq!(read(&[START, task, STOP], zero()).1.cost, None, "a sub-agent's steps are not shown");
    assert_eq!(read(&[START, STOP], zero()).1.cost, Some(Micro(500_000)));
}

#[test]
fn an_answer_that_breaks_off_again_and_again_is_seen() {
    let (events, reply) = one("1.18.33-json-cut.jsonl").read();
    let retries =
        events.iter().filter(|h| matches!(h, ReaderEvent::Activity(Activity::Retrying { .. }))).count();
    assert!(retries > 10, "{retries}");
    assert_eq!((reply.text.as_str(), reply.cost), ("", None));
}

#[test]
fn a_refused_tool_is_named_with_what_it_wanted() {
    let denials = |file: &str| one(file).read().1.denials;
    let shell = &denials("1.18.33-json-permask.jsonl")[0];
    assert_eq!(shell.tool, "bash");
    assert!(shell.detail.starts_with("printf"), "{}", shell.detail);
    assert_eq!(denials("1.18.33-json-writeout.jsonl")[0].detail, "/sandbox/outside/evil.txt");
    assert_eq!(denials("1.2.1-json-writeout.jsonl")[0].tool, "external_directory", "on stderr alone");
}

#[test]
fn the_time_to_wait_is_in_the_answers_headers() {
    let failure = one("1.18.33-json-e429.jsonl").read().1.failure.unwrap();
    assert_eq!(failure.reset, Some(Reset::After(1000)));
}

#[test]
fn an_output_says_whose_it_is_and_comes_to_the_same_without_an_exit_code() {
    for capture in captures("opencode").iter().filter(|c| c.file.contains("json") && !c.stdout.is_empty()) {
        assert_eq!(whose(&capture.stdout), "opencode", "{}", capture.file);
        // Without stderr nobody knows that this one was refused a tool.
        if capture.file == "1.2.1-json-writeout.jsonl" {
            continue;
        }
        let reply = read_all(&capture.stdout, None, Exit::default());
        let told = class(&reply).map(|class| serde_json::to_value(class).unwrap());
        assert_eq!(told.as_ref().and_then(|t| t.as_str()), capture.class.as_deref(), "{}", capture.file);
    }
}

#[test]
fn a_model_that_writes_of_failures_did_not_fail() {
    let said = text("APIError 401 invalid x-api-key: the usage limit is reached");
    let reply = read(&[START, &said, STOP], zero()).1;
    assert_eq!((class(&reply), reply.finished), (None, true));
}
