//! One ralph per workspace, whatever happened to the last one.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use ralph_tree::{LockError, WorkspaceLock};
use support::Scratch;

#[test]
fn the_second_is_told_who_the_first_is() {
    let w = Scratch::new();
    let locks = w.beside("state/locks");
    assert_eq!(WorkspaceLock::holder(&locks, w.root()), None);
    let first = WorkspaceLock::take(&locks, w.root(), "run 0190 pid 17").unwrap();
    match WorkspaceLock::take(&locks, w.root(), "me") {
        Err(LockError::Held { who, .. }) => assert_eq!(who, "run 0190 pid 17"),
        other => panic!("{other:?}"),
    }
    assert_eq!(WorkspaceLock::holder(&locks, w.root()).as_deref(), Some("run 0190 pid 17"));
    drop(first);
    assert_eq!(WorkspaceLock::holder(&locks, w.root()), None);
    let again = WorkspaceLock::take(&locks, w.root(), "b").unwrap();
    assert_eq!(WorkspaceLock::holder(&locks, w.root()).as_deref(), Some("b"));
    drop(again);
    assert_eq!(fs::read_dir(&locks).unwrap().count(), 1, "the file stays");
    assert_eq!(fs::read_dir(w.root()).unwrap().count(), 0, "nothing in the workspace");
}

#[test]
fn one_workspace_by_any_name_and_two_by_two() {
    let w = Scratch::new();
    let locks = w.beside("locks");
    symlink(w.root(), w.beside("alias")).unwrap();
    fs::create_dir(w.beside("other")).unwrap();
    let _held = WorkspaceLock::take(&locks, w.root(), "x").unwrap();
    assert!(WorkspaceLock::take(&locks, &w.beside("alias"), "y").is_err());
    assert!(WorkspaceLock::take(&locks, &w.root().join("../w/."), "y").is_err());
    assert!(WorkspaceLock::take(&locks, &w.beside("other"), "y").is_ok());
}

#[test]
fn odd_words_and_missing_places() {
    let w = Scratch::new();
    let locks = w.beside("locks");
    let held = WorkspaceLock::take(&locks, w.root(), "a\n\x1b[2Jb").unwrap();
    assert_eq!(WorkspaceLock::holder(&locks, w.root()).unwrap(), "a  [2Jb");
    drop(held);
    let _held = WorkspaceLock::take(&locks, w.root(), "").unwrap();
    assert!(!WorkspaceLock::holder(&locks, w.root()).unwrap().is_empty());
    assert!(matches!(
        WorkspaceLock::take(&locks, Path::new("/no/such/place"), "x"),
        Err(LockError::Io { .. })
    ));
    fs::write(w.beside("file"), "x").unwrap();
    assert!(matches!(WorkspaceLock::take(&w.beside("file"), w.root(), "x"), Err(LockError::Io { .. })));
}

/// Not a test of its own: the process that `a_killed_holder_leaves_only_words` starts and kills.
#[test]
fn hold_until_killed() {
    let Some(place) = std::env::var_os("HOLD_UNTIL_KILLED") else { return };
    let place = Path::new(&place);
    let _held = WorkspaceLock::take(&place.join("locks"), &place.join("w"), "the killed one").unwrap();
    eprintln!("held");
    loop {
        std::thread::park();
    }
}

#[test]
fn a_killed_holder_leaves_only_words() {
    let w = Scratch::new();
    let locks = w.beside("locks");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hold_until_killed", "--nocapture"])
        .env("HOLD_UNTIL_KILLED", w.beside(""))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said =
        BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok).any(|line| line == "held");
    assert!(said, "the child did not get the lock");
    assert_eq!(WorkspaceLock::holder(&locks, w.root()).as_deref(), Some("the killed one"));
    child.kill().unwrap();
    child.wait().unwrap();
    let file = fs::read_dir(&locks).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_to_string(&file).unwrap(), "the killed one");
    assert_eq!(WorkspaceLock::holder(&locks, w.root()), None);
    let _held = WorkspaceLock::take(&locks, w.root(), "next").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "next");
}

#[test]
fn asking_who_holds_it_never_keeps_anybody_out() {
    let w = Scratch::new();
    let locks = w.beside("locks");
    drop(WorkspaceLock::take(&locks, w.root(), "x").unwrap());
    let file = fs::read_dir(&locks).unwrap().next().unwrap().unwrap().path();
    // One who asks, stopped by the scheduler at the worst moment.
    let asking = fs::File::open(file).unwrap();
    rustix::fs::flock(&asking, rustix::fs::FlockOperation::LockShared).unwrap();
    assert_eq!(WorkspaceLock::holder(&locks, w.root()), None);
    std::thread::scope(|scope| {
        let taking = scope.spawn(|| WorkspaceLock::take(&locks, w.root(), "y"));
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(!taking.is_finished());
        drop(asking);
        taking.join().unwrap().unwrap();
    });
}

#[test]
fn of_many_at_once_one_gets_it() {
    let w = Scratch::new();
    let locks = w.beside("locks");
    let taken: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| WorkspaceLock::take(&locks, w.root(), "x").ok())).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(taken.len(), 1);
}
