//! How long a line of an agent takes to those who watch.

use crate::monitor::Monitor;
use crate::served::{Served, in_place};
use ralph_store::{RunFilter, Store};
use ralph_testkit::{Limit, Table};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Lines that the agent says.
const SAID: usize = 150;

/// A scripted agent says something now and then: from when a line lies in the transcript to when the stream brings it to the
/// page, and to when it stands on the screen of a monitor.
pub fn measure(ralph: &Path, dir: &Path, table: &mut Table) {
    let served = Served::start(ralph, dir);
    let script = dir.join("agent.sim");
    let says: String = (0..SAID).map(|n| format!("say Line {n:04} of it\nrun true\nsleep 37ms\n")).collect();
    fs::write(&script, format!("{says}claim blocked\n")).unwrap();
    let mut run = in_place(ralph, dir);
    run.args([
        "run",
        "Say something",
        "--agent",
        "sim",
        "--max-iterations",
        "1",
        "--max-cost",
        "1",
        "--verify",
        "true",
    ]);
    run.args(["--", "--script"]).arg(&script).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    let store = ralph_store::open_existing(&dir.join("state/ralph")).unwrap().unwrap();
    let filter = RunFilter { text: Some("Say something".into()), ..RunFilter::default() };
    let id = loop {
        match store.runs(&filter).unwrap().first() {
            Some(row) => break row.id.clone(),
            None => sleep(Duration::from_millis(20)),
        }
    };
    let transcript = dir.join("state/ralph/runs").join(&id).join("001.a1.out.jsonl");
    let written = std::thread::spawn(move || when_written(&transcript));
    let drawn = Arc::new(Mutex::new(BTreeMap::new()));
    let onto = Arc::clone(&drawn);
    let look = move |screen: &str| note_lines(screen, &mut onto.lock().unwrap());
    let monitor = Monitor::start(ralph, dir, Some(&id), Box::new(look));
    let mut arrived = BTreeMap::new();
    for line in BufReader::new(served.ask(&format!("/api/v1/events?run={id}"))).lines().map_while(Result::ok)
    {
        note_lines(&line, &mut arrived);
        if arrived.len() == SAID {
            break;
        }
    }
    run.wait().unwrap();
    let written = written.join().unwrap();
    drop(monitor);
    report("agent's line to the page", &written, &arrived, table);
    report("agent's line to the screen", &written, &drawn.lock().unwrap(), table);
}

type Times = BTreeMap<String, Instant>;

fn report(what: &str, written: &Times, arrived: &Times, table: &mut Table) {
    // What was written before anybody looked is no delay.
    let Some(first) = arrived.values().min() else {
        return table.note(&format!("{what}: none came"));
    };
    let later = arrived.iter().filter_map(|(n, at)| Some((written.get(n)?, at)));
    let delays = later.filter(|(written, _)| written > &first);
    let mut times: Vec<f64> =
        delays.map(|(written, at)| at.saturating_duration_since(*written).as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    table.row(&format!("{what}, p50"), at(50), &Limit::Beside(100.0), "ms");
    table.row(&format!("{what}, p95"), at(95), &Limit::Most(100.0), "ms");
    table.note(&format!("{} of {SAID} lines", times.len()));
}

/// When each line of the agent was first seen in this text.
fn note_lines(text: &str, seen: &mut Times) {
    for part in text.split("Line ").skip(1) {
        if let Some(n) =
            part.get(..4).filter(|_| part.get(4..).is_some_and(|rest| rest.starts_with(" of it")))
        {
            seen.entry(n.to_owned()).or_insert_with(Instant::now);
        }
    }
}

/// Looks into the transcript a thousand times a second.
fn when_written(transcript: &Path) -> Times {
    let (mut seen, mut read) = (BTreeMap::new(), 0);
    while seen.len() < SAID {
        sleep(Duration::from_millis(1));
        let Ok(bytes) = fs::read(transcript) else { continue };
        // From a little before what was new: a line may have come in two pieces.
        let from = read.min(bytes.len()).saturating_sub(64);
        note_lines(&String::from_utf8_lossy(&bytes[from..]), &mut seen);
        read = bytes.len();
    }
    seen
}
