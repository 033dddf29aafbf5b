//! The output against a recording of the real Claude Code 2.1.325, and the other formats.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{call, play};
use ralph_testkit::Scratch;
use serde_json::Value;

const REAL: &str = include_str!("fixtures/claude-2.1.325-partial.jsonl");
const SAME: &str = r#"
say Working on it.
run printf 'hello from the scripted model\n' > hello.txt && cat hello.txt
message I created hello.txt. All tests pass and all stories are complete.
recommendation All tasks complete
claim complete files=1
"#;

fn kind(event: &Value) -> String {
    let part = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    format!("{} {} {}", part(&event["type"]), part(&event["subtype"]), part(&event["event"]["type"]))
}

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every key of `mine` must be in `real`, at every depth both have.
fn assert_known_keys(mine: &Value, real: &Value, at: &str) {
    match (mine, real) {
        (Value::Object(mine), Value::Object(real))
            if !at.ends_with("sage") && !at.ends_with("last_result") =>
        {
            for (key, value) in mine {
                let theirs = real.get(key).unwrap_or_else(|| panic!("{at}.{key} is not Claude's"));
                assert_known_keys(value, theirs, &format!("{at}.{key}"));
            }
        }
        (Value::Array(mine), Value::Array(real)) => {
            for (value, theirs) in mine.iter().zip(real) {
                assert_known_keys(value, theirs, at);
            }
        }
        _ => {}
    }
}

/// The keys of one line in the order they stand there, at the top level.
fn key_order(line: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(line).unwrap();
    let mut keys: Vec<(usize, String)> = value
        .as_object()
        .unwrap()
        .keys()
        .map(|key| (line.find(&format!("\"{key}\":")).unwrap(), key.clone()))
        .collect();
    keys.sort();
    keys.into_iter().map(|(_, key)| key).collect()
}

#[test]
fn the_same_work_gives_the_same_events_as_the_real_claude() {
    let scratch = Scratch::new();
    let heard = call(&scratch, &["--model", "claude-opus-5-5", "--do", SAME]);
    assert_eq!(heard.code, Some(0));
    let (mine, real) = (events(&heard.text()), events(REAL));
    let kinds = |events: &[Value]| events.iter().map(kind).collect::<Vec<_>>();
    assert_eq!(kinds(&mine), kinds(&real));
    for (mine, real) in mine.iter().zip(&real) {
        assert_known_keys(mine, real, mine["type"].as_str().unwrap());
    }
    assert_eq!(mine.last().unwrap()["result"], real.last().unwrap()["result"]);
    assert_eq!(mine.last().unwrap()["num_turns"], real.last().unwrap()["num_turns"]);
}

#[test]
fn the_result_has_claudes_keys_in_claudes_order() {
    let heard = call(&Scratch::new(), &["--do", SAME]);
    let mine = key_order(heard.text().lines().last().unwrap());
    let real = key_order(REAL.lines().last().unwrap());
    assert_eq!(mine[0], "duration_api_ms");
    assert_eq!(mine, real.into_iter().filter(|key| mine.contains(key)).collect::<Vec<_>>());
}

#[test]
fn without_partial_messages_no_stream_event_is_printed() {
    let heard = play(&Scratch::new(), "say a; run true");
    assert_eq!(heard.of_type("stream_event").len(), 0);
    assert_eq!(heard.of_type("assistant").len(), 3);
    assert_eq!(heard.result()["num_turns"], 2);
}

#[test]
fn text_is_the_final_message_and_json_the_result() {
    let scratch = Scratch::new();
    let script = "say hidden; message Done so far.; claim promise ALL GREEN";
    let text = call(&scratch, &["--format", "text", "--do", script]);
    assert_eq!(text.text(), "Done so far.\n\n<promise>ALL GREEN</promise>\n");
    let json = call(&scratch, &["-p", "--output-format", "json", "--do", script]);
    assert_eq!(json.events().len(), 1);
    assert_eq!(json.result()["result"], text.text().trim_end());
    let failed = call(&scratch, &["--format", "text", "--do", "fail billing"]);
    assert_eq!((failed.text().as_str(), failed.code), ("Credit balance is too low\n", Some(1)));
}

#[test]
fn a_seed_repeats_the_ids_and_without_one_conversations_differ() {
    let scratch = Scratch::new();
    let session = |args: &[&str]| call(&scratch, args).result()["session_id"].as_str().unwrap().to_owned();
    assert_eq!(session(&["--seed", "7", "--do", "say a"]), session(&["--seed", "7", "--do", "say b"]));
    assert_ne!(session(&["--do", "say a"]), session(&["--do", "say a"]));
    assert_eq!(session(&["--session-id", "abc", "--do", "say a"]), "abc");
}
