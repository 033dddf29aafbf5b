//! Where a call ends, for the agents whose end is hard to see: Copilot, Kimi Code, pi, Aider and mini-swe-agent. A
//! stream that stops before its terminal event is not finished; text is only an answer where its own sign follows.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::detect::{read_all, whose};
use ralph_agents::{Activity, Exit, Format, ReaderEvent, Reply};
use ralph_rules::failure::Class;
use support::{Capture, captures, feed};

const AGENTS: &[&str] = &["copilot", "kimi", "pi", "aider", "mini"];

fn one(agent: &'static str, file: &str) -> Capture {
    captures(agent).into_iter().find(|capture| capture.file == file).expect(file)
}

fn zero() -> Exit {
    Exit { code: Some(0), ..Exit::default() }
}

fn class(reply: &Reply) -> Option<Class> {
    reply.failure.as_ref().map(|failure| failure.class)
}

#[test]
fn a_stream_cut_before_its_terminal_event_is_not_finished() {
    for (agent, file) in [
        ("copilot", "1.0.102-json.jsonl"),
        ("kimi", "2.1.0-stream-json.jsonl"),
        ("pi", "0.73.1-json-toolsread.jsonl"),
        ("pi", "0.73.1-json-e401.jsonl"),
    ] {
        let whole = one(agent, file).stdout;
        let end = whole.trim_ascii_end().len();
        let last_line = whole[..end].iter().rposition(|b| *b == b'\n').unwrap();
        for cut in (0..last_line).step_by(17).chain(last_line..whole.len()) {
            let (_, reply) = feed(agent, &[], &whole[..cut], b"", zero());
            assert_eq!(reply.finished, cut >= end, "{file} cut at {cut}");
            if cut < end {
                assert!(reply.failure.is_some(), "{file} cut at {cut}");
                assert!(reply.format == Format::Text || reply.text.is_empty(), "{file} cut at {cut}");
            }
        }
    }
}

#[test]
fn screens_cut_anywhere_get_a_reply_with_sense_in_it() {
    for agent in ["aider", "mini"] {
        for capture in captures(agent) {
            let step = (capture.stdout.len() / 400).max(1);
            for cut in (0..capture.stdout.len()).step_by(step) {
                let (_, reply) = feed(agent, &[], &capture.stdout[..cut], &capture.stderr, capture.exit);
                assert!(reply.finished != reply.failure.is_some(), "{} cut at {cut}", capture.file);
            }
            let crlf = String::from_utf8_lossy(&capture.stdout).replace('\n', "\r\n").into_bytes();
            let plain = feed(agent, &[], &capture.stdout, &capture.stderr, capture.exit);
            assert_eq!(feed(agent, &[], &crlf, &capture.stderr, capture.exit), plain, "{}", capture.file);
        }
    }
}

#[test]
fn an_output_says_whose_it_is() {
    for agent in AGENTS {
        let spoke = |c: &&Capture| c.stdout.len() > 500 && !c.file.contains("-text.txt");
        for capture in captures(agent).iter().filter(spoke) {
            assert_eq!(whose(&capture.stdout), *agent, "{}", capture.file);
        }
    }
    let report = one("mini", "2.4.6-text-trajectory.txt").report.unwrap();
    let reply = read_all(&report, Some("mini"), Exit::default());
    assert!(reply.finished && reply.usage.input == 1600, "a trajectory is read by itself");
}

/// What only stderr or the exit code tells cannot be told without them.
#[test]
fn analysis_without_an_exit_code_comes_to_the_same_class() {
    for agent in AGENTS {
        for capture in captures(agent) {
            let elsewhere = (*agent == "kimi" && !capture.finished && capture.exit.code == Some(1))
                || capture.file.contains("badflag")
                || capture.stdout.is_empty()
                || capture.report.is_some() && *agent == "mini";
            if elsewhere {
                continue;
            }
            let reply = read_all(&capture.stdout, Some(agent), Exit::default());
            let told = reply.failure.map(|f| serde_json::to_value(f.class).unwrap());
            let told = told.as_ref().and_then(|class| class.as_str());
            assert_eq!(told, capture.class.as_deref(), "{agent} {}", capture.file);
        }
    }
}

#[test]
fn kimis_last_words_are_heard_where_both_streams_are_one() {
    let capture = one("kimi", "2.1.0-stream-json-mid429.jsonl");
    let both = [capture.stdout, capture.stderr].concat();
    assert_eq!(class(&read_all(&both, Some("kimi"), Exit::default())), Some(Class::RateLimited));
    let tool = "{\"role\":\"meta\",\"type\":\"system.version\",\"version\":\"9\"}\n\
                error: failed to run prompt: provider.auth_error: 401 said a tool\n\
                {\"role\":\"assistant\",\"content\":\"fine\"}\n\
                {\"role\":\"meta\",\"type\":\"session.resume_hint\",\"session_id\":\"s\"}\n";
    let reply = read_all(tool.as_bytes(), Some("kimi"), zero());
    assert_eq!((class(&reply), reply.text.as_str()), (None, "fine"));
}

#[test]
fn a_retry_of_pis_is_no_end_and_its_last_failure_is() {
    let events = |file| {
        let (events, reply) = one("pi", file).read();
        let finals = events.iter().filter(|h| **h == ReaderEvent::Final).count();
        let retries =
            events.iter().filter(|h| matches!(h, ReaderEvent::Activity(Activity::Retrying { .. }))).count();
        (finals, retries, reply)
    };
    let (finals, retries, reply) = events("0.73.1-json-e429.jsonl");
    assert_eq!((finals, retries, class(&reply)), (1, 3, Some(Class::RateLimited)));
    let (finals, _, reply) = events("0.73.1-json-mid429.jsonl");
    assert_eq!((finals, class(&reply)), (1, Some(Class::RateLimited)));
    let (finals, _, reply) = events("0.73.1-json-e401.jsonl");
    assert_eq!((finals, class(&reply)), (0, Some(Class::Auth)), "it might have tried again");
}

#[test]
fn a_model_that_writes_of_failures_did_not_fail() {
    let words = "401 invalid x-api-key, rate limit, usage limit reached";
    for (agent, lines) in [
        (
            "pi",
            format!(
                "{{\"type\":\"message_end\",\"message\":{{\"role\":\"assistant\",\"stopReason\":\"stop\",\
                 \"content\":[{{\"type\":\"text\",\"text\":\"{words}\"}}]}}}}\n{{\"type\":\"agent_end\"}}\n"
            ),
        ),
        (
            "copilot",
            format!(
                "{{\"type\":\"assistant.message\",\"data\":{{\"content\":\"{words}\"}}}}\n\
                 {{\"type\":\"result\",\"sessionId\":\"s\",\"exitCode\":0}}\n"
            ),
        ),
        (
            "kimi",
            format!(
                "{{\"role\":\"assistant\",\"content\":\"{words}\"}}\n\
                 {{\"role\":\"meta\",\"type\":\"session.resume_hint\",\"session_id\":\"s\"}}\n"
            ),
        ),
        ("aider", format!("Aider v1\n\nlitellm.RateLimitError: {words}\n\nTokens: 5 sent, 5 received.\n")),
    ] {
        let (_, reply) = feed(agent, &[], lines.as_bytes(), b"", zero());
        assert_eq!((class(&reply), reply.finished), (None, true), "{agent}");
        assert!(reply.text.contains(words), "{agent}");
    }
}

#[test]
fn copilot_without_its_usage_file_used_nothing_that_is_known() {
    let capture = one("copilot", "1.0.102-json-usage.jsonl");
    assert_eq!(capture.read().1.usage.output, 100);
    let bare = Capture { report: Some(b"{\"modelMetrics\":".to_vec()), ..capture };
    assert_eq!(bare.read().1.usage.total(), 0);
}
