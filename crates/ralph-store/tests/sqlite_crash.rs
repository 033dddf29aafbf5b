//! kill -9 while another process commits without pause: what was acknowledged is there, whole and in order.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_wrap
)]

mod common;

use common::*;
use ralph_store::{Batch, IterationRow, Row, RunRow, Store};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const DIR: &str = "RALPH_STORE_TEST_WRITER";

/// Not a test by itself: the process that gets killed. It says each record's number once it is acknowledged.
#[test]
fn writer_process() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let store = ralph_store::open(Path::new(&dir)).unwrap();
    let mut head = store.head("run/a").unwrap().map_or(0, |h| h.seq);
    let mut out = std::io::stdout().lock();
    loop {
        store.commit(&step(head)).unwrap();
        head += 1;
        if head.is_multiple_of(7) {
            store.housekeep().unwrap();
        }
        if head.is_multiple_of(31) {
            store.truncate().unwrap();
        }
        writeln!(out, "ack {head}").unwrap();
    }
}

/// Everything a batch can hold, so that a torn one would show.
fn step(head: u64) -> Batch {
    let n = u32::try_from(head).unwrap();
    let run = RunRow { id: "a".into(), head: head + 1, iterations: n + 1, ..RunRow::default() };
    let iteration = IterationRow { run: "a".into(), n, ..IterationRow::default() };
    let previous = settle(&format!("{}", head.wrapping_sub(1)), 3);
    Batch {
        put: vec![put("run/a", head, &format!("{{\"n\":{head},\"pad\":\"{}\"}}", "x".repeat(500)))],
        settle: if head > 0 { vec![previous] } else { vec![] },
        rows: vec![Row::Run(Box::new(run)), Row::Iteration(iteration)],
        ..reserve(&head.to_string(), 10, vec![total("day", None), window("calls", 1000, None, 1)], 0)
    }
}

fn spawn(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer_process", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let place = OnDisk::new();
    let mut total_acks = 0;
    for round in 0..25u64 {
        let before = ralph_store::open(place.dir()).unwrap().head("run/a").unwrap().map_or(0, |h| h.seq);
        let mut child = spawn(place.dir());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let ack = |line: &str| line.rsplit_once("ack ").map(|(_, n)| n.parse::<u64>().unwrap());
        let first = lines.by_ref().find_map(|l| ack(&l)).expect("the writer says something");
        // A different moment each round, spread over a few commits.
        std::thread::sleep(Duration::from_micros(round * 397 % 9000));
        child.kill().unwrap();
        child.wait().unwrap();
        // The pipe still holds what was said before the end; a half line was not said.
        let last = lines
            .filter_map(|l| l.rsplit_once("ack ").and_then(|(_, n)| n.parse().ok()))
            .max()
            .unwrap_or(first);
        assert!(first > before);
        total_acks += last - before;
        check(place.dir(), last);
    }
    assert!(total_acks >= 25);
}

fn check(dir: &Path, acknowledged: u64) {
    let store = ralph_store::open(dir).unwrap();
    let head = store.verify_chain("run/a").unwrap().unwrap().seq;
    assert!(head >= acknowledged, "record {acknowledged} was acknowledged, only {head} are there");
    assert!(head <= acknowledged + 1, "at most the one in flight is extra");
    assert_eq!(store.verify().unwrap(), head);
    // The other parts of each batch came with it, or not at all.
    let run = store.run("a").unwrap().unwrap();
    assert_eq!((run.head, u64::from(run.iterations)), (head, head));
    assert_eq!(store.iterations("a").unwrap().len() as u64, head);
    let day = store.meter("day").unwrap();
    assert_eq!((day.settled, day.held), (3 * (head as i64 - 1), 10));
    assert_eq!(store.window("calls", 1000, 0).unwrap().used, head as i64);
}
