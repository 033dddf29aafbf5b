//! Claims in every format an agent prints: 0 false completions, 0 missed honest ones. The cases are data, in
//! `crates/ralph-rules/tests/claim_cases`: messages (read there directly), `outputs/streams.txt` (how an output carries a
//! message) and other `outputs/*.txt` (whole outputs with the decision that must follow).
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;
use ralph_agents::detect::read_all;
use ralph_agents::{Exit, Format, Reply};
use ralph_rules::analysis::{ExitDecision, Response, Trend};
use ralph_rules::claim::{Progress, Status, Tests, WorkType, render};
use ralph_rules::money::Micro;
use ralph_rules::policy::Policy;
use std::collections::BTreeMap;
use std::path::PathBuf;

const TEMPLATE: &str = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS | COMPLETE | BLOCKED\n\
    TASKS_COMPLETED_THIS_LOOP: <number>\nFILES_MODIFIED: <number>\nTESTS_STATUS: PASSING | FAILING | NOT_RUN\n\
    WORK_TYPE: IMPLEMENTATION | TESTING | DOCUMENTATION | REFACTORING\nEXIT_SIGNAL: false | true\n\
    RECOMMENDATION: <one line summary>\n---END_RALPH_STATUS---";

struct Case {
    name: String,
    wants: BTreeMap<String, String>,
    text: String,
}

fn cases(file: &str) -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ralph-rules/tests/claim_cases");
    let content = std::fs::read_to_string(folder.join(file)).unwrap();
    let case = |part: &str| {
        let (head, text) = part.split_once('\n').unwrap();
        let (name, wants) = head.split_once('|').unwrap_or((head, ""));
        let want = |want: &str| {
            let (key, value) = want.split_once('=').unwrap_or((want, "yes"));
            (key.to_owned(), value.to_owned())
        };
        let wants: BTreeMap<_, _> = unescaped(wants).split_whitespace().map(want).collect();
        let mut text = filled(text.trim_end_matches('\n'));
        if wants.contains_key("crlf") {
            text = text.replace('\n', "\r\n");
        }
        Case { name: format!("{file}: {}", name.trim()), wants, text }
    };
    content.split("\n=== ").skip(1).map(case).collect()
}

/// The whole blocks that stand behind `@DONE@` and its like.
fn filled(text: &str) -> String {
    let block = |status, exit_signal, recommendation: &str| {
        render(&Status {
            status: Some(status),
            tasks_completed: Some(1),
            files_modified: Some(3),
            tests: Some(Tests::Passing),
            work_type: Some(WorkType::Implementation),
            exit_signal: Some(exit_signal),
            recommendation: recommendation.into(),
        })
    };
    let mut text = text.to_owned();
    for (name, block) in [
        ("DONE", block(Progress::Complete, true, "Shipped the parser")),
        ("MORE", block(Progress::InProgress, false, "Next: the parser")),
        ("STUCK", block(Progress::Blocked, false, "Blocked: need credentials")),
        ("TEMPLATE", TEMPLATE.to_owned()),
    ] {
        text = text.replace(&format!("@{name}@"), &block).replace(&format!("@{name}_JSON@"), &inside(&block));
    }
    unescaped(&text)
}

/// A text as the inside of a JSON string.
fn inside(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// `\u{…}` as the character it names.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_once('}').expect("\\u{ is closed");
        out.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}

fn decide(reply: &Reply, promise: &str) -> ExitDecision {
    let failure = reply.failure.as_ref().map(|failure| failure.message.as_str());
    decided(&Response::read_reply(&reply.text, reply.status.as_ref(), promise, failure))
}

fn decided(response: &Response) -> ExitDecision {
    let mut policy = Policy::strict(1, Micro::ZERO);
    // The cases are about what is read: a block alone has to be enough evidence.
    policy.gate.block_as_one = false;
    let mut trend = Trend::default();
    trend.add(response, &policy);
    trend.decision(&policy)
}

fn read(output: &str) -> Reply {
    read_all(output.as_bytes(), None, Exit::default())
}

#[test]
fn whole_outputs_come_to_their_decision() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in
        ["outputs/claude.txt", "outputs/json.txt", "outputs/text.txt"].iter().flat_map(|file| cases(file))
    {
        count += 1;
        let reply = read(&case.text);
        let promise = case.wants.get("promise").map_or("COMPLETE", String::as_str);
        let name = |value: serde_json::Value| value.as_str().unwrap_or("-").to_owned();
        let got = [
            ("decision", name(serde_json::to_value(decide(&reply, promise)).unwrap())),
            ("format", name(serde_json::to_value(reply.format).unwrap())),
            ("failure", name(serde_json::to_value(reply.failure.map(|f| f.class)).unwrap())),
        ];
        for (key, got) in got {
            let want = case.wants.get(key).map_or("-", String::as_str);
            if got != want {
                wrong.push(format!("{}: {key} is {got}, not {want}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 120, "only {count} outputs");
}

/// A message means the same in whatever format it comes; one that no reader knows claims nothing.
#[test]
fn every_message_means_the_same_in_every_format() {
    const MESSAGES: [&str; 8] =
        ["block", "forged", "rules", "promise", "lookalike", "quoted", "repeated", "honest"];
    let streams = cases("outputs/streams.txt");
    let carry = |stream: &Case, message: &str| {
        stream.text.replace("@MESSAGE@", &inside(message)).replace("@PLAIN@", message)
    };
    let knows = |stream: &Case| read(&carry(stream, "hello")).text.ends_with("hello");
    let known = streams.iter().filter(|stream| knows(stream)).count();
    assert!(known >= 7, "only {known} formats are read");
    let mut seen = 0;
    for case in MESSAGES.iter().flat_map(|file| cases(&format!("{file}.txt"))) {
        let promise = case.wants.get("wanted").map_or("COMPLETE", String::as_str);
        let direct = decided(&Response::read(&case.text, promise, None));
        for stream in &streams {
            let reply = read(&carry(stream, &case.text));
            let decision = decide(&reply, promise);
            // Terminal output is cleaned of control characters before it is read.
            let cleaned =
                reply.format == Format::Text && case.text.contains(|c: char| c.is_control() && c != '\n');
            if knows(stream) && !cleaned {
                assert_eq!(decision, direct, "{} as {}", case.name, stream.name);
            } else if direct == ExitDecision::Continue && !cleaned {
                assert_eq!(decision, ExitDecision::Continue, "{} as {}", case.name, stream.name);
            }
            seen += 1;
        }
    }
    assert!(seen >= 3000, "only {seen} were read");
}

/// A block in every place of an event stream but its final message.
fn noise() -> impl Strategy<Value = String> {
    let done = inside(&filled("@DONE@"));
    let lines = [
        format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{done}"}}]}}}}"#),
        format!(r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":"{done}"}}]}}}}"#),
        format!(r#"{{"type":"system","subtype":"init","session_id":"{done}","model":"m"}}"#),
        format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","delta":{{"text":"{done}"}}}}}}"#
        ),
        format!(r#"{{"type":"unheard","result":"{done}"}}"#),
        format!(r#"{{"result":"{done}"}}"#),
        format!(r#"{{"type":"result","result":"{done}"#),
        filled("@DONE@"),
        "<promise>COMPLETE</promise>".to_owned(),
        "npm warn [ { \" \\ \0".to_owned(),
        String::new(),
    ];
    prop::sample::select(lines.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Only the final message claims, whatever surrounds its event.
    #[test]
    fn only_the_final_message_claims(
        before in prop::collection::vec(noise(), 0..6),
        after in prop::collection::vec(noise(), 0..3),
        last in prop::sample::select(vec!["@DONE@", "@MORE@", "@STUCK@", "@TEMPLATE@", "Working.", "<promise>COMPLETE</promise>"]),
        cut in any::<bool>(),
    ) {
        let last = filled(last);
        let mut result = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{}"}}"#, inside(&last));
        if cut {
            result.truncate(result.len() - 1);
        }
        let start = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#.to_owned();
        let lines: Vec<String> = [vec![start], before, vec![result], after].concat();
        let decision = decide(&read(&lines.join("\n")), "COMPLETE");
        let expected = if cut { ExitDecision::Continue } else { decided(&Response::read(&last, "COMPLETE", None)) };
        prop_assert_eq!(decision, expected, "{}", lines.join("\n"));
    }
}
