//! Output that no version prints: cut, mixed, broken. Every reader gives a reply with a class, never takes back what
//! it said was spent, and is not misled by what stands between its events. Sizes and times are in `large.rs`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod support;

use proptest::prelude::*;
use ralph_agents::detect::read_all;
use ralph_agents::{Exit, Format, ReaderEvent, Reply};
use ralph_rules::failure::Class;
use std::sync::LazyLock;
use support::sane::{code, grows, sane};
use support::{Capture, captures, feed, recorded};

/// Every recorded call of every agent that has some output.
static ALL: LazyLock<Vec<Capture>> = LazyLock::new(|| {
    let all = recorded().into_iter().flat_map(captures);
    all.filter(|capture| !capture.stdout.trim_ascii().is_empty()).collect()
});

/// Those with an event per line: of every agent so many that all its events are among them.
static STREAMS: LazyLock<Vec<&Capture>> = LazyLock::new(|| {
    let small = |c: &&Capture| c.stdout.starts_with(b"{\"") && c.stdout.len() < 24 << 10;
    let by_lines = |c: &&Capture| small(c) && c.read().1.format == Format::Jsonl;
    let some = |agent| ALL.iter().filter(move |c| c.agent == agent).filter(by_lines).take(16);
    recorded().into_iter().flat_map(some).collect()
});

/// Reads a recorded call with another stdout.
fn read_instead(capture: &Capture, stdout: &[u8]) -> (Vec<ReaderEvent>, Reply) {
    let changed = Capture { stdout: stdout.to_vec(), ..capture.clone() };
    changed.read()
}

/// The smallest recorded success of an agent, and its smallest failure.
fn specimens(agent: &str) -> Vec<&'static Capture> {
    let smallest = |failed: bool| {
        let fitting = ALL.iter().filter(|c| c.agent == agent && c.class.is_some() == failed && c.finished);
        fitting.min_by_key(|capture| capture.stdout.len())
    };
    [smallest(false), smallest(true)].into_iter().flatten().collect()
}

#[test]
fn every_reader_survives_every_cut() {
    for agent in recorded() {
        for capture in specimens(agent) {
            let step = capture.stdout.len().div_ceil(1200);
            for cut in (0..capture.stdout.len()).step_by(step) {
                let (events, reply) = read_instead(capture, &capture.stdout[..cut]);
                sane(&events, &reply);
                read_all(&capture.stdout[..cut], None, Exit::default());
            }
        }
    }
}

/// Agents with a terminal event: before it nothing is an answer.
#[test]
fn a_stream_without_its_end_is_aborted_and_claims_nothing() {
    for capture in
        STREAMS.iter().filter(|c| matches!(c.agent, "claude" | "qwen" | "grok") && c.class.is_none())
    {
        let body = capture.stdout.trim_ascii_end();
        let last = body.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        for cut in [last, last + 1, body.len() - 1] {
            let changed = Capture { stdout: body[..cut].to_vec(), exit: code(0), ..(*capture).clone() };
            let reply = changed.read().1;
            assert!(!reply.finished && reply.text.is_empty(), "{} cut at {cut}", capture.file);
            assert_eq!(reply.failure.unwrap().class, Class::Aborted, "{} cut at {cut}", capture.file);
        }
    }
}

#[test]
fn every_reader_survives_carriage_returns() {
    for capture in STREAMS.iter() {
        let crlf = capture.stdout.split(|b| *b == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
        assert_eq!(read_instead(capture, &crlf), capture.read(), "{} {}", capture.agent, capture.file);
    }
}

/// Changes every number outside of strings.
fn change_numbers(text: &[u8], mut change: impl FnMut(&str) -> String) -> Vec<u8> {
    let is_number = |b: u8| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E');
    let mut out = Vec::new();
    let (mut quoted, mut escaped, mut at) = (false, false, 0);
    while let Some(&byte) = text.get(at) {
        if !quoted && (byte.is_ascii_digit() || byte == b'-') {
            let end = text[at..].iter().position(|b| !is_number(*b)).map_or(text.len(), |n| at + n);
            out.extend(change(std::str::from_utf8(&text[at..end]).unwrap()).into_bytes());
            at = end;
            continue;
        }
        quoted ^= byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        out.push(byte);
        at += 1;
    }
    out
}

#[test]
fn every_reader_survives_numbers_written_as_strings() {
    for capture in STREAMS.iter() {
        let strings = change_numbers(&capture.stdout, |number| format!("\"{number}\""));
        let (events, reply) = read_instead(capture, &strings);
        sane(&events, &reply);
        assert_eq!(reply, capture.read().1, "{} {}", capture.agent, capture.file);
    }
}

#[test]
fn every_reader_survives_numbers_that_are_none() {
    for capture in STREAMS.iter() {
        for none in ["NaN", "-Infinity", "null", "-1", "1e400", "[]", "{}", "\"many\""] {
            let broken = change_numbers(&capture.stdout, |_| none.to_owned());
            let (events, reply) = read_instead(capture, &broken);
            sane(&events, &reply);
            // Where the number was what says that it went well, nothing does any more.
            let heard_all = reply.text == capture.read().1.text;
            assert!(heard_all || reply.failure.is_some(), "{none}: {} {}", capture.agent, capture.file);
        }
    }
}

/// Every field of an object, by the names on the way to it.
fn fields(value: &serde_json::Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let Some(object) = value.as_object().filter(|_| path.len() < 4) else { return };
    for (key, inner) in object {
        path.push(key.clone());
        found.push(path.clone());
        fields(inner, path, found);
        path.pop();
    }
}

fn without(value: &serde_json::Value, path: &[String]) -> serde_json::Value {
    let mut value = value.clone();
    let (last, way) = path.split_last().unwrap();
    let object = way.iter().fold(&mut value, |object, key| &mut object[key]);
    object.as_object_mut().unwrap().remove(last);
    value
}

#[test]
fn every_reader_survives_missing_fields() {
    for agent in recorded() {
        for capture in specimens(agent) {
            let lines: Vec<&[u8]> = capture.stdout.split(|b| *b == b'\n').collect();
            for (at, line) in lines.iter().enumerate() {
                let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
                let mut found = Vec::new();
                fields(&value, &mut Vec::new(), &mut found);
                for path in found {
                    let changed = without(&value, &path).to_string();
                    let mut lines = lines.clone();
                    lines[at] = changed.as_bytes();
                    let (events, reply) = read_instead(capture, &lines.join(&b'\n'));
                    sane(&events, &reply);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_reader_survives_any_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..2000), exit in -15i32..60,
    ) {
        let exit = if exit < 0 { Exit { signal: Some(-exit), ..Exit::default() } } else { code(exit) };
        for agent in recorded().into_iter().chain(["command", "sim"]) {
            let (events, reply) = feed(agent, &[], &bytes, &bytes, exit);
            sane(&events, &reply);
            read_all(&bytes, Some(agent), Exit::default());
        }
    }

    #[test]
    fn every_reader_survives_noise_between_the_lines(
        which in any::<prop::sample::Index>(),
        noise in prop::collection::vec(("[^{}\\[\\n]{1,40}", 0..60usize), 1..8),
    ) {
        let capture = STREAMS[which.index(STREAMS.len())];
        let mut lines: Vec<&[u8]> = capture.stdout.trim_ascii_end().split(|b| *b == b'\n').collect();
        for (text, at) in &noise {
            lines.insert(at % lines.len(), text.as_bytes());
        }
        let (events, mut reply) = read_instead(capture, &lines.join(&b'\n'));
        let clean = capture.read().1;
        prop_assert!(grows(&events));
        prop_assert!(reply.garbled - clean.garbled <= u32::try_from(noise.len()).unwrap());
        reply.garbled = clean.garbled;
        prop_assert_eq!(reply, clean, "{} {}", capture.agent, &capture.file);
    }

    #[test]
    fn every_reader_survives_flipped_bytes(
        which in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let capture = &ALL[which.index(ALL.len())];
        let mut stdout = capture.stdout.clone();
        for (at, byte) in flips {
            let at = at.index(stdout.len());
            stdout[at] = byte;
        }
        let (events, reply) = read_instead(capture, &stdout);
        sane(&events, &reply);
        read_all(&stdout, None, Exit::default());
    }
}
