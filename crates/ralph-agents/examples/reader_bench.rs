//! How fast the readers are on every agent's recorded calls, beside two floors measured in the same run: finding the
//! lines, and parsing them for nothing. The best of many rounds counts: a busy machine makes only slower ones.
//! `cargo run --release -p ralph-agents --example reader_bench [AGENT] [ROUNDS]`
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, clippy::expect_used)]

use memchr::{memchr, memchr_iter};
use ralph_agents::registry::{find, names};
use ralph_agents::{Call, Exit};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::path::Path;

/// The recorded calls of an agent that are streams of some length: all, or those that ended well. A failed call is
/// short, and most of its time goes into finding out why it failed, once.
fn mix(agent: &str, ended_well: bool) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let table = std::fs::read_to_string(folder.join(format!("{agent}.tsv"))).unwrap_or_default();
    let rows = table.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>());
    let wanted = rows.filter(|row| !ended_well || row.get(2) == Some(&"-"));
    let calls = wanted.filter_map(|row| std::fs::read(folder.join(agent).join(row.first()?)).ok());
    calls.filter(|call| memchr_iter(b'\n', call).count() >= 4 && call.starts_with(b"{\"")).collect()
}

/// Seconds this thread really ran: on a busy machine the clock on the wall says nothing.
fn ran() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    std::time::Duration::try_from(now).map_or(0.0, |d| d.as_secs_f64())
}

/// Megabytes in a second, in the best of the rounds.
fn best(bytes: usize, rounds: usize, mut round: impl FnMut()) -> f64 {
    // A round of a few milliseconds: long enough for the clock, short enough to run undisturbed.
    let times = (2_000_000 / bytes.max(1)).max(1);
    let one = |round: &mut dyn FnMut()| {
        let before = ran();
        (0..times).for_each(|_| round());
        ran() - before
    };
    let seconds = (0..rounds).map(|_| one(&mut round)).fold(f64::INFINITY, f64::min);
    #[allow(clippy::cast_precision_loss)]
    let megabytes = (times * bytes) as f64 / 1e6;
    megabytes / seconds
}

fn each_line(call: &[u8], mut line: impl FnMut(&[u8])) {
    let mut rest = call;
    while let Some(end) = memchr(b'\n', rest) {
        line(rest.get(..end).unwrap_or(rest));
        rest = rest.get(end + 1..).unwrap_or(&[]);
    }
}

fn read(agent: &str, call: &[u8]) {
    let mut reader = find(agent).expect("known").reader(&Call::default());
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

fn tell(what: &str, calls: &[Vec<u8>], agent: &str, rounds: usize) {
    let bytes = calls.iter().map(Vec::len).sum();
    let lines = best(bytes, rounds, || {
        calls.iter().for_each(|call| {
            black_box(memchr_iter(b'\n', call).count());
        });
    });
    let json = best(bytes, rounds, || calls.iter().for_each(|call| parse_for_nothing(call)));
    let reader = best(bytes, rounds, || calls.iter().for_each(|call| read(agent, call)));
    println!(
        "{what:<24}{:>4} calls {bytes:>8} bytes: reader {reader:>6.0} MB/s = {:.4} of finding lines ({lines:.0}), \
         {:.2} of JSON for nothing ({json:.0})",
        calls.len(),
        reader / lines,
        reader / json,
    );
}

/// A line with the output of a tool, as a working day brings them.
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
    let wanted = std::env::args().nth(1);
    let rounds = std::env::args().nth(2).and_then(|rounds| rounds.parse().ok()).unwrap_or(100);
    for agent in names().filter(|name| wanted.as_deref().is_none_or(|wanted| wanted == *name)) {
        let worked = mix(agent, true);
        if !worked.is_empty() {
            tell(agent, &worked, agent, rounds);
            tell(&format!("{agent}, failures too"), &mix(agent, false), agent, rounds);
        }
        if agent == "claude" {
            let mut session = worked.first().cloned().unwrap_or_default();
            session.splice(0..0, tool_result(20_000).repeat(50));
            tell("claude, big results", &[session], agent, rounds);
        }
    }
}
