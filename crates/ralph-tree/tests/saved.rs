//! An index on disk: back as it was, or not at all.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use ralph_tree::{Difference, Entry, Index};
use support::{Scratch, touched};

fn small() -> (Scratch, Index) {
    let w = Scratch::new();
    w.write("a.txt", "one").write("dir/b.txt", "two").write(".env", "K=1");
    symlink("a.txt", w.at("link")).unwrap();
    std::thread::sleep(Duration::from_millis(40));
    let index = w.walk();
    (w, index)
}

#[test]
fn there_and_back() {
    let (w, index) = small();
    let file = w.beside("index");
    index.save(&file).unwrap();
    let again = Index::load(&file).unwrap();
    assert_eq!(again.id(), index.id());
    assert_eq!(again.entries().collect::<Vec<Entry<'_>>>(), index.entries().collect::<Vec<_>>());
    let next = w.walk_after(&again);
    assert_eq!((next.files_hashed(), next.id()), (0, index.id()));
    w.write(".env", "K=2");
    assert_eq!(touched(&again, &w.walk_after(&again)), [".env (modified)"]);
    assert_eq!(fs::read_dir(w.beside("")).unwrap().count(), 2, "no draft is left behind");
}

#[test]
fn any_flipped_or_missing_byte_makes_it_absent() {
    let (w, index) = small();
    let file = w.beside("index");
    index.save(&file).unwrap();
    let whole = fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut bad = whole.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(&file, &bad).unwrap();
        assert!(Index::load(&file).is_none(), "flipped byte {at}");
        fs::write(&file, &whole[..at]).unwrap();
        assert!(Index::load(&file).is_none(), "cut at {at}");
    }
    fs::write(&file, [whole.as_slice(), b"x"].concat()).unwrap();
    assert!(Index::load(&file).is_none());
    assert!(Index::load(&w.beside("nowhere")).is_none());
    assert!(Index::load(&w.beside("")).is_none());
}

#[test]
fn another_version_is_absent_though_its_checksum_is_right() {
    let (w, index) = small();
    let file = w.beside("index");
    index.save(&file).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let body = bytes.len() - 32;
    bytes[8] += 1;
    let check = blake3::hash(&bytes[..body]);
    bytes[body..].copy_from_slice(check.as_bytes());
    fs::write(&file, &bytes).unwrap();
    assert!(Index::load(&file).is_none());
}

#[test]
fn a_lying_head_does_not_make_it_allocate_or_panic() {
    let (w, index) = small();
    let file = w.beside("index");
    index.save(&file).unwrap();
    let whole = fs::read(&file).unwrap();
    let body = whole.len() - 32;
    // Every byte of the head and the first rows, set to its largest value, under a right checksum.
    for at in 8..body.min(300) {
        let mut bytes = whole.clone();
        bytes[at] = 0xff;
        let check = blake3::hash(&bytes[..body]);
        bytes[body..].copy_from_slice(check.as_bytes());
        fs::write(&file, &bytes).unwrap();
        if let Some(odd) = Index::load(&file) {
            assert_eq!(odd.entries().count(), odd.len());
            w.tree.walk(Some(&odd)).unwrap();
        }
    }
}

#[test]
fn where_nothing_can_be_written_the_older_one_stays() {
    let (w, index) = small();
    let error = index.save(&w.beside("no/such/dir/index")).unwrap_err().to_string();
    assert!(error.contains("cannot save the tree index"), "{error}");
    fs::create_dir(w.beside("taken")).unwrap();
    fs::write(w.beside("taken/x"), "x").unwrap();
    assert!(index.save(&w.beside("taken")).is_err());
    assert_eq!(fs::read_dir(w.beside("")).unwrap().count(), 2, "no draft is left behind");
}

#[test]
fn a_difference_makes_one_index_of_the_other_and_survives_its_bytes() {
    let (w, before) = small();
    w.write("a.txt", "other").write("dir/new", "new").write("dir.d", "sorts after the directory");
    fs::remove_file(w.at(".env")).unwrap();
    let after = w.walk_after(&before);
    let difference = Difference::between(&before, &after);
    let bytes = difference.to_bytes();
    let again = Difference::from_bytes(&bytes).unwrap().apply(&before);
    assert_eq!(again.entries().collect::<Vec<Entry<'_>>>(), after.entries().collect::<Vec<_>>());
    assert_eq!(again.id(), after.id());
    let back = Difference::between(&after, &before);
    let nothing = Difference::joined([difference, back]).apply(&before);
    assert_eq!(nothing.entries().collect::<Vec<Entry<'_>>>(), before.entries().collect::<Vec<_>>());
    assert!(Difference::between(&after, &again).is_empty());
    for at in 0..bytes.len() {
        assert!(Difference::from_bytes(&bytes[..at]).is_none(), "cut at {at}");
    }
}

#[test]
fn a_durable_index_is_written_once() {
    let (w, index) = small();
    let file = w.beside("index");
    index.save_durably(&file).unwrap();
    let made = fs::metadata(&file).unwrap().modified().unwrap();
    w.walk_after(&index).save_durably(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), made, "the same entries are there");
    w.write("a.txt", "other");
    let changed = w.walk_after(&index);
    changed.save_durably(&file).unwrap();
    assert_eq!(Index::load(&file).unwrap().id(), changed.id());
}
