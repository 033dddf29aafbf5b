//! What large repositories cost: each part of an iteration at several sizes, from the times in the journal, beside a
//! plain walk of the same files; peak memory; and `ralph undo` of the run.

use crate::place::Place;
use crate::stats::{p50, timed};
use ralph_testkit::{Limit, Table};
use serde_json::Value;
use std::path::Path;

/// Iterations; the last one claims that all is done.
const ITERATIONS: u32 = 4;

/// Changes one file, and says in the last iteration that all is done.
const AGENT: &str = r#"echo "$RALPH_ITERATION" > note.txt
[ "$RALPH_ITERATION" -lt 4 ] || echo '<promise>COMPLETE</promise>'
"#;

/// Every size; a million files only where that is asked for, because making them takes a while.
pub fn measure(binary: &Path, table: &mut Table) {
    let long = std::env::var_os("RALPH_BENCH_LONG").is_some_and(|v| v == "1");
    for (files, most_ms, most_mb) in [
        (1_700, None, None),
        (10_000, None, None),
        (100_000, Some(500.0), None),
        (1_000_000, Some(6_000.0), Some(250.0)),
    ] {
        if files <= 100_000 || long {
            at(binary, table, files, (most_ms, most_mb));
        }
    }
}

fn at(binary: &Path, table: &mut Table, files: usize, (most_ms, most_mb): (Option<f64>, Option<f64>)) {
    let place = Place::new(binary, files);
    let agent = place.script("agent.sh", AGENT);
    let floor = timed(|| assert!(walk(&place.scratch.workspace()) >= files));
    table.note(&format!("{files} files: a plain walk takes {floor:.1} ms"));
    let mut command = place.run(&[], ITERATIONS + 1, &["true"], &["bash", &agent]);
    let peak = Place::watch(command.spawn().unwrap());
    let records = place.records();
    let (steps, whole) = (Steps::of(&records), iterations(&records));
    let beside = Limit::Beside(floor);
    table.row(&format!("{files} files: first snapshot"), steps.first("admit"), &beside, "ms");
    table.row(&format!("{files} files: later snapshot, p50"), steps.later("admit"), &beside, "ms");
    table.row(&format!("{files} files: protected paths, p50"), steps.later("inspect"), &beside, "ms");
    table.row(&format!("{files} files: tests compared"), steps.first("compare"), &beside, "ms");
    let limit = most_ms.map_or(Limit::Beside(floor), Limit::Most);
    table.row(&format!("{files} files: iteration, p50"), p50(&whole), &limit, "ms");
    let limit = most_mb.map_or(Limit::Beside(20.0), Limit::Most);
    table.row(&format!("{files} files: peak memory"), peak, &limit, "MB");
    let undone = timed(|| {
        let mut undo = place.scratch.command(binary);
        assert!(undo.args(["undo", "--yes"]).output().unwrap().status.success());
    });
    table.row(&format!("{files} files: undo"), undone, &Limit::Beside(floor), "ms");
}

/// How often a name occurs as a step, and how long each time, in order.
struct Steps(Vec<(String, f64)>);

impl Steps {
    /// From the decision that starts a step to the record that closes it.
    fn of(records: &[Value]) -> Steps {
        let pairs = records.iter().zip(records.iter().skip(1));
        Steps(
            pairs
                .filter_map(|(decided, closed)| {
                    let step = decided.pointer("/body/next/what/step")?.as_str()?;
                    Some((step.to_owned(), at_ms(closed)? - at_ms(decided)?))
                })
                .collect(),
        )
    }

    fn all(&self, step: &str) -> Vec<f64> {
        self.0.iter().filter(|(name, _)| name == step).map(|(_, ms)| *ms).collect()
    }

    fn first(&self, step: &str) -> f64 {
        self.all(step).first().copied().unwrap_or_default()
    }

    fn later(&self, step: &str) -> f64 {
        p50(self.all(step).get(1..).unwrap_or_default())
    }
}

/// From the end of one call to the end of the next, without the first call.
fn iterations(records: &[Value]) -> Vec<f64> {
    let ends: Vec<f64> = records.iter().filter(|r| r["kind"] == "call_ended").filter_map(at_ms).collect();
    ends.iter().zip(ends.iter().skip(1)).map(|(one, next)| next - one).collect()
}

fn at_ms(record: &Value) -> Option<f64> {
    record.get("at")?.as_f64()
}

/// Reads every directory and the state of every file, and nothing else.
fn walk(dir: &Path) -> usize {
    let mut files = 0;
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let metadata = entry.metadata().unwrap();
        files += if metadata.is_dir() { walk(&entry.path()) } else { 1 };
    }
    files
}
