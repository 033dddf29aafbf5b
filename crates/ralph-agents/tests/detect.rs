//! Whose output a file is, and what it came to, without being told: the agents that speak one dialect with
//! different accents are told apart, in all their formats.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::Exit;
use ralph_agents::detect::{read_all, whose};
use support::{Capture, captures};

/// The agents that speak Claude's dialect.
const ALIKE: &[&str] = &["claude", "qwen", "grok"];

/// Whether an output is in one of the agent's formats, not in plain words.
fn is_json(capture: &Capture) -> bool {
    matches!(capture.stdout.trim_ascii().first(), Some(b'{' | b'['))
}

/// Classes that the output alone does not tell: a limit of the client's own that only its exit code or stderr says.
fn told_elsewhere(capture: &Capture) -> bool {
    let own_limit = matches!(capture.exit.code, Some(53 | 55)) && capture.agent == "qwen";
    own_limit || capture.file == "1.0.41-json-loop-maxturns3.jsonl"
}

#[test]
fn the_speakers_of_one_dialect_are_told_apart() {
    for agent in ALIKE {
        let all = captures(agent);
        let printed = all.iter().filter(|capture| is_json(capture));
        for capture in printed {
            assert_eq!(whose(&capture.stdout), *agent, "{}", capture.file);
            // By its beginning alone, as where the rest is cut: its first two lines say it.
            let second = capture.stdout.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(1);
            if let Some((end, _)) = second.filter(|_| capture.stdout.starts_with(b"{\"")) {
                assert_eq!(whose(&capture.stdout[..end]), *agent, "beginning of {}", capture.file);
            }
        }
        for capture in all.iter().filter(|capture| !is_json(capture)) {
            assert_eq!(whose(&capture.stdout), "command", "{}", capture.file);
        }
    }
}

#[test]
fn an_output_is_read_alike_with_and_without_its_agents_name() {
    for agent in ["qwen", "grok"] {
        for capture in captures(agent).iter().filter(|capture| is_json(capture)) {
            let named = read_all(&capture.stdout, Some(agent), Exit::default());
            assert_eq!(read_all(&capture.stdout, None, Exit::default()), named, "{}", capture.file);
            if !told_elsewhere(capture) {
                let class = named.failure.map(|f| serde_json::to_value(f.class).unwrap());
                let class = class.as_ref().and_then(|class| class.as_str());
                assert_eq!(class, capture.class.as_deref(), "{}", capture.file);
            }
        }
    }
}

#[test]
fn text_that_is_an_error_alone_is_one_for_every_agent() {
    let plain = captures("grok").into_iter().find(|c| c.file == "1.0.41-plain-e401.txt").unwrap();
    for agent in [None, Some("grok"), Some("command")] {
        let reply = read_all(&plain.stdout, agent, Exit::default());
        assert!(reply.failure.is_some(), "{agent:?}");
    }
}

#[test]
fn arrays_are_known_by_their_first_items() {
    let qwen = captures("qwen").into_iter().find(|c| c.file == "0.24.4-json.jsonl").unwrap().stdout;
    let end = qwen.len() - 100;
    assert_eq!(whose(&qwen[..end]), "qwen", "cut in its last item");
    assert_eq!(whose(b"[1,2,3]"), "command");
    assert_eq!(whose(b"[{\"type\":\"assist"), "command");
}
