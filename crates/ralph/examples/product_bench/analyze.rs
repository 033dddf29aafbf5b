//! `ralph analyze` on 100 MB of events and of text, and on next to nothing.

use crate::floors::{cat, spawn};
use crate::place::Place;
use crate::stats::p50;
use crate::talk;
use ralph_testkit::{Limit, Table};
use std::path::Path;
use std::process::{Command, Stdio};

const MB: usize = 1_000_000;
const ROUNDS: usize = 5;
const TINY: usize = 50;

/// Speed, memory, and the least it takes.
pub fn measure(binary: &Path, table: &mut Table) {
    let place = Place::new(binary, 1);
    let (events, text, tiny) = (place.beside("events"), place.beside("text"), place.beside("tiny"));
    talk::write_flood(&events, 100 * MB);
    let line = "I looked at the parser, changed a few lines of it and ran everything once more.\n";
    std::fs::write(&text, line.repeat(100 * MB / line.len())).unwrap();
    std::fs::write(&tiny, "All tests pass. The implementation is complete.\n<promise>COMPLETE</promise>\n")
        .unwrap();
    for (what, file) in [("events", &events), ("text", &text)] {
        let bytes = std::fs::metadata(file).unwrap().len() as f64;
        let rate = |ms: f64| bytes / MB as f64 / (ms / 1e3);
        let floor = (0..ROUNDS).map(|_| cat(file)).fold(f64::MAX, f64::min);
        let name = file.display().to_string();
        let took = (0..ROUNDS).map(|_| spawn(binary, &["analyze", &name])).fold(f64::MAX, f64::min);
        table.note(&format!("analyze 100 MB of {what}, best of {ROUNDS}: cat alone {:.0} MB/s", rate(floor)));
        table.row(&format!("analyze, {what}"), rate(took), &Limit::Least(500.0), "MB/s");
        let analyze = Command::new(binary).args(["analyze", &name]).stdout(Stdio::null()).spawn().unwrap();
        table.row(&format!("analyze, {what}, memory"), Place::watch(analyze), &Limit::Most(20.0), "MB");
    }
    let name = tiny.display().to_string();
    let took: Vec<f64> = (0..TINY).map(|_| spawn(binary, &["analyze", &name])).collect();
    table.row("analyze, a few words, p50", p50(&took), &Limit::Most(5.0), "ms");
}
