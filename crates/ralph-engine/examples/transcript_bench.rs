//! What the index of times costs a transcript: 60 MB through redaction into the file as a call writes it, flushed after
//! every chunk, with and without the index in turns.
//! `cargo run --release -p ralph-engine --example transcript_bench`
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use ralph_engine::{
    redact::Redactor,
    transcript::{CAP, Transcript},
};

const BYTES: usize = 60 << 20;
const ROUNDS: usize = 9;

fn main() {
    let line = format!("{{\"type\":\"assistant\",\"text\":\"{}\"}}\n", "the parser reads a block ".repeat(8));
    let text = line.repeat(BYTES / line.len()).into_bytes();
    let dir = tempfile::tempdir().unwrap();
    for (what, chunk) in [("a full pipe", 64 << 10), ("line by line", line.len())] {
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // In turns, and each first as often as the other: the machine may become busier.
            for timed in [round % 2 == 0, round % 2 == 1] {
                let took = record(&dir.path().join("001.a1.out.jsonl"), &text, chunk, timed);
                if timed { with.push(took) } else { without.push(took) }
            }
        }
        let (before, after) = (median(&mut without), median(&mut with));
        let rate = |took: Duration| text.len() as u128 * 1_000 / took.as_nanos();
        let ratio = after.as_secs_f64() / before.as_secs_f64();
        println!("{what}: {} MB/s without, {} MB/s with, time x {ratio:.3}", rate(before), rate(after));
    }
}

fn record(path: &Path, text: &[u8], chunk: usize, timed: bool) -> Duration {
    let redactor = Redactor::new([("SERVICE_TOKEN", "0f9c2e7a1b8d4-06053")].into_iter());
    let create = if timed { Transcript::create_with_times } else { Transcript::create };
    let mut transcript = create(path, CAP).unwrap();
    let mut stream = redactor.stream();
    let start = Instant::now();
    for chunk in text.chunks(chunk) {
        stream.push_to(chunk, &mut |clean| transcript.write(clean));
        transcript.flush();
    }
    let took = start.elapsed();
    black_box(transcript.finish());
    std::fs::remove_file(path).unwrap();
    took
}

fn median(took: &mut [Duration]) -> Duration {
    took.sort();
    took.get(took.len() / 2).copied().unwrap_or_default()
}
