//! What watching costs: a server at rest, 200 streams, ten watchers beside commits, and how long a line of an agent takes to
//! the page and to the screen; each beside its limit. RALPH is the program that is measured:
//! `cargo run --release -p ralph-web --example serve_bench -- RALPH [directory]`
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::indexing_slicing
)]

mod lines;
mod monitor;
mod served;
mod watchers;

use ralph_store::{Batch, Database, IterationRow, Put, Row, RunRow, Store};
use ralph_testkit::{Limit, Table};
use served::Served;
use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const RUNS: u64 = 1_000;
const ITERATIONS: u32 = 100;
const STREAMS: usize = 200;
const WATCHED: Duration = Duration::from_secs(10);

fn main() {
    let ralph =
        PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| panic!("name the program `ralph`")));
    let base = std::env::args_os().nth(2).map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("ralph-serve-bench-{}", std::process::id()));
    fs::create_dir_all(dir.join("workspace")).unwrap();
    let store = ralph_store::open(&dir.join("state/ralph")).unwrap();
    fill(&store);
    let mut table = Table::start();
    at_rest(&ralph, &dir, &mut table);
    many_streams(&ralph, &dir, &store, &mut table);
    watchers::measure(&ralph, &dir, &store, &mut table);
    lines::measure(&ralph, &dir, &mut table);
    fs::remove_dir_all(&dir).unwrap();
}

fn row(run: u64, head: u64) -> RunRow {
    RunRow {
        id: format!("0199aaaa-0000-7000-8000-{run:012}"),
        workspace: format!("/work/{run}"),
        task: "Make the tests of the parser pass, then the others".into(),
        agent: "claude".into(),
        started: 1_700_000_000_000,
        status: if head > 1 { "RUNNING" } else { "COMPLETED" }.into(),
        exit_code: (head == 1).then_some(0),
        iterations: ITERATIONS,
        head,
        max_iterations: 200,
        max_cost_micro: 50_000_000,
        ..RunRow::default()
    }
}

fn write(store: &dyn Store, row: &RunRow, iterations: u32) {
    let put = Put {
        stream: format!("run/{}", row.id),
        expect: row.head - 1,
        v: 1,
        kind: "note".into(),
        body: "{}".into(),
        ..Put::default()
    };
    let attempt = |n| {
        let files = 3;
        Row::Iteration(IterationRow {
            run: row.id.clone(),
            n,
            attempt: 1,
            cost_micro: 10_000,
            files,
            ..IterationRow::default()
        })
    };
    let rows = (1..=iterations).map(attempt).chain([Row::Run(Box::new(row.clone()))]).collect();
    store.commit(&Batch { put: vec![put], rows, ..Batch::default() }).unwrap();
}

fn fill(store: &Database) {
    for run in 0..RUNS {
        write(store, &row(run, 1), ITERATIONS);
    }
    println!("{RUNS} runs with {ITERATIONS} iterations each");
}

fn at_rest(ralph: &Path, dir: &Path, table: &mut Table) {
    let served = Served::start(ralph, dir);
    let ask = || {
        let began = Instant::now();
        let bytes = served.get("/api/v1/overview");
        (began.elapsed().as_secs_f64() * 1e3, bytes)
    };
    let ((first, _), (again, bytes)) = (ask(), ask());
    table.row("overview, first time", first, &Limit::Beside(again), "ms");
    table.note(&format!("{} kB; the limit is that of the second time", bytes / 1000));
    let rest = served.cpu_percent(|| sleep(WATCHED));
    table.row("at rest, no stream", rest, &Limit::Most(1.0), "% of a core");
    let _stream = served.ask("/api/v1/events");
    sleep(Duration::from_millis(500));
    let watched = served.cpu_percent(|| sleep(WATCHED));
    table.row("at rest, one stream", watched, &Limit::Most(1.0), "% of a core");
    memory("at rest", &served, 40.0, table);
}

fn memory(what: &str, served: &Served, most: f64, table: &mut Table) {
    let (all, own) = served.memory();
    table.row(&format!("{what}, memory"), all, &Limit::Most(most), "MB");
    table.row(&format!("{what}, memory without the program's file"), own, &Limit::Beside(most), "MB");
}

/// Reads streams on one thread, counting events.
fn count_events(streams: Vec<TcpStream>, heard: &Arc<AtomicU64>) {
    for mut stream in streams {
        let heard = Arc::clone(heard);
        std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn(move || {
                let mut piece = [0; 16 * 1024];
                while let Ok(n) = stream.read(&mut piece) {
                    if n == 0 {
                        return;
                    }
                    let events = piece[..n].windows(6).filter(|six| *six == b"event:").count();
                    heard.fetch_add(events as u64, Ordering::Relaxed);
                }
            })
            .unwrap();
    }
}

/// Ten changes a second to everybody.
fn many_streams(ralph: &Path, dir: &Path, store: &Database, table: &mut Table) {
    let served = Served::start(ralph, dir);
    let heard = Arc::new(AtomicU64::new(0));
    count_events((0..STREAMS).map(|_| served.ask("/api/v1/events")).collect(), &heard);
    sleep(Duration::from_secs(1));
    let (began, before) = (Instant::now(), heard.load(Ordering::Relaxed));
    let cpu = served.cpu_percent(|| {
        for head in 2..=101 {
            write(store, &row(0, head), 0);
            sleep(Duration::from_millis(100).saturating_sub(Duration::from_millis(1)));
        }
    });
    let rate = (heard.load(Ordering::Relaxed) - before) as f64 / began.elapsed().as_secs_f64();
    table.row(&format!("{STREAMS} streams, events"), rate, &Limit::Beside(2_000.0), "a second");
    table.row(&format!("{STREAMS} streams"), cpu, &Limit::Most(10.0), "% of a core");
    memory(&format!("{STREAMS} streams"), &served, 30.0, table);
}
