//! Output of any size: a line of 32 MB, a flood of events, lines that invite a reader to start over at every byte.
//! Nothing is lost behind them, memory stays bounded, and twice the bytes take about twice the time.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod support;

use ralph_agents::{ReaderEvent, Reply};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use support::sane::{code, sane};
use support::{Capture, captures, feed, recorded};

/// A recorded call of each agent that prints events, one that ended well after some work.
fn workers() -> Vec<Capture> {
    let worked = |capture: &Capture| {
        capture.class.is_none()
            && capture.finished
            && capture.stdout.starts_with(b"{\"")
            && lines(capture) > 2
    };
    let one = |agent| captures(agent).into_iter().filter(worked).min_by_key(|capture| capture.stdout.len());
    let all: Vec<Capture> = recorded().into_iter().filter_map(one).collect();
    assert!(all.iter().any(|capture| capture.agent == "claude"));
    all
}

fn lines(capture: &Capture) -> usize {
    capture.stdout.iter().filter(|b| **b == b'\n').count()
}

/// The middle of the longest string in the first half of the output: before its end, so not the final message's.
fn longest_string(stdout: &[u8]) -> usize {
    let last = stdout.trim_ascii_end().iter().rposition(|b| *b == b'\n').unwrap();
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_' | b'-' | b'/' | b'.');
    let runs = stdout[..last].split(|b| !is_plain(b));
    let longest = runs.max_by_key(|run| run.len()).unwrap();
    longest.as_ptr() as usize - stdout.as_ptr() as usize + longest.len() / 2
}

/// The call with that string blown up to this size.
fn blown_up(capture: &Capture, size: usize) -> Vec<u8> {
    let at = longest_string(&capture.stdout);
    let filler = b"src/lib.rs: 10 lines of code ".repeat(size / 29);
    [&capture.stdout[..at], &filler, &capture.stdout[at..]].concat()
}

fn read_instead(capture: &Capture, stdout: Vec<u8>) -> (Vec<ReaderEvent>, Reply) {
    Capture { stdout, ..capture.clone() }.read()
}

#[test]
fn every_reader_survives_a_line_of_32_megabytes() {
    for capture in workers() {
        let (agent, clean) = (capture.agent, capture.read().1);
        let (events, reply) = read_instead(&capture, blown_up(&capture, 32 << 20));
        sane(&events, &reply);
        assert_eq!((reply.finished, reply.failure), (clean.finished, clean.failure), "{agent}");
        let told: usize = events.iter().map(|h| format!("{h:?}").len()).sum();
        assert!(told < 1 << 20, "{agent}: {told} bytes of activity");
    }
}

#[test]
fn every_reader_survives_a_huge_line_that_is_cut() {
    for capture in workers() {
        let mut stdout = blown_up(&capture, 8 << 20);
        stdout.truncate(7 << 20);
        stdout.push(b'\n');
        let (events, reply) = read_instead(&capture, stdout);
        sane(&events, &reply);
    }
}

/// Time this thread really ran: what other programs do on the machine does not count.
fn ran() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

fn cost(agent: &str, bytes: &[u8]) -> Duration {
    let began = ran();
    let (events, reply) = feed(agent, &[], bytes, b"", code(0));
    sane(&events, &reply);
    ran() - began
}

/// Twice the bytes take about twice as long, and never three times; starting over at every
/// byte would take four times as long. One fair measurement of several is enough.
fn in_proportion(agent: &str, what: &str, input: impl Fn(usize) -> Vec<u8>) {
    let (small, large) = (input(256 << 10), input(512 << 10));
    let mut seen = Vec::new();
    let fair = (0..6).any(|_| {
        let (one, two) = (cost(agent, &small), cost(agent, &large));
        seen.push((one, two));
        two < one * 3 || two < Duration::from_millis(2)
    });
    assert!(fair, "{agent}, {what}: {seen:?}");
}

#[test]
fn twice_the_bytes_take_every_reader_twice_the_time() {
    for capture in workers() {
        let agent = capture.agent;
        in_proportion(agent, "a long string", |size| blown_up(&capture, size));
        let last = capture.stdout.trim_ascii_end().iter().rposition(|b| *b == b'\n').unwrap();
        let (work, end) = capture.stdout.split_at(last + 1);
        in_proportion(agent, "many events", |size| [&work.repeat(size / work.len()), end].concat());
    }
}

#[test]
fn lines_that_invite_to_start_over_take_time_in_proportion() {
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
    for agent in recorded().into_iter().chain(["command"]) {
        for (start, middle, end) in shapes {
            in_proportion(agent, &format!("{start}{middle}…"), |size| {
                format!("{start}{}{end}", middle.repeat(size / middle.len())).into_bytes()
            });
        }
    }
}
