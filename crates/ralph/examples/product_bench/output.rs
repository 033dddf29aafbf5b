//! 100 MB of agent output end to end: pipe, redaction, transcript, reader; many turns at once; and single lines far
//! too long.

use crate::floors::cat;
use crate::place::Place;
use crate::stats::{millis, p50};
use crate::talk;
use ralph_testkit::{Limit, Table};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const MB: usize = 1_000_000;
const FLOOD: usize = 100 * MB;
const ROUNDS: usize = 3;
const TURNS: usize = 1_000;

/// What one call with this output took.
struct Took {
    /// Milliseconds the program ran.
    call: f64,
    /// Milliseconds from the decision to call until its closing fact: the transcript is joined and durable.
    phase: f64,
    /// Peak memory of ralph, MB.
    peak: f64,
}

/// Speed and memory.
pub fn measure(binary: &Path, table: &mut Table) {
    let place = Place::new(binary, 20);
    let empty = best(|| call(&place, Path::new("/dev/null")));
    flood(&place, table, &empty);
    turns(&place, table, &empty);
    lines(&place, table, &empty);
}

fn flood(place: &Place, table: &mut Table, empty: &Took) {
    let file = place.beside("flood.jsonl");
    let bytes = talk::write_flood(&file, FLOOD);
    let rate = |ms: f64| bytes as f64 / MB as f64 / (ms.max(1.0) / 1e3);
    let floor = p50(&(0..ROUNDS).map(|_| cat(&file)).collect::<Vec<_>>());
    let took = best(|| call(place, &file));
    let kept = durable(place, 64 << 20);
    table.note(&format!(
        "100 MB of output, best of {ROUNDS}: cat alone {:.0} MB/s, an empty call {:.0} ms, 64 MiB written and synced {kept:.0} ms",
        rate(floor),
        empty.call
    ));
    table.row("output, while the agent runs", rate(took.call - empty.call), &Limit::Least(400.0), "MB/s");
    let phase = rate(took.phase - empty.phase);
    table.row("output, until kept for good", phase, &Limit::Beside(rate(floor + kept)), "MB/s");
    table.row("output, memory beyond an empty call", took.peak - empty.peak, &Limit::Most(20.0), "MB");
}

/// Turns that each cost something, faster than any model speaks: the loop must not fall behind.
fn turns(place: &Place, table: &mut Table, empty: &Took) {
    let file = place.beside("turns.jsonl");
    talk::write_turns(&file, TURNS);
    let took = call(place, &file);
    let spent = place.records().iter().filter(|r| r["kind"] == "spent").count();
    table.note(&format!("{TURNS} turns at once, each with its cost:"));
    table.row("turns, records of usage", spent as f64, &Limit::Beside(TURNS as f64), "");
    let behind = (took.phase - took.call) - (empty.phase - empty.call);
    table.row("turns, the loop is behind by", behind, &Limit::Beside(took.call), "ms");
}

/// A line of 32 MB beside one of 8 MB.
fn lines(place: &Place, table: &mut Table, empty: &Took) {
    let file = place.beside("line.jsonl");
    let [short, long] = [8, 32].map(|mb| {
        talk::write_line(&file, mb * MB);
        let took = best(|| call(place, &file));
        ((took.call - empty.call).max(1.0), took.peak - empty.peak)
    });
    table.note(&format!("one line without a break: 8 MB in {:.0} ms, 32 MB in {:.0} ms", short.0, long.0));
    table.row("32 MB line, times an 8 MB line", long.0 / short.0, &Limit::Most(5.0), "times");
    table.row("8 MB line, memory beyond an empty call", short.1, &Limit::Most(20.0), "MB");
    table.row("32 MB line, memory beyond an empty call", long.1, &Limit::Most(20.0), "MB");
}

/// The shortest times and the highest peak of some rounds.
fn best(mut round: impl FnMut() -> Took) -> Took {
    (0..ROUNDS).fold(Took { call: f64::MAX, phase: f64::MAX, peak: 0.0 }, |best, _| {
        let took = round();
        Took {
            call: best.call.min(took.call),
            phase: best.phase.min(took.phase),
            peak: best.peak.max(took.peak),
        }
    })
}

fn call(place: &Place, file: &Path) -> Took {
    let peak = place.finish(place.run(&[], 1, &[], &["cat", &file.display().to_string()]), 1);
    let records = place.records();
    let at = |record: &Value| record["at"].as_f64().unwrap();
    let begun = records.iter().find(|r| r["body"]["next"]["what"]["step"] == "call").unwrap();
    let ended = records.iter().find(|r| r["kind"] == "call_ended").unwrap();
    Took { call: ended["body"]["ms"].as_f64().unwrap(), phase: at(ended) - at(begun), peak }
}

/// Milliseconds to write so many bytes and make them durable.
fn durable(place: &Place, bytes: usize) -> f64 {
    let path = place.beside("kept");
    let block = vec![7; 256 * 1024];
    let begun = Instant::now();
    let mut file = std::fs::File::create(&path).unwrap();
    for _ in 0..bytes / block.len() {
        file.write_all(&block).unwrap();
    }
    file.sync_data().unwrap();
    let took = millis(begun.elapsed());
    std::fs::remove_file(path).unwrap();
    took
}
