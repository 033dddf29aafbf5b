//! Many writers at once, in threads and in processes: nobody is turned away, nobody waits for ever, no cap is passed.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_possible_wrap
)]

mod common;

use common::*;
use ralph_store::{CommitError, Store};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const DIR: &str = "RALPH_STORE_TEST_DIR";
const NAME: &str = "RALPH_STORE_TEST_NAME";
const WRITERS: usize = 16;
const APPENDS: u64 = 15;
const CAP: i64 = 100;
/// Generous for a busy machine; without the gate and on a slow disk it is still far from SQLite's 60 s.
const WORST: Duration = Duration::from_secs(20);

/// Appends and asks for money in turn; returns the slowest append and how often money was granted.
fn work(dir: &Path, name: &str) -> (Duration, i64) {
    let store = ralph_store::open(dir).unwrap();
    let (mut worst, mut granted) = (Duration::ZERO, 0);
    for n in 0..APPENDS {
        let began = Instant::now();
        store.commit(&puts(vec![put(&format!("run/{name}"), n, "{}")])).unwrap();
        worst = worst.max(began.elapsed());
        match store.commit(&reserve(&format!("{name}/{n}"), 1, vec![total("day", CAP)], 0)) {
            Ok(_) => granted += 1,
            Err(CommitError::Refused(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    (worst, granted)
}

fn check(dir: &Path, results: &[(Duration, i64)]) {
    let worst = results.iter().map(|r| r.0).max().unwrap();
    let granted: i64 = results.iter().map(|r| r.1).sum();
    println!("{WRITERS} writers: slowest append {worst:?}");
    assert!(worst < WORST, "{worst:?}");
    assert_eq!(granted, CAP);
    let store = ralph_store::open(dir).unwrap();
    assert_eq!(store.meter("day").unwrap().held, CAP);
    assert_eq!(store.verify().unwrap(), WRITERS as u64 * APPENDS);
}

#[test]
fn sixteen_threads() {
    let place = OnDisk::new();
    let dir = place.dir();
    let results: Vec<_> = thread::scope(|s| {
        let writers: Vec<_> = (0..WRITERS).map(|w| s.spawn(move || work(dir, &w.to_string()))).collect();
        writers.into_iter().map(|w| w.join().unwrap()).collect()
    });
    check(dir, &results);
}

#[test]
fn sixteen_processes() {
    let place = OnDisk::new();
    let spawn = |w: usize| -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer_process", "--nocapture"])
            .env(DIR, place.dir())
            .env(NAME, w.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let writers: Vec<Child> = (0..WRITERS).map(spawn).collect();
    let results: Vec<_> =
        writers.into_iter().map(|w| result(&w.wait_with_output().unwrap().stdout)).collect();
    check(place.dir(), &results);
}

fn result(stdout: &[u8]) -> (Duration, i64) {
    let text = String::from_utf8_lossy(stdout);
    let (_, words) = text.split_once("result ").unwrap_or_else(|| panic!("no result in {text}"));
    let mut numbers = words.split_whitespace().map(|n| n.parse::<i64>());
    let mut next = || numbers.next().unwrap().unwrap();
    (Duration::from_micros(next().unsigned_abs()), next())
}

/// Not a test by itself: one of the sixteen processes.
#[test]
fn writer_process() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let (worst, granted) = work(Path::new(&dir), &std::env::var(NAME).unwrap());
    println!("result {} {granted} ", worst.as_micros());
}

#[test]
fn a_lock_held_elsewhere_is_waited_for() {
    let place = OnDisk::new();
    let store = place.sqlite();
    let other = rusqlite::Connection::open(place.dir().join("ralph.db")).unwrap();
    other.execute_batch("begin immediate").unwrap();
    thread::scope(|s| {
        let waiting = s.spawn(|| store.commit(&puts(vec![put("run/a", 0, "{}")])));
        thread::sleep(Duration::from_millis(300));
        assert!(!waiting.is_finished(), "it waits instead of failing");
        other.execute_batch("rollback").unwrap();
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_gate_that_never_opens_is_passed_after_its_deadline() {
    let place = OnDisk::new();
    let store = place.sqlite();
    let gate = std::fs::File::open(place.dir().join("ralph.gate")).unwrap();
    gate.lock().unwrap();
    store.commit(&puts(vec![put("run/a", 0, "{}")])).unwrap();
    assert_eq!(store.read("run/a", 0).unwrap().len(), 1);
}

#[test]
fn one_handle_serves_many_threads_and_counts_its_commits() {
    let place = OnDisk::new();
    let store = place.sqlite();
    let before = store.commits();
    thread::scope(|s| {
        for w in 0..4 {
            let store = &store;
            s.spawn(move || {
                for n in 0..10 {
                    store.commit(&puts(vec![put(&format!("run/{w}"), n, "{}")])).unwrap();
                    store.requests("a").unwrap();
                }
            });
        }
    });
    assert_eq!(store.commits() - before, 40);
    assert_eq!(store.since("run/", 0, usize::MAX).unwrap().entries.len(), 40);
}

#[test]
fn housekeeping_beside_writers_harms_nothing() {
    let place = OnDisk::new();
    let log = place.dir().join("ralph.db-wal");
    let store = place.sqlite();
    thread::scope(|s| {
        for w in 0..3 {
            let dir = place.dir();
            s.spawn(move || {
                let store = ralph_store::open(dir).unwrap();
                for n in 0..40 {
                    store.commit(&puts(vec![put(&format!("run/{w}"), n, &"x".repeat(9000))])).unwrap();
                    store.housekeep().unwrap();
                }
            });
        }
        for _ in 0..20 {
            store.truncate().unwrap();
            thread::sleep(Duration::from_millis(3));
        }
    });
    assert_eq!(store.verify().unwrap(), 120);
    store.housekeep().unwrap();
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 2 << 20, "filled, so that commits write over it");
    store.commit(&puts(vec![put("run/x", 0, "{}")])).unwrap();
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 2 << 20);
    store.truncate().unwrap();
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    drop(store);
    assert_eq!(place.sqlite().verify().unwrap(), 121);
}

#[test]
fn a_filled_log_is_no_obstacle_to_recovery() {
    let place = OnDisk::new();
    let store = place.sqlite();
    store.housekeep().unwrap();
    for n in 0..5 {
        store.commit(&puts(vec![put("run/a", n, "{}")])).unwrap();
    }
    // As after a power cut: the files as they are, without the shared index, never folded.
    drop(store);
    let other = OnDisk::new();
    for name in ["ralph.db", "ralph.db-wal"] {
        std::fs::copy(place.dir().join(name), other.dir().join(name)).unwrap();
    }
    assert_eq!(other.sqlite().verify().unwrap(), 5);
}
