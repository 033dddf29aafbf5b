//! A process may have only a few files open: a snapshot and a restore manage with them. The limit is the process's, so this
//! file has one test.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs::{self, File};

use rustix::process::{Resource, Rlimit, setrlimit};
use support::Bed;

#[test]
fn few_open_files_are_enough() {
    let names: Vec<String> = (0..100).map(|n| format!("dir{n}/file")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let bed = Bed::new(&files);
    let (seen, target) = (bed.see(), bed.take());
    fs::remove_dir_all(bed.root()).unwrap();
    bed.write("dir1/file", "new");
    bed.write("dir50/file", "also new");
    let plan = bed.plan(&target, &target, true);
    let elsewhere = Bed::new(&files);
    elsewhere.write("dir1/file", "newer");
    elsewhere.write("dir50/file", "newer, too");
    let changed = elsewhere.tree.walk(None).unwrap();
    let store = bed.another_process();

    setrlimit(Resource::Nofile, Rlimit { current: Some(128), maximum: Some(128) }).unwrap();
    let mut held: Vec<File> = std::iter::from_fn(|| File::open(bed.dir.path()).ok()).collect();
    held.truncate(held.len() - 10);
    let taken = store.take(elsewhere.root(), &changed).unwrap();
    assert!(taken.missed.is_empty(), "{:?}", taken.missed);
    assert_eq!((taken.contents, taken.damaged), (2, 0));
    let done = plan.apply(bed.root(), bed.keep.blobs()).unwrap();
    assert!(done.failed.is_empty(), "{:?}", done.failed);
    drop(held);
    assert_eq!(bed.see(), seen);
}
