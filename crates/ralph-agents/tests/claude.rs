//! What only Claude Code's reader has to stand: its own formats cut at any byte, its fields in other types.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod support;

use proptest::prelude::*;
use ralph_agents::{Format, Reply};
use ralph_rules::failure::Class;
use support::sane::{code, sane};
use support::{feed, named};

fn claude(line: &str) -> Reply {
    feed("claude", &[], line.as_bytes(), b"", code(0)).1
}

#[test]
fn a_stream_cut_at_any_byte_is_aborted_and_claims_nothing() {
    for file in ["1.0.60-stream-json.jsonl", "1.0.60-json.jsonl", "2.1.325-json-denied.jsonl"] {
        let whole = named(file).stdout;
        let end = whole.trim_ascii_end().len();
        for cut in 0..whole.len() {
            let (events, reply) = feed("claude", &[], &whole[..cut], b"", code(0));
            sane(&events, &reply);
            assert_eq!(reply.finished, cut >= end, "{file} cut at {cut}");
            if cut < end {
                assert_eq!(reply.failure.unwrap().class, Class::Aborted, "{file} cut at {cut}");
                assert!(reply.format == Format::Text || reply.text.is_empty(), "{file} cut at {cut}");
            }
        }
    }
}

#[test]
fn fields_of_another_type_are_only_missing() {
    for (fields, cost, turns) in [
        (r#""total_cost_usd":0.5,"num_turns":3"#, Some(500_000), Some(3)),
        (r#""total_cost_usd":"0.5","num_turns":"3""#, Some(500_000), Some(3)),
        (r#""total_cost_usd":NaN,"num_turns":-3"#, None, None),
        (r#""total_cost_usd":-Infinity,"num_turns":null"#, None, None),
        (r#""total_cost_usd":-1,"num_turns":[]"#, None, None),
        (r#""total_cost_usd":1e300,"num_turns":1e300"#, None, None),
        (r#""total_cost_usd":{},"num_turns":true,"usage":"none","permission_denials":{"a":1}"#, None, None),
        (r#""modelUsage":[],"errors":"x","session_id":7,"model":false"#, None, None),
    ] {
        let reply = claude(&format!(r#"{{"type":"result","is_error":false,"result":"ok",{fields}}}"#));
        assert_eq!((reply.text.as_str(), reply.finished), ("ok", true), "{fields}");
        assert_eq!((reply.cost.map(|c| c.0), reply.turns), (cost, turns), "{fields}");
    }
}

#[test]
fn strange_bytes_do_not_hide_the_result() {
    let result = r#"{"type":"result","is_error":false,"result":"done \ud83d"}"#;
    for line in [
        format!("{result}\r"),
        format!("\u{1b}[32m{result}\u{1b}[0m"),
        format!("\0\0{result}"),
        format!("Yes?{result}"),
        format!("  {result}  "),
    ] {
        assert_eq!(claude(&line).text, "done \u{fffd}", "{line:?}");
    }
    let broken = b"{\"type\":\"result\",\"is_error\":false,\"result\":\"caf\xe9\"}";
    assert_eq!(feed("claude", &[], broken, b"", code(0)).1.text, "caf\u{fffd}");
}

#[test]
fn a_tool_result_cut_by_the_hands_still_ends_the_tool() {
    let line = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"xxxxxxxx"#;
    let (events, reply) = feed("claude", &[], line.as_bytes(), b"", code(0));
    assert!(events.iter().any(|h| format!("{h:?}").contains("ToolEnded")));
    assert_eq!(reply.garbled, 0, "no event at all: it is text");
}

#[test]
fn a_flood_of_noise_is_counted_not_shown() {
    let mut flood = b"noise\n".repeat(5000);
    flood.extend_from_slice(b"{\"type\":\"result\",\"result\":\"end\"}\n");
    let (events, reply) = feed("claude", &[], &flood, b"", code(0));
    assert_eq!((reply.garbled, reply.text.as_str()), (5000, "end"));
    assert!(events.len() < 300);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_of_the_right_kinds_gets_a_reply(
        kind in "(system|user|assistant|result|stream_event|rate_limit_event)",
        key in "(message|event|rate_limit_info|usage|result|errors|content|subtype)",
        value in "[\\[\\]{}\":,0-9a-z\\\\]{0,40}",
    ) {
        for line in [
            format!(r#"{{"type":"{kind}","{key}":{value}}}"#),
            format!(r#"{{"{key}":{{"usage":{{"input_tokens":{value}}}}},"type":"{kind}"}}"#),
        ] {
            let (events, reply) = feed("claude", &[], line.as_bytes(), b"", code(0));
            sane(&events, &reply);
        }
    }
}
