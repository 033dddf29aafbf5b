//! Output that no version prints: cut, mixed, broken, huge. A reader always gives a reply, never takes back
//! what it said was spent, and takes time in proportion to what it reads.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod support;

use proptest::prelude::*;
use ralph_agents::detect::read_all;
use ralph_agents::{Exit, Format, Heard, Reply, Spent};
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use support::{feed, named};

const STREAMS: &[&str] = &[
    "1.0.60-stream-json.jsonl",
    "2.1.325-stream-json-partial.jsonl",
    "2.1.325-stream-json-denied.jsonl",
    "2.1.325-stream-json-eunified-oauth-retries1.jsonl",
];

fn grows(heard: &[Heard]) -> bool {
    let spent: Vec<&Spent> =
        heard.iter().filter_map(|h| if let Heard::Spent(s) = h { Some(s) } else { None }).collect();
    spent.windows(2).all(|pair| {
        let (a, b) = (pair[0], pair[1]);
        a.total <= b.total
            && a.dearest <= b.dearest
            && a.usage.input <= b.usage.input
            && a.usage.output <= b.usage.output
            && a.usage.cache_read <= b.usage.cache_read
            && a.usage.cache_write <= b.usage.cache_write
    })
}

fn sane(heard: &[Heard], reply: &Reply) {
    assert!(grows(heard));
    assert!(reply.text.len() <= 3 << 20, "{}", reply.text.len());
    assert!(reply.finished || reply.failure.is_some());
    assert!(reply.cost.is_none_or(|c| c >= Micro::ZERO));
}

fn code(code: i32) -> Exit {
    Exit { code: Some(code), ..Exit::default() }
}

fn claude(line: &str) -> Reply {
    feed("claude", &[], line.as_bytes(), b"", code(0)).1
}

#[test]
fn a_stream_cut_at_any_byte_is_aborted_and_claims_nothing() {
    for file in ["1.0.60-stream-json.jsonl", "1.0.60-json.jsonl", "2.1.325-json-denied.jsonl"] {
        let whole = named(file).stdout;
        let end = whole.trim_ascii_end().len();
        for cut in 0..whole.len() {
            let (heard, reply) = feed("claude", &[], &whole[..cut], b"", code(0));
            sane(&heard, &reply);
            assert_eq!(reply.finished, cut >= end, "{file} cut at {cut}");
            if cut < end {
                assert_eq!(reply.failure.unwrap().class, Class::Aborted, "{file} cut at {cut}");
                assert!(reply.format == Format::Text || reply.text.is_empty(), "{file} cut at {cut}");
            }
        }
    }
}

#[test]
fn every_reader_survives_every_cut_of_a_long_stream() {
    let whole = named("2.1.325-stream-json-eunified-oauth-retries1.jsonl").stdout;
    for cut in (0..whole.len()).step_by(7) {
        for agent in [None, Some("claude")] {
            read_all(&whole[..cut], agent, Exit::default());
        }
        let (heard, reply) = feed("command", &[], &whole[..cut], b"", code(1));
        sane(&heard, &reply);
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
    let (heard, reply) = feed("claude", &[], line.as_bytes(), b"", code(0));
    assert!(heard.iter().any(|h| format!("{h:?}").contains("ToolEnded")));
    assert_eq!(reply.garbled, 0, "no event at all: it is text");
}

#[test]
fn a_flood_of_noise_is_counted_not_shown() {
    let mut flood = b"noise\n".repeat(5000);
    flood.extend_from_slice(b"{\"type\":\"result\",\"result\":\"end\"}\n");
    let (heard, reply) = feed("claude", &[], &flood, b"", code(0));
    assert_eq!((reply.garbled, reply.text.as_str()), (5000, "end"));
    assert!(heard.len() < 300);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_get_a_reply(bytes in prop::collection::vec(any::<u8>(), 0..2000), exit in -15i32..3) {
        let exit = if exit < 0 { Exit { signal: Some(-exit), ..Exit::default() } } else { code(exit) };
        for agent in ["claude", "command", "sim"] {
            let (heard, reply) = feed(agent, &[], &bytes, &bytes, exit);
            sane(&heard, &reply);
            read_all(&bytes, Some(agent), Exit::default());
        }
    }

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
            let (heard, reply) = feed("claude", &[], line.as_bytes(), b"", code(0));
            sane(&heard, &reply);
        }
    }

    #[test]
    fn noise_between_the_lines_changes_nothing(
        which in 0..STREAMS.len(),
        noise in prop::collection::vec(("[^{}\\[\\n]{1,40}", 0..60usize), 1..8),
    ) {
        let capture = named(STREAMS[which]);
        let (_, clean) = capture.read();
        let mut lines: Vec<&[u8]> = capture.stdout.trim_ascii_end().split(|b| *b == b'\n').collect();
        for (text, at) in &noise {
            lines.insert(at % lines.len(), text.as_bytes());
        }
        let (heard, mut reply) = feed("claude", &[], &lines.join(&b'\n'), b"", capture.exit);
        prop_assert!(grows(&heard));
        prop_assert!(reply.garbled as usize <= noise.len());
        reply.garbled = 0;
        prop_assert_eq!(reply, clean);
    }

    #[test]
    fn flipped_bytes_never_break_the_reader(
        which in 0..STREAMS.len(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut stdout = named(STREAMS[which]).stdout;
        for (at, byte) in flips {
            let at = at.index(stdout.len());
            stdout[at] = byte;
        }
        let (heard, reply) = feed("claude", &[], &stdout, b"", code(0));
        sane(&heard, &reply);
    }
}

/// Time this thread really ran: what other programs do on the machine does not count.
fn ran() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

fn fastest(bytes: &[u8]) -> Duration {
    let once = || {
        let began = ran();
        let (heard, reply) = feed("claude", &[], bytes, b"", code(0));
        sane(&heard, &reply);
        ran() - began
    };
    (0..3).map(|_| once()).min().unwrap()
}

/// Sixteen times the bytes may take up to a hundred times as long; quadratic would be 256 times.
#[test]
fn long_lines_take_time_in_proportion() {
    let shapes: &[(&str, &str, &str)] = &[
        (r#"{"type":"result","result":""#, r"a\n", r#""}"#),
        (r#"{"type":"user","message":{"content":[{"type":"tool_result","content":""#, r"\u00e9", r#""}]}}"#),
        (r#"{"type":"user","message":{"content":[{"type":"tool_result","content":""#, "cut", ""),
        ("", "{", ""),
        ("[", "[", ""),
        ("", "{\"type\":", ""),
        ("", "x{}", ""),
        ("{\"type\":\"result\",\"result\":NaN,\"x\":\"", "NaN", "\"}"),
        ("{", "\"a\":1,", "\"type\":\"result\",\"result\":\"\"}"),
        ("", "\u{1b}[", ""),
        ("", "word\n", ""),
    ];
    for (start, middle, end) in shapes {
        let line = |size: usize| format!("{start}{}{end}", middle.repeat(size / middle.len())).into_bytes();
        let (small, large) = (fastest(&line(1 << 15)), fastest(&line(1 << 19)));
        let allowed = small.max(Duration::from_micros(200)) * 100;
        assert!(large < allowed, "{start}{middle}…: {small:?} for 32 KiB, {large:?} for 512 KiB");
    }
}
