//! What an iteration costs ralph itself at the beginning of a long run and at its end, in processor time (a clock would
//! measure the other programs of the machine, too), and how long commands take on the run afterwards.

use crate::place::Place;
use crate::stats::{p50, timed};
use ralph_testkit::{Limit, Table};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

const AGENT: &str = "echo $EPOCHREALTIME > note.txt\necho >> \"$1\"\n";

/// Processor time of the first and the last tenth of the iterations, and commands on the finished run.
pub fn measure(binary: &Path, table: &mut Table) {
    let long = std::env::var_os("RALPH_BENCH_LONG").is_some_and(|v| v == "1");
    let iterations: u32 = if long { 10_000 } else { 2_000 };
    let place = Place::new(binary, 0);
    let (agent, log) = (place.script("agent.sh", AGENT), place.beside("count"));
    std::fs::write(&log, "").unwrap();
    let shown = log.display().to_string();
    let child = place.run(&[], iterations, &["true"], &["bash", &agent, &shown]).spawn().unwrap();
    let spent = processor_time(child, &log, u64::from(iterations / 10));
    let (first, last) = (spent[2] - spent[1], spent[9] - spent[8]);
    let each = |ms: f64| ms / f64::from(iterations / 10);
    table.note(&format!("{iterations} iterations with a verification, processor time of ralph alone:"));
    table.row("iteration, ninth tenth beside second", each(last), &Limit::Most(each(first) * 1.25), "ms");
    for (args, limit) in [
        (&["status"][..], 100.0),
        (&["explain"], 100.0),
        (&["resume", "--quiet"], 100.0),
        (&["doctor"], 500.0),
    ] {
        let times: Vec<f64> = (0..5).map(|_| timed(|| command(&place, binary, args))).collect();
        let limit = if long { Limit::Most(limit) } else { Limit::Beside(limit) };
        table.row(&format!("{} after {iterations} iterations", args[0]), p50(&times), &limit, "ms");
    }
}

fn command(place: &Place, binary: &Path, args: &[&str]) {
    let mut command = place.scratch.command(binary);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap();
}

/// Milliseconds of processor time that a run had used at the end of each tenth of its iterations.
fn processor_time(mut child: Child, log: &Path, tenth: u64) -> Vec<f64> {
    let stat = format!("/proc/{}/stat", child.id());
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let (mut marks, mut used) = (vec![0.0], 0.0);
    loop {
        let ended = child.try_wait().unwrap().is_some();
        let text = std::fs::read_to_string(&stat).unwrap_or_default();
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |n: usize| fields.get(n).and_then(|f| f.parse::<f64>().ok()).unwrap_or_default();
        used = f64::max(used, (field(11) + field(12)) * 1e3 / ticks);
        let done = std::fs::metadata(log).unwrap().len();
        if done >= tenth * marks.len() as u64 || ended {
            marks.push(used);
        }
        if ended {
            assert!(marks.len() > 10, "the run ended after {done} iterations");
            return marks;
        }
        std::thread::sleep(Duration::from_millis(4));
    }
}
