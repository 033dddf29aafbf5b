//! What only Goose has: failures told as messages, messages in pieces, one document for a whole call.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::detect::{read_all, whose};
use ralph_agents::{Activity, Denial, Exit, Format, ReaderEvent, Reply};
use ralph_rules::failure::Class;
use support::{Capture, captures, feed};

const ERROR: &str = "Ran into this error: Server error: down.\\n\\nPlease retry if you think this is a transient or \
                     recoverable error.";
const COMPLETE: &str = r#"{"type":"complete","total_tokens":12,"input_tokens":10,"output_tokens":2}"#;

fn named(file: &str) -> Capture {
    captures("goose").into_iter().find(|capture| capture.file == file).unwrap()
}

fn said(id: &str, text: &str, metadata: &str) -> String {
    format!(
        r#"{{"type":"message","message":{{"id":{id},"role":"assistant","created":1,"content":[{{"type":"text","text":"{text}"}}],"metadata":{metadata}}}}}"#
    )
}

fn read(lines: &[String]) -> (Vec<ReaderEvent>, Reply) {
    let text = lines.join("\n") + "\n" + COMPLETE + "\n";
    feed("goose", &[], text.as_bytes(), b"", Exit { code: Some(0), ..Exit::default() })
}

fn class(reply: &Reply) -> Option<Class> {
    reply.failure.as_ref().map(|failure| failure.class)
}

#[test]
fn analysis_finds_out_whose_it_is_and_comes_to_the_same() {
    for capture in captures("goose") {
        let interrupted = capture.case.as_deref() == Some("interrupted");
        if capture.stdout.is_empty() || capture.file.ends_with(".txt") || capture.file.contains("noprovider")
        {
            continue;
        }
        if !interrupted {
            assert_eq!(whose(&capture.stdout), "goose", "{}", capture.file);
        }
        let (_, live) = capture.read();
        let reply = read_all(&capture.stdout, Some("goose"), Exit::default());
        assert_eq!((reply.finished, &reply.text), (live.finished, &live.text), "{}", capture.file);
        // Why it gave up is on stderr, which a file of its output does not hold.
        if !capture.file.contains("approve") {
            assert_eq!(class(&reply), class(&live), "{}", capture.file);
        }
    }
}

#[test]
fn an_error_is_the_clients_own_last_message() {
    let answer = said("\"chatcmpl-1\"", "All done.", "{}");
    let failed = |lines: &[String]| class(&read(lines).1);
    // The client's own: no id; or one that it made up, and the whole wording.
    assert_eq!(failed(&[said("null", ERROR, "{}")]), Some(Class::Outage));
    assert_eq!(failed(&[said("\"msg_1\"", ERROR, "{}")]), Some(Class::Outage));
    assert_eq!(failed(&[answer.clone(), said("null", ERROR, "{}")]), Some(Class::Outage));
    assert_eq!(read(&[said("null", ERROR, "{}")]).1.text, "", "an error is no final message");
    // The model's: it only begins like one, comes in pieces, is marked as the model's, or something followed.
    let quoting = said("\"chatcmpl-1\"", "Ran into this error: no test. Fixed.", "{}");
    assert_eq!(failed(&[quoting]), None);
    assert_eq!(failed(&[said("\"m\"", "I saw: ", "{}"), said("\"m\"", ERROR, "{}")]), None);
    assert_eq!(failed(&[said("\"m\"", ERROR, r#"{"inference":{"model":"x"}}"#)]), None);
    assert_eq!(failed(&[said("null", ERROR, "{}"), answer]), None);
}

#[test]
fn only_the_last_message_is_final_and_its_pieces_are_put_together() {
    let request = r#"{"type":"message","message":{"id":"a","role":"assistant","content":[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"ls"}}}}]}}"#;
    let response = r#"{"type":"message","message":{"id":"u","role":"user","content":[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"The user has declined to run this tool. DO NOT"}],"isError":true}}}]}}"#;
    let (events, reply) = read(&[
        said("\"a\"", "---RALPH_STATUS--- ", "{}"),
        request.to_owned(),
        response.to_owned(),
        said("\"b\"", "one ", "{}"),
        said("\"b\"", "two", "{}"),
    ]);
    assert_eq!((reply.text.as_str(), reply.usage.input, reply.usage.output), ("one two", 10, 2));
    assert_eq!(reply.denials, [Denial { tool: "shell".into(), detail: "ls".into() }]);
    assert!(events.contains(&ReaderEvent::Activity(Activity::ToolEnded { failed: true })));
    let (_, reply) = read(&[said("\"a\"", "let me look", "{}"), request.to_owned(), response.to_owned()]);
    assert_eq!((class(&reply), reply.text.as_str()), (None, ""), "what was said on the way is not final");
    let (_, reply) = read(&[request.to_owned()]);
    assert_eq!(class(&reply), Some(Class::Aborted), "it ended while a tool ran");
}

#[test]
fn a_stream_cut_at_any_byte_is_aborted_and_claims_nothing() {
    let whole = named("1.34.0-stream-json.jsonl").stdout;
    let end = whole.trim_ascii_end().len();
    for cut in 0..whole.len() {
        let exit = Exit { code: Some(0), ..Exit::default() };
        let (_, reply) = feed("goose", &[], &whole[..cut], b"", exit);
        assert_eq!(reply.finished, cut >= end, "cut at {cut}");
        assert_eq!(class(&reply), (cut < end).then_some(Class::Aborted), "cut at {cut}");
        assert!(cut >= end || reply.text.is_empty() || reply.format == Format::Text, "cut at {cut}");
    }
}

#[test]
fn other_ways_to_fail_are_heard() {
    let notice = |kind: &str, msg: &str| {
        format!(
            r#"{{"type":"message","message":{{"id":null,"role":"assistant","content":[{{"type":"systemNotification","notificationType":"{kind}","msg":"{msg}"}}]}}}}"#
        )
    };
    let failed = |line: String| class(&read(&[line]).1);
    assert_eq!(failed(notice("creditsExhausted", "Please add credits")), Some(Class::Billing));
    assert_eq!(
        failed(notice("inlineMessage", "Unable to continue: Context limit still exceeded")),
        Some(Class::ContextTooLong)
    );
    assert_eq!(failed(notice("inlineMessage", "Compacting")), None);
    assert_eq!(
        failed(r#"{"type":"error","error":"Rate limit exceeded"}"#.to_owned()),
        Some(Class::RateLimited)
    );
}

#[test]
fn a_document_tells_the_same_as_the_events() {
    let (events, reply) = named("1.34.0-json.jsonl").read();
    assert_eq!((reply.format, reply.garbled, reply.finished), (Format::Json, 0, true));
    let (_, streamed) = named("1.34.0-stream-json.jsonl").read();
    assert_eq!((reply.text, reply.usage), (streamed.text, streamed.usage));
    assert!(events.iter().all(|h| !matches!(h, ReaderEvent::Final)), "known only when all of it was there");
}
