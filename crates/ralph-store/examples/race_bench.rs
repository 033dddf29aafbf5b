//! Fifty processes that are open and ready ask for money from one budget at once: how long until all have their answer,
//! beside the floor of the same disk in the same run.
//! `cargo run --release -p ralph-store --example race_bench -- [directory]`
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use ralph_store::{Batch, CommitError, Limit, Reserve, Store};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RUNNERS: usize = 50;
const ASKS: i64 = 500_000;
const CAP: i64 = 10_000_000;
const ROUNDS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [word, dir, name] = args.as_slice()
        && word == "runner"
    {
        return run(Path::new(dir), name);
    }
    let base = args.first().map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = base.join(format!("ralph-race-bench-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    println!(
        "{:<60} {:>8.1} ms",
        format!("floor: {RUNNERS} × 8 KiB appended + fdatasync, in turn"),
        ms(floor(&dir))
    );
    let mut times: Vec<Duration> = (0..ROUNDS).map(|n| race(&dir.join(n.to_string()))).collect();
    times.sort();
    let middle = times.get(ROUNDS / 2).copied().unwrap_or_default();
    println!(
        "{:<60} {:>8.1} ms",
        format!("{RUNNERS} processes race for one budget, all answered"),
        ms(middle)
    );
    fs::remove_dir_all(&dir).unwrap();
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn floor(dir: &Path) -> Duration {
    let mut file = File::create(dir.join("floor")).unwrap();
    let began = Instant::now();
    for _ in 0..RUNNERS {
        file.write_all(&[1; 8192]).unwrap();
        file.sync_data().unwrap();
    }
    began.elapsed()
}

/// From the moment they may ask until the last one has its answer.
fn race(dir: &Path) -> Duration {
    let store = ralph_store::open(dir).unwrap();
    store.housekeep().unwrap();
    let mut runners: Vec<Child> = (0..RUNNERS).map(|n| start(dir, n)).collect();
    let mut outs: Vec<_> = runners.iter_mut().map(|r| BufReader::new(r.stdout.take().unwrap())).collect();
    let mut line = String::new();
    for out in &mut outs {
        out.read_line(&mut line).unwrap();
    }
    let mut ins: Vec<_> = runners.iter_mut().map(|r| r.stdin.take().unwrap()).collect();
    let began = Instant::now();
    for to in &mut ins {
        to.write_all(b"!").unwrap();
    }
    let mut granted = 0;
    for out in &mut outs {
        line.clear();
        out.read_line(&mut line).unwrap();
        granted += line.trim().parse::<i64>().unwrap();
    }
    let took = began.elapsed();
    for mut runner in runners {
        runner.wait().unwrap();
    }
    assert_eq!(granted, CAP, "the budget is granted to the last micro-dollar and not beyond");
    assert_eq!(store.meter("day").unwrap().held, granted);
    took
}

fn start(dir: &Path, name: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("runner").arg(dir).arg(name.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process starts")
}

fn run(dir: &Path, name: &str) {
    let store = ralph_store::open(dir).unwrap();
    // The first read opens the connection, as a run that is about to ask has done long ago.
    store.meter("day").unwrap();
    println!("ready");
    std::io::stdin().read_exact(&mut [0]).unwrap();
    let against = vec![
        Limit::Total { meter: format!("run/{name}"), cap: None },
        Limit::Total { meter: "day".into(), cap: Some(CAP) },
    ];
    let reserve = Some(Reserve { id: format!("{name}/1"), to: ASKS, against });
    match store.commit(&Batch { reserve, ..Batch::default() }) {
        Ok(_) => println!("{ASKS}"),
        Err(CommitError::Refused(_)) => println!("0"),
        Err(other) => panic!("{other}"),
    }
}
