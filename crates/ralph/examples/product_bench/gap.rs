//! The gap from one agent's end to the next one's start, in a repository of 1,700 files, with an agent that does
//! next to nothing; and the peak memory of the same runs.

use crate::floors::{durable_write, spawned};
use crate::place::Place;
use crate::stats::{p50, share};
use ralph_testkit::{Limit, Table};
use std::path::Path;

/// Files of the repository.
pub const FILES: usize = 1_700;

/// Says when it starts and ends, and changes one file. bash reads the clock without starting a program.
pub const AGENT: &str = r#"began=$EPOCHREALTIME
echo "$began" > note.txt
echo "$began $EPOCHREALTIME" >> "$1"
"#;

/// Gap and memory, without and with a verification.
pub fn measure(binary: &Path, table: &mut Table) {
    let long = std::env::var_os("RALPH_BENCH_LONG").is_some_and(|v| v == "1");
    let iterations = if long { 1_000 } else { 200 };
    let place = Place::new(binary, FILES);
    let agent = place.script("agent.sh", AGENT);
    for (what, verify, spawns) in [("", &[][..], 1.0), (" + verify `true`", &["true"][..], 2.0)] {
        let log = place.beside("times").display().to_string();
        let before = Floors::now(&place);
        let peak = place.finish(place.run(&[], iterations, verify, &["bash", &agent, &log]), iterations);
        let floors = before.mean(&Floors::now(&place));
        let gaps = gaps(&std::fs::read_to_string(&log).unwrap());
        std::fs::remove_file(log).unwrap();
        assert_eq!(gaps.len() + 1, iterations as usize);
        let limit = 10.0 + 4.0 * floors.sync + spawns * floors.spawn;
        table.note(&format!(
            "{iterations} iterations{what}: fdatasync of 8 KiB {:.2} ms, spawn of bash {:.2} ms; 10 ms + 4 × fdatasync + {spawns} × spawn",
            floors.sync, floors.spawn
        ));
        table.row(&format!("gap{what}, p50"), p50(&gaps), &Limit::Most(limit), "ms");
        table.row(&format!("gap{what}, p90"), share(&gaps, 0.9), &Limit::Beside(limit), "ms");
        let (first, last) = quarters(&gaps);
        table.row(&format!("gap{what}, last quarter beside first"), last, &Limit::Most(first * 1.25), "ms");
        table.row(&format!("peak memory, {iterations} iterations{what}"), peak, &Limit::Most(20.0), "MB");
    }
}

struct Floors {
    sync: f64,
    spawn: f64,
}

impl Floors {
    fn now(place: &Place) -> Floors {
        Floors { sync: durable_write(place.scratch.root(), 100), spawn: spawned("bash", &["-c", ":"], 50) }
    }

    fn mean(&self, other: &Floors) -> Floors {
        Floors { sync: f64::midpoint(self.sync, other.sync), spawn: f64::midpoint(self.spawn, other.spawn) }
    }
}

/// Milliseconds from each end to the next start.
fn gaps(log: &str) -> Vec<f64> {
    let times: Vec<(f64, f64)> = log
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(began, ended)| (began.parse().unwrap(), ended.parse().unwrap()))
        .collect();
    times.iter().zip(times.iter().skip(1)).map(|(one, next)| (next.0 - one.1) * 1e3).collect()
}

fn quarters(gaps: &[f64]) -> (f64, f64) {
    let quarter = gaps.len() / 4;
    let (first, last) = (gaps.get(..quarter).unwrap(), gaps.get(gaps.len() - quarter..).unwrap());
    (p50(first), p50(last))
}
