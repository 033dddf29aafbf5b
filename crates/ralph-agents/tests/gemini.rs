//! Gemini CLI: an answer in pieces, an end whose word is not always true, errors on stderr alone.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::detect::{read_all, whose};
use ralph_agents::{Activity, Exit, Format, ReaderEvent, Reply};
use ralph_rules::failure::Class;
use support::{Capture, captures, feed};

fn one(file: &str) -> Capture {
    captures("gemini").into_iter().find(|capture| capture.file == file).expect(file)
}

fn class(reply: &Reply) -> Option<Class> {
    reply.failure.as_ref().map(|failure| failure.class)
}

fn zero() -> Exit {
    Exit { code: Some(0), ..Exit::default() }
}

fn read(lines: &[&str]) -> (Vec<ReaderEvent>, Reply) {
    feed("gemini", &[], lines.join("\n").as_bytes(), b"", zero())
}

const INIT: &str = r#"{"type":"init","session_id":"s","model":"m"}"#;
const TOOL: &str = r#"{"type":"tool_use","tool_name":"glob","tool_id":"t","parameters":{"pattern":"*.rs"}}"#;
const DONE: &str =
    r#"{"type":"result","status":"success","stats":{"total_tokens":5,"input_tokens":4,"output_tokens":1}}"#;

fn says(words: &str) -> String {
    format!(r#"{{"type":"message","role":"assistant","content":"{words}","delta":true}}"#)
}

#[test]
fn the_pieces_after_the_last_tool_are_the_final_message() {
    let (first, a, b) = (says("on the way"), says("all "), says("done"));
    let (events, reply) = read(&[INIT, &first, TOOL, &a, &b, DONE]);
    assert_eq!((reply.text.as_str(), reply.text_bytes), ("all done", 8));
    let said: Vec<&str> = events
        .iter()
        .filter_map(|h| {
            if let ReaderEvent::Activity(Activity::Said { text }) = h { Some(text.as_str()) } else { None }
        })
        .collect();
    assert_eq!(said, ["on the way", "all done"], "shown in one piece each");
    let (_, reply) = read(&[INIT, &first, TOOL, DONE]);
    assert_eq!(reply.text, "", "what it said before its last tool is no answer");
}

#[test]
fn stream_and_document_come_to_the_same() {
    let stream = one("0.61.0-stream-json.jsonl").read().1;
    let document = one("0.61.0-json.jsonl").read().1;
    assert_eq!((&stream.text, stream.usage), (&document.text, document.usage));
    assert!(
        stream.text.starts_with("I created hello.txt.") && stream.text.ends_with("---END_RALPH_STATUS---")
    );
    assert_eq!((stream.format, document.format), (Format::Jsonl, Format::Json));
    assert_eq!((stream.model.as_deref(), document.model.as_deref()), (Some("gemini-2.5-pro"), Some("fake")));
}

#[test]
fn a_success_without_an_answer_is_none() {
    let hollow = r#"{"type":"result","status":"success","stats":{"total_tokens":0}}"#;
    let (_, reply) = read(&[INIT, hollow]);
    assert_eq!((class(&reply), reply.finished), (Some(Class::Unknown), true));
    let (_, reply) = read(&[INIT, DONE]);
    assert_eq!(class(&reply), None, "tokens were used, the answer was empty");
}

#[test]
fn a_stop_by_the_client_itself_counts_unless_the_agent_went_on() {
    let warned = r#"{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}"#;
    let said = says("done");
    assert_eq!(class(&read(&[INIT, TOOL, warned, DONE]).1), Some(Class::MaxTurns));
    assert_eq!(class(&read(&[INIT, warned, &said, DONE]).1), None);
}

#[test]
fn two_results_are_one_end() {
    let said = says("x");
    let (events, reply) = read(&[INIT, &said, DONE, DONE]);
    assert_eq!(events.iter().filter(|h| **h == ReaderEvent::Final).count(), 1);
    assert_eq!((reply.text.as_str(), class(&reply)), ("x", None));
}

#[test]
fn a_refused_tool_is_named_with_what_it_wanted() {
    for file in ["0.61.0-stream-json-writeout.jsonl", "0.24.0-stream-json-writeout.jsonl"] {
        let denials = one(file).read().1.denials;
        assert_eq!(
            (denials[0].tool.as_str(), denials[0].detail.as_str()),
            ("write_file", "/sandbox/outside/evil.txt")
        );
    }
    let shell = &one("0.24.0-stream-json.jsonl").read().1.denials[0];
    assert_eq!(shell.tool, "run_shell_command");
}

#[test]
fn a_tools_result_cut_by_the_hands_still_ends_the_tool() {
    let (events, _) =
        read(&[INIT, TOOL, r#"{"type":"tool_result","tool_id":"t","status":"success","output":"xxx"#]);
    assert!(events.iter().any(|h| matches!(h, ReaderEvent::Activity(Activity::ToolEnded { .. }))));
}

#[test]
fn an_exit_code_that_is_a_status_is_no_signal() {
    let exit = |code| Exit { code: Some(code), ..Exit::default() };
    for (code, want) in
        [(173, Class::RateLimited), (143, Class::Aborted), (130, Class::Aborted), (41, Class::Auth)]
    {
        let (_, reply) = feed("gemini", &[], b"", b"what it said", exit(code));
        assert_eq!(class(&reply), Some(want), "{code}");
        let (_, reply) = feed("gemini", &[], INIT.as_bytes(), b"what it said", exit(code));
        assert_eq!((class(&reply), reply.finished), (Some(want), false), "{code}");
    }
    let ours = Exit { by_us: true, ..exit(145) };
    assert_eq!(class(&feed("gemini", &[], INIT.as_bytes(), b"", ours).1), Some(Class::Aborted));
}

/// Classes that stdout alone does not tell.
fn told_elsewhere(capture: &Capture) -> bool {
    // Versions that tell stderr alone what failed.
    capture.file.starts_with("0.11.3")
}

#[test]
fn an_output_says_whose_it_is_and_comes_to_the_same_without_an_exit_code() {
    for capture in captures("gemini").iter().filter(|c| c.file.contains("json") && !c.stdout.is_empty()) {
        assert_eq!(whose(&capture.stdout), "gemini", "{}", capture.file);
        let reply = read_all(&capture.stdout, None, Exit::default());
        let told = class(&reply).map(|class| serde_json::to_value(class).unwrap());
        if told_elsewhere(capture) {
            assert_eq!(class(&reply), Some(Class::Unknown), "{}", capture.file);
        } else {
            assert_eq!(told.as_ref().and_then(|t| t.as_str()), capture.class.as_deref(), "{}", capture.file);
        }
    }
}

#[test]
fn a_model_that_writes_of_failures_did_not_fail() {
    let said = says("[API Error: 401 invalid x-api-key] Loop detected, stopping execution; daily quota");
    let (_, reply) = read(&[INIT, &said, DONE]);
    assert_eq!((class(&reply), reply.finished), (None, true));
}
