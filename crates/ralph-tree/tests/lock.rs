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
    assert_eq!(WorkspaceLock::holders(&locks), ["run 0190 pid 17"]);
    drop(first);
    assert_eq!(WorkspaceLock::holder(&locks, w.root()), None);
    assert!(WorkspaceLock::holders(&locks).is_empty());
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
    assert!(fs::read_to_string(&file).unwrap().starts_with("the killed one\n"));
    assert_eq!(WorkspaceLock::holder(&locks, w.root()), None);
    let _held = WorkspaceLock::take(&locks, w.root(), "next").unwrap();
    assert!(fs::read_to_string(&file).unwrap().starts_with("next\n"));
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

fn held_in(taken: Result<WorkspaceLock, LockError>) -> (std::path::PathBuf, String, bool) {
    match taken {
        Err(LockError::Held { workspace, who, elsewhere }) => (workspace, who, elsewhere),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_workspace_above_or_below_is_held_with_it_and_one_beside_it_is_not() {
    let w = Scratch::new();
    let (locks, root) = (w.beside("locks"), w.root().canonicalize().unwrap());
    let (sub, beside) = (root.join("a/sub"), root.join("a/subway"));
    fs::create_dir_all(&sub).unwrap();
    fs::create_dir_all(&beside).unwrap();
    let above = WorkspaceLock::take(&locks, &root, "the upper").unwrap();
    assert_eq!(held_in(WorkspaceLock::take(&locks, &sub, "x")), (root.clone(), "the upper".into(), false));
    drop(above);
    let below = WorkspaceLock::take(&locks, &sub, "the lower").unwrap();
    assert_eq!(held_in(WorkspaceLock::take(&locks, &root, "x")), (sub, "the lower".into(), false));
    let _beside = WorkspaceLock::take(&locks, &beside, "y").unwrap();
    drop(below);
    assert!(WorkspaceLock::holder(&locks, &root).is_none(), "a refused one holds nothing");
    assert_eq!(held_in(WorkspaceLock::take(&locks, &root, "x")).0, beside);
}

#[test]
fn of_many_in_each_other_one_gets_it() {
    let w = Scratch::new();
    let (locks, root) = (w.beside("locks"), w.root().to_path_buf());
    let nested: Vec<_> = (0..8).map(|n| root.join("d/".repeat(n))).collect();
    fs::create_dir_all(nested.last().unwrap()).unwrap();
    for _ in 0..20 {
        let taken: Vec<_> = std::thread::scope(|scope| {
            let locks = &locks;
            let take = |place| scope.spawn(move || WorkspaceLock::take(locks, place, "x").ok());
            let threads: Vec<_> = nested.iter().map(|place| take(place.as_path())).collect();
            threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(taken.len(), 1);
    }
}

#[test]
fn another_state_directory_is_kept_out_by_the_lock_in_the_workspace() {
    let w = Scratch::new();
    let root = w.root().canonicalize().unwrap();
    let (first, second) = (w.beside("one/locks"), w.beside("two/locks"));
    let sub = root.join("sub");
    fs::create_dir(&sub).unwrap();
    let take = |locks: &Path, place: &Path, who: &str| {
        WorkspaceLock::take(locks, place, who).and_then(WorkspaceLock::and_in_workspace)
    };
    let held = take(&first, &root, "the first").unwrap();
    assert_eq!(fs::read_to_string(root.join(".ralph/.gitignore")).unwrap(), "*\n");
    assert_eq!(held_in(take(&second, &root, "x")), (root.clone(), "the first".into(), true));
    assert_eq!(held_in(take(&second, &sub, "x")), (root.clone(), "the first".into(), true));
    // An agent cleans up: the state directory's own lock still holds, and the file is made again.
    fs::remove_dir_all(root.join(".ralph")).unwrap();
    assert!(!held_in(take(&first, &root, "x")).2);
    held.renew();
    assert!(held_in(take(&second, &root, "x")).2);
    drop(held);
    take(&second, &root, "the second").unwrap();
}

#[test]
fn whatever_lies_at_the_name_of_the_lock_nobody_waits_or_is_led_elsewhere() {
    let w = Scratch::new();
    let root = w.root().to_path_buf();
    let (name, target) = (root.join(".ralph/lock"), w.beside("target"));
    let locks = [w.beside("one"), w.beside("two")];
    let take =
        |n: usize| WorkspaceLock::take(&locks[n], &root, "x").and_then(WorkspaceLock::and_in_workspace);
    fs::write(&target, "mine").unwrap();
    fs::create_dir(root.join(".ralph")).unwrap();
    let put: [&dyn Fn(); 5] = [
        &|| symlink(&target, &name).unwrap(),
        &|| symlink("nowhere", &name).unwrap(),
        &|| fs::create_dir(&name).unwrap(),
        &|| drop(std::os::unix::net::UnixListener::bind(&name).unwrap()),
        &|| {
            let mode = rustix::fs::Mode::from(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, &name, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        },
    ];
    for (n, put) in put.iter().enumerate() {
        put();
        let held = take(0).unwrap();
        assert!(held_in(take(1)).2, "{n}");
        drop(held);
        fs::remove_file(&name).unwrap();
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    // What is no directory, or is full, is left alone: then the first lock has to do.
    fs::create_dir_all(name.join("full")).unwrap();
    assert!(matches!(take(0), Err(LockError::Io { .. })));
    fs::remove_dir_all(root.join(".ralph")).unwrap();
    for led in ["elsewhere", "."] {
        fs::create_dir_all(w.beside("elsewhere")).unwrap();
        symlink(w.beside(led), root.join(".ralph")).unwrap();
        let _held = take(0).unwrap();
        assert!(take(1).is_ok());
        fs::remove_file(root.join(".ralph")).unwrap();
    }
    fs::write(root.join(".ralph"), "a file").unwrap();
    let _held = take(0).unwrap();
    assert_eq!(fs::read_dir(w.beside("elsewhere")).unwrap().count(), 0);
}
