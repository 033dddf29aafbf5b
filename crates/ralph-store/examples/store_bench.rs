//! How long a commit takes, beside the floor of the same disk in the same run, and what opening and listing cost.
//! `cargo run --release -p ralph-store --example store_bench -- [directory]`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing
)]

use ralph_store::{
    Batch, Database, IterationRow, Limit, Memory, Put, Reserve, Row, RunFilter, RunRow, Settle, Store,
};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const COMMITS: usize = 1000;

fn main() {
    let base = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("ralph-store-bench-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    println!("{:<46} {:>9} {:>9} {:>9}", "", "p50", "p99", "worst");
    appending_floor(&dir);
    overwriting_floor(&dir);
    let store = ralph_store::open(&dir.join("state")).unwrap();
    commits("commit: one record", &store, small);
    commits("commit: records, money, rows (a full step)", &store, full);
    opening(&dir.join("state"));
    listing(&store);
    memory();
    fs::remove_dir_all(&dir).unwrap();
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let us = |n: usize| times[n.min(times.len() - 1)].as_secs_f64() * 1e6;
    let (p50, p99, worst) = (us(times.len() / 2), us(times.len() * 99 / 100), us(times.len()));
    println!("{what:<46} {p50:>6.0} us {p99:>6.0} us {worst:>6.0} us");
}

fn timed(n: usize, mut f: impl FnMut(usize)) -> Vec<Duration> {
    let one = |n| {
        let began = Instant::now();
        f(n);
        began.elapsed()
    };
    (0..n).map(one).collect()
}

/// What a log that grows costs at least: 8 KiB appended, then fdatasync.
fn appending_floor(dir: &Path) {
    let mut file = File::create(dir.join("floor")).unwrap();
    let times = timed(COMMITS, |_| {
        file.write_all(&[1; 8192]).unwrap();
        file.sync_data().unwrap();
    });
    report("floor: 8 KiB appended + fdatasync", times);
}

/// The same where the file already has its size.
fn overwriting_floor(dir: &Path) {
    let mut file = File::options().write(true).open(dir.join("floor")).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    let times = timed(COMMITS, |_| {
        file.write_all(&[2; 8192]).unwrap();
        file.sync_data().unwrap();
    });
    report("floor: 8 KiB overwritten + fdatasync", times);
}

fn record(stream: &str, n: usize) -> Put {
    let body = format!("{{\"n\":{n},\"because\":\"{}\"}}", "some facts ".repeat(20));
    Put {
        stream: stream.into(),
        expect: n as u64,
        at: n as i64,
        kind: "decided".into(),
        body,
        ..Put::default()
    }
}

fn small(n: usize) -> Batch {
    Batch { put: vec![record("run/small", n)], now: n as i64, ..Batch::default() }
}

fn full(n: usize) -> Batch {
    let now = n as i64 * 60_000;
    let id = format!("full/{n}/1");
    let against = vec![
        Limit::Total { meter: "run/full".into(), cap: None },
        Limit::Total { meter: "day/2026-11-15".into(), cap: Some(i64::MAX) },
        Limit::Window { meter: "calls".into(), span: 3_600_000, cap: Some(100), add: 1 },
    ];
    let previous = format!("full/{}/1", n.saturating_sub(1));
    Batch {
        put: vec![record("run/full", 2 * n), record("run/full", 2 * n + 1)],
        settle: vec![Settle { id: previous, actual: 100, ..Settle::default() }],
        reserve: Some(Reserve { id, to: 500_000, against }),
        rows: vec![Row::Run(Box::new(run("full", n))), Row::Iteration(iteration("full", n))],
        now,
        ..Batch::default()
    }
}

fn run(id: &str, n: usize) -> RunRow {
    RunRow {
        id: id.into(),
        workspace: "/home/me/project".into(),
        task: "do it".into(),
        head: n as u64,
        ..RunRow::default()
    }
}

fn iteration(run: &str, n: usize) -> IterationRow {
    let n = u32::try_from(n).unwrap_or(0);
    IterationRow { run: run.into(), n, attempt: 1, decision: "go on".into(), ..IterationRow::default() }
}

fn commits(what: &str, store: &Database, batch: fn(usize) -> Batch) {
    let times = timed(COMMITS, |n| {
        store.commit(&batch(n)).unwrap();
        if n % 10 == 9 {
            store.housekeep().unwrap();
        }
    });
    report(what, times);
}

fn opening(dir: &Path) {
    report("open, warm", timed(200, |_| drop(ralph_store::open(dir).unwrap())));
    report(
        "open_existing + one read",
        timed(200, |_| drop(ralph_store::open_existing(dir).unwrap().unwrap().run("x"))),
    );
}

fn listing(store: &Database) {
    for r in 0..1000 {
        let id = format!("run-{r:04}");
        let mut rows = vec![Row::Run(Box::new(run(&id, r)))];
        rows.extend((0..100).map(|n| Row::Iteration(iteration(&id, n))));
        store.commit(&Batch { rows, ..Batch::default() }).unwrap();
    }
    let filter = RunFilter { workspace: Some("/home/me/project".into()), ..RunFilter::default() };
    report("list 1,000 runs (beside 100,000 iterations)", timed(50, |_| drop(store.runs(&filter).unwrap())));
    report("iterations of one run", timed(50, |_| drop(store.iterations("run-0500").unwrap())));
    report("changed()", timed(1000, |_| assert!(store.changed().is_ok())));
}

fn memory() {
    for (what, batch) in [("one record", small as fn(usize) -> Batch), ("a full step", full)] {
        let store = Memory::new();
        let batches: Vec<Batch> = (0..100_000).map(batch).collect();
        let began = Instant::now();
        for batch in &batches {
            store.commit(batch).unwrap();
        }
        let each = began.elapsed().as_secs_f64() * 1e9 / batches.len() as f64;
        println!("memory: {what:<37} {each:>6.0} ns each");
    }
}
