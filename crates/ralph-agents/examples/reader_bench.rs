//! How fast the claude reader is on recorded calls, beside two floors: finding the lines, and parsing them
//! for nothing.
//! `cargo run --release -p ralph-agents --example reader_bench [MB]`
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, clippy::expect_used)]

use memchr::{memchr, memchr_iter, memmem};
use ralph_agents::registry::find;
use ralph_agents::{Call, Exit};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Instant;

/// The recorded calls that did some work, and their size.
fn mix() -> (Vec<Vec<u8>>, usize) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/claude");
    let mut calls = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the captures are in the repository") {
        let path = entry.expect("a file").path();
        if path.to_string_lossy().contains("-stream-json") && path.extension().is_some_and(|e| e == "jsonl") {
            let call = std::fs::read(path).expect("readable");
            if memmem::find(&call, b"tool_result").is_some() {
                calls.push(call);
            }
        }
    }
    let bytes = calls.iter().map(Vec::len).sum();
    (calls, bytes)
}

/// Seconds this thread really ran: on a busy machine the clock on the wall says nothing.
fn ran() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    std::time::Duration::try_from(now).map_or(0.0, |d| d.as_secs_f64())
}

fn measure(what: &str, bytes: usize, total: usize, mut round: impl FnMut()) {
    let rounds = (total / bytes).max(1);
    let (clock, ran_before) = (Instant::now(), ran());
    (0..rounds).for_each(|_| round());
    let elapsed = clock.elapsed().as_secs_f64();
    let busy = ran() - ran_before;
    #[allow(clippy::cast_precision_loss)]
    let megabytes = (rounds * bytes) as f64 / 1e6;
    println!(
        "{what:<26} {:>7.0} MB/s of running   {:>7.0} by the clock",
        megabytes / busy,
        megabytes / elapsed
    );
}

fn each_line(call: &[u8], mut line: impl FnMut(&[u8])) {
    let mut rest = call;
    while let Some(end) = memchr(b'\n', rest) {
        line(rest.get(..end).unwrap_or(rest));
        rest = rest.get(end + 1..).unwrap_or(&[]);
    }
}

fn read(call: &[u8]) {
    let mut reader = find("claude").expect("known").reader(&Call::default());
    let mut heard = Vec::new();
    each_line(call, |line| {
        reader.read(line, &mut heard);
        black_box(&heard);
        heard.clear();
    });
    black_box(reader.close(Exit::default()));
}

fn parse_for_nothing(call: &[u8]) {
    each_line(call, |line| {
        black_box(serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok());
    });
}

fn tool_result(size: usize) -> Vec<u8> {
    let output = r#"src/lib.rs:10:    let x = \"a\";\n"#.repeat(size / 32);
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
         \"tool_use_id\":\"t\",\"content\":\"{output}\"}}]}},\"session_id\":\"s\",\
         \"tool_use_result\":{{\"stdout\":\"{output}\",\"stderr\":\"\"}}}}\n"
    )
    .into_bytes()
}

fn main() {
    let total = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(200usize) * 1_000_000;
    let (calls, bytes) = mix();
    println!("{} recorded calls, {bytes} bytes", calls.len());
    measure("floor: find the lines", bytes, total, || {
        calls.iter().for_each(|call| {
            black_box(memchr_iter(b'\n', call).count());
        });
    });
    measure("floor: JSON, nothing kept", bytes, total, || {
        calls.iter().for_each(|call| parse_for_nothing(call));
    });
    measure("reader: recorded calls", bytes, total, || calls.iter().for_each(|call| read(call)));

    // A session: one recorded call with the tool output that a working day brings.
    let mut session = calls.first().cloned().unwrap_or_default();
    session.splice(0..0, tool_result(20_000).repeat(50));
    measure("reader: big tool results", session.len(), total, || read(&session));
}
