//! How fast output is cleaned and kept, beside the floor of merely looking for line breaks in the same bytes.
//! `cargo run --release -p ralph-engine --example redact_bench`
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use ralph_engine::{
    redact::Redactor,
    transcript::{CAP, Transcript},
};

const BLOCK: usize = 20 << 20;
const ROUNDS: usize = 10;
const RUNS: usize = 5;
/// What a pipe gives at once.
const CHUNK: usize = 64 << 10;

/// Ordinary words of an agent.
const ORDINARY: &[&str] = &[
    "let redactor = Redactor::new(values);",
    "The parser reads a block, then asks the rules what comes next; nothing is kept between two calls.",
    "fn read_block(text: &str) -> Option<Block> {\\n        let start = text.find(OPEN)?;\\n",
    "   Compiling serde_json v1.0.140\\n    Finished `dev` profile in 2.31s\\n",
    "diff --git a/src/claim.rs b/src/claim.rs\\nindex 83db48f..bf269f4 100644\\n",
    "assert_eq!(left.len(), right.len(), \\\"both sides hold the same steps\\\");",
    "error[E0308]: mismatched types\\n  --> src/lib.rs:42:9\\n   |\\n",
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904 f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "    #[derive(Clone, Debug, PartialEq)]\\n    pub struct Step { name: String }\\n",
    "running 214 tests\\ntest parser::reads_a_block ... ok\\n",
    "| file | lines | covered |\\n|------|------:|--------:|\\n",
    "\\u001b[32mok\\u001b[0m https://docs.rs/regex/latest/regex/struct.Regex.html",
];
/// Words that begin like keys.
const NEAR_MISSES: &[&str] = &[
    "I'll look at the task-runner first, then at the disk-usage report and its tokens.",
    "npm_config_cache=/home/me/.npm npm_lifecycle_event=test",
    "class=\\\"sk-cube-grid\\\" and a Bearer header, Basic authentication",
    "The parser reads a block, then asks the rules what comes next.",
];

fn main() {
    let text = jsonl(ORDINARY);
    let known: Vec<(String, String)> =
        (0..8).map(|n| (format!("SERVICE_{n}_TOKEN"), format!("{n}f9c2e7a1b8d4-{n}6053"))).collect();
    let redactor = Redactor::new(known.into_iter());
    let total = BLOCK * ROUNDS;
    println!("{} MB of JSONL in chunks of {} KB, 8 known values", total >> 20, CHUNK >> 10);

    report("floor: count line breaks (memchr)", total, || {
        over(&text, |chunk| {
            black_box(memchr::memchr_iter(b'\n', chunk).count());
        });
    });
    let near = jsonl(NEAR_MISSES);
    for (what, text) in [("redact", &text), ("redact, full of near misses", &near)] {
        report(what, total, || {
            let mut stream = redactor.stream();
            let mut given = 0;
            over(text, |chunk| stream.push_to(chunk, &mut |clean| given += clean.len()));
            stream.finish_to(&mut |clean| given += clean.len());
            assert_eq!(given, total, "what holds no secret passes whole");
        });
    }
    let dir = tempfile::tempdir().unwrap();
    report("transcript, cap 64 MiB, synced", total, || {
        let path = dir.path().join("plain");
        let mut transcript = Transcript::create(&path, CAP).unwrap();
        over(&text, |chunk| transcript.write(chunk));
        black_box(transcript.finish());
        std::fs::remove_file(path).unwrap();
    });
    report("redact + transcript, synced", total, || {
        let path = dir.path().join("clean");
        let mut transcript = Transcript::create(&path, CAP).unwrap();
        let mut stream = redactor.stream();
        over(&text, |chunk| stream.push_to(chunk, &mut |clean| transcript.write(clean)));
        stream.finish_to(&mut |clean| transcript.write(clean));
        black_box(transcript.finish());
        std::fs::remove_file(path).unwrap();
    });

    hostile(&redactor);
}

/// One line of 32 MB in which every place may be the start of a key.
fn hostile(redactor: &Redactor) {
    println!("hostile lines without a break, 32 MB each");
    for unit in
        ["x", "sk-", "eyJ", "eyJaaaaaaaaaaaa ", "-----BEGIN PRIVATE KEY-----", "0f9c2e7a1b8d4-06", "SG."]
    {
        let chunk = unit.repeat(CHUNK / unit.len());
        report(unit, 32 << 20, || {
            let mut stream = redactor.stream();
            for _ in 0..(32 << 20) / chunk.len() {
                stream.push_to(chunk.as_bytes(), &mut |clean| {
                    black_box(clean);
                });
            }
        });
    }
}

fn over(text: &[u8], mut each: impl FnMut(&[u8])) {
    for _ in 0..ROUNDS {
        text.chunks(CHUNK).for_each(&mut each);
    }
}

/// The best of some runs, by the clock and by the processor's: the machine may be busy with something else.
fn report(what: &str, bytes: usize, mut work: impl FnMut()) {
    let mut took = Duration::MAX;
    let mut busy = Duration::MAX;
    for _ in 0..RUNS {
        let (start, cpu) = (Instant::now(), processor_time());
        work();
        took = took.min(start.elapsed());
        busy = busy.min(processor_time() - cpu);
    }
    let rate = |took: Duration| u128::try_from(bytes).unwrap() * 1000 / took.as_nanos().max(1);
    println!("{:>7} MB/s {:>7} MB/s of processor time  {what}", rate(took), rate(busy));
}

fn processor_time() -> Duration {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).unwrap()
}

/// Lines like those of an agent's stream, never twice the same.
fn jsonl(phrases: &[&str]) -> Vec<u8> {
    let mut text = Vec::with_capacity(BLOCK + 8192);
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut roll = |sides: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        usize::try_from(dice >> 33).unwrap() % sides
    };
    while text.len() < BLOCK {
        text.extend_from_slice(
            b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"",
        );
        for _ in 0..1 + roll(40) {
            text.extend_from_slice(phrases.get(roll(phrases.len())).unwrap().as_bytes());
            text.extend_from_slice(format!(" {} ", roll(100_000)).as_bytes());
        }
        text.extend_from_slice(b"\"}],\"usage\":{\"input_tokens\":812,\"output_tokens\":77}}}\n");
    }
    text.truncate(BLOCK);
    text
}
