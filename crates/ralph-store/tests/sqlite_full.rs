//! A disk that is full or cannot be written. The real thing needs a small mount, so root; without it that part
//! is skipped, and the size limit of a process stands in.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod common;

use common::*;
use ralph_store::{CommitError, Database, Store, StoreError, disk_free};
use ralph_testkit::skip;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const DIR: &str = "RALPH_STORE_TEST_LIMITED";

/// A small file system of its own, gone when dropped.
struct Mount {
    dir: tempfile::TempDir,
}

impl Mount {
    #[track_caller]
    fn new(size: &str) -> Option<Mount> {
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={size}");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(dir.path()).output();
        let done = mount.is_ok_and(|o| o.status.success());
        if !done {
            skip("no tmpfs can be mounted here (needs root), so no disk was really full");
        }
        done.then(|| Mount { dir })
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Takes every free byte.
    fn fill(&self) {
        let mut file =
            OpenOptions::new().create(true).append(true).open(self.dir.path().join("filler")).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.dir.path()).status();
    }
}

fn record(n: u64) -> ralph_store::Batch {
    puts(vec![put("run/a", n, &"full ".repeat(400))])
}

/// Commits until the store says no; returns how many records were acknowledged.
fn commit_until_refused(store: &Database, mut head: u64) -> (u64, StoreError) {
    loop {
        match store.commit(&record(head)) {
            Ok(_) => head += 1,
            Err(CommitError::Store(e)) => return (head, e),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn on_a_full_disk_the_ballast_buys_the_last_records() {
    let Some(mount) = Mount::new("16m") else { return };
    let store = ralph_store::open(&mount.state()).unwrap();
    assert!(store.ballast_ready());
    store.commit(&record(0)).unwrap();
    mount.fill();
    assert!(disk_free(&mount.state()).unwrap().lack().is_some());

    let mut head = 1;
    while store.ballast_ready() {
        store.commit(&record(head)).unwrap();
        head += 1;
    }
    let (acknowledged, word) = commit_until_refused(&store, head);
    assert!(acknowledged > head + 20, "the ballast was worth {} records", acknowledged - head);
    assert!(matches!(word, StoreError::Full { .. }), "{word}");
    assert_eq!(store.verify().unwrap(), acknowledged);
    store.housekeep().unwrap();
    assert!(!store.ballast_ready(), "no ballast is made where there is no room");
    assert_eq!(ralph_store::open_existing(&mount.state()).unwrap().unwrap().verify().unwrap(), acknowledged);

    fs::remove_file(mount.dir.path().join("filler")).unwrap();
    store.commit(&record(acknowledged)).unwrap();
    store.housekeep().unwrap();
    assert!(store.ballast_ready(), "and it comes back with the room");
    assert_eq!(store.verify().unwrap(), acknowledged + 1);
}

#[test]
fn a_read_only_place_is_named_with_the_remedy() {
    let Some(mount) = Mount::new("16m") else { return };
    ralph_store::open(&mount.state()).unwrap().commit(&record(0)).unwrap();
    let remount = Command::new("mount").args(["-o", "remount,ro"]).arg(mount.dir.path()).status();
    assert!(remount.unwrap().success());

    let word = ralph_store::open(&mount.dir.path().join("other")).unwrap_err().to_string();
    assert!(word.contains("cannot be written") && word.contains("XDG_STATE_HOME"), "{word}");
    // What is there can still be looked at, or the refusal says why not.
    match ralph_store::open_existing(&mount.state()) {
        Ok(store) => {
            let store = store.unwrap();
            assert_eq!(store.read("run/a", 0).unwrap().len(), 1);
            let no = store.commit(&record(1)).unwrap_err();
            assert!(matches!(no, CommitError::Store(StoreError::ReadOnly { .. })), "{no}");
        }
        Err(e) => assert!(matches!(e, StoreError::ReadOnly { .. }), "{e}"),
    }
}

/// Not a test by itself: commits until its size limit stops it, and says how far it came.
#[test]
fn limited_process() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let store = ralph_store::open(Path::new(&dir)).unwrap();
    let (acknowledged, word) = commit_until_refused(&store, 0);
    println!("\nresult {acknowledged} {word}");
    assert_eq!(store.verify().unwrap(), acknowledged, "what was acknowledged can be read at once");
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_loses_nothing() {
    let place = OnDisk::new();
    // 2 MB for any one file; the signal that comes with the limit is ignored, so that the write fails instead.
    let shell = "trap '' XFSZ; ulimit -f 2048 || exit 9; exec \"$0\" --exact limited_process --nocapture";
    let exe = std::env::current_exe().unwrap();
    let out = Command::new("bash").args(["-c", shell]).arg(exe).env(DIR, place.dir()).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let (_, result) = text.split_once("\nresult ").unwrap();
    let acknowledged: u64 = result.split_whitespace().next().unwrap().parse().unwrap();
    assert!(acknowledged > 50);
    let store = place.sqlite();
    let head = store.verify().unwrap();
    assert!(head == acknowledged || head == acknowledged + 1, "{head} after {acknowledged}");
    store.commit(&record(head)).unwrap();
}
