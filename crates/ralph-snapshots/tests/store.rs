//! A content is known by what it holds: whatever a power cut or a person did to its file is noticed and written again.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs;
use std::time::Duration;

use ralph_snapshots::{damaged_contents, wrong_size};
use support::Bed;

#[test]
fn a_second_take_reads_nothing_that_is_there() {
    let bed = Bed::new(&[("a", "1"), ("b", "2"), ("copy-of-a", "1")]);
    let index = bed.tree.walk(None).unwrap();
    assert_eq!(bed.keep.take(bed.root(), &index).unwrap().contents, 2);
    assert_eq!(bed.keep.take(bed.root(), &index).unwrap().contents, 0);
    assert_eq!(bed.another_process().take(bed.root(), &index).unwrap().contents, 0);
    bed.write("b", "3");
    let index = bed.tree.walk(Some(&index)).unwrap();
    assert_eq!(bed.keep.take(bed.root(), &index).unwrap().contents, 1);
}

#[test]
fn what_a_power_cut_left_of_a_content_is_written_again() {
    for left in ["", "on", "two", "one and more"] {
        let bed = Bed::new(&[("a", "one")]);
        let index = bed.take();
        let path = bed.keep.blobs().path(index.get(b"a").unwrap().hash);
        fs::write(&path, left).unwrap();
        let taken = bed.another_process().take(bed.root(), &index).unwrap();
        assert_eq!((taken.contents, taken.damaged), (1, 1), "{left:?}");
        assert_eq!(fs::read_to_string(path).unwrap(), "one");
    }
}

#[test]
fn a_content_that_changed_after_it_was_synced_is_written_again() {
    let bed = Bed::new(&[("a", "one"), ("b", "other")]);
    let index = bed.tree.walk(None).unwrap();
    bed.keep.take_durably(bed.root(), &index).unwrap();
    bed.keep.close();
    let untouched = bed.another_process().take(bed.root(), &index).unwrap();
    assert!(untouched.contents == 0);
    // The clock of a file system ticks every few milliseconds.
    std::thread::sleep(Duration::from_millis(20));
    let path = bed.keep.blobs().path(index.get(b"a").unwrap().hash);
    fs::write(&path, "two").unwrap();
    assert_eq!(bed.another_process().take(bed.root(), &index).unwrap().damaged, 1);
    assert_eq!(fs::read_to_string(path).unwrap(), "one");
}

#[test]
fn what_an_earlier_version_took_for_stored_is_checked() {
    let bed = Bed::new(&[("a", "one")]);
    let index = bed.take();
    index.save(&bed.dir.path().join("keep/latest.tree")).unwrap();
    let path = bed.keep.blobs().path(index.get(b"a").unwrap().hash);
    fs::write(&path, "").unwrap();
    let store = bed.another_process();
    assert_eq!(store.take_durably(bed.root(), &index).unwrap().damaged, 1);
    store.close();
    assert!(!bed.dir.path().join("keep/latest.tree").exists(), "nobody needs it any more");
}

#[test]
fn damaged_contents_are_named() {
    let bed = Bed::new(&[("a", "one"), ("b", "two"), ("c", "three")]);
    let index = bed.take();
    let hash = |path: &[u8]| index.get(path).unwrap().hash;
    assert_eq!(damaged_contents(bed.keep.blobs()).unwrap(), (3, Vec::new()));
    assert!(wrong_size(bed.keep.blobs(), &index).is_empty());
    fs::write(bed.keep.blobs().path(hash(b"a")), "").unwrap();
    fs::write(bed.keep.blobs().path(hash(b"b")), "TWO").unwrap();
    let named: Vec<String> = wrong_size(bed.keep.blobs(), &index).iter().map(ToString::to_string).collect();
    assert_eq!(named, ["a"], "the other one has the right size");
    let mut both = vec![hash(b"a"), hash(b"b")];
    both.sort_unstable();
    assert_eq!(damaged_contents(bed.keep.blobs()).unwrap(), (3, both));
}

#[test]
fn a_damaged_link_is_named() {
    let bed = Bed::new(&[]);
    std::os::unix::fs::symlink("one", bed.root().join("link")).unwrap();
    let index = bed.take();
    assert!(wrong_size(bed.keep.blobs(), &index).is_empty());
    fs::write(bed.keep.blobs().path(index.get(b"link").unwrap().hash), "two").unwrap();
    let named: Vec<String> = wrong_size(bed.keep.blobs(), &index).iter().map(ToString::to_string).collect();
    assert_eq!(named, ["link"]);
}

#[test]
fn a_stop_does_not_wait_for_contents_to_be_read() {
    let bed = Bed::new(&[("a", "1")]);
    let index = bed.take();
    let error = bed.another_process().take_unless(bed.root(), &index, &|| true).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Interrupted);
    assert!(bed.keep.take_unless(bed.root(), &index, &|| false).unwrap().missed.is_empty());
}

#[test]
fn a_content_that_was_missed_elsewhere_is_stored_when_it_is_found_here() {
    let (bed, elsewhere) = (Bed::new(&[]), Bed::new(&[("config", "one")]));
    let index = elsewhere.tree.walk(None).unwrap();
    elsewhere.write("config", "two");
    assert_eq!(bed.keep.take_also(elsewhere.root(), &index).unwrap().missed.len(), 1);
    bed.write("a", "one");
    bed.take();
    assert!(bed.keep.blobs().has(index.get(b"config").unwrap().hash));
}
