//! Fifty processes race for one budget: what is granted is exactly what the cap allows, to the last micro-dollar, and
//! the books say the same afterwards. They wait for each other at a gate, so that all of them ask at once.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_wrap
)]

mod common;

use common::*;
use ralph_store::{CommitError, Store};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const DIR: &str = "RALPH_STORE_RACE_DIR";
const NAME: &str = "RALPH_STORE_RACE_NAME";
const RUNNERS: usize = 50;
/// One in seven runners asks for less, so that a grant too many or too few shows.
const ASKS: i64 = 500_000;
const CAP: i64 = 9_870_000;

fn asks(runner: usize) -> i64 {
    if runner.is_multiple_of(7) { ASKS / 3 } else { ASKS }
}

struct Runner {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Runner {
    fn start(dir: &Path, name: usize) -> Runner {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "one_of_fifty", "--nocapture"])
            .env(DIR, dir)
            .env(NAME, name.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Runner { child, out }
    }

    /// Reads until it says this word; what follows it in the line.
    fn says(&mut self, word: &str) -> String {
        let mut line = String::new();
        while self.out.read_line(&mut line).unwrap() > 0 {
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
            line.clear();
        }
        panic!("it never said {word:?}");
    }
}

#[test]
fn fifty_processes_share_one_budget_exactly() {
    let place = OnDisk::new();
    drop(place.sqlite());
    let mut runners: Vec<Runner> = (0..RUNNERS).map(|n| Runner::start(place.dir(), n)).collect();
    for runner in &mut runners {
        runner.says("ready");
    }
    for runner in &mut runners {
        runner.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let mut granted = 0;
    for runner in &mut runners {
        granted += runner.says("granted").parse::<i64>().unwrap();
        assert!(runner.child.wait().unwrap().success());
    }
    let store = place.sqlite();
    let day = store.meter("day").unwrap();
    assert!(granted <= CAP, "{granted} of {CAP}");
    assert_eq!((day.held, day.settled), (granted, 0), "what was granted is what is held");
    // Nobody was refused while there was room for the smallest wish.
    assert!(CAP - granted < ASKS, "{} are left though {ASKS} were asked for", CAP - granted);
    let runs: i64 = (0..RUNNERS).map(|n| store.meter(&format!("run/{n}")).unwrap().held).sum();
    assert_eq!(runs, granted, "run by run and day by day the same");
}

/// Not a test by itself: one of the fifty.
#[test]
fn one_of_fifty() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let name: usize = std::env::var(NAME).unwrap().parse().unwrap();
    let store = ralph_store::open(Path::new(&dir)).unwrap();
    println!("\nready");
    std::io::stdin().read_exact(&mut [0; 3]).unwrap();
    let against = vec![total("day", CAP), total(&format!("run/{name}"), i64::MAX)];
    let granted = match store.commit(&reserve(&format!("{name}/1"), asks(name), against, 0)) {
        Ok(done) => done.grant.unwrap().to,
        Err(CommitError::Refused(_)) => 0,
        Err(other) => panic!("{other}"),
    };
    println!("granted {granted}");
}
