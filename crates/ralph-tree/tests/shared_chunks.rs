//! Indexes of nearly the same tree share what did not change, in memory and after reading one back.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use ralph_tree::{Entry, Index, Kind, side_by_side};
use support::{Scratch, diff};

fn large() -> (Scratch, Index) {
    let w = Scratch::new();
    for number in 0..3000 {
        w.write(&format!("part{}/source_{number}.rs", number / 50), &number.to_string());
    }
    std::thread::sleep(Duration::from_millis(40));
    let index = w.walk();
    (w, index)
}

/// How many chunks of the second index are not those of the first.
fn own_chunks(first: &Index, second: &Index) -> usize {
    second.chunks().filter(|chunk| !first.chunks().any(|other| Arc::ptr_eq(chunk, other))).count()
}

#[test]
fn a_walk_shares_what_did_not_change() {
    let (w, first) = large();
    assert!(first.chunks().count() > 4, "{} chunks", first.chunks().count());
    assert_eq!(own_chunks(&first, &w.walk_after(&first)), 0);
    for (what, change) in [
        ("~part20/source_1000.rs", "part20/source_1000.rs"),
        ("+part20/new.rs", "part20/new.rs"),
        ("+a_new_first_file", "a_new_first_file"),
    ] {
        let before = w.walk_after(&first);
        w.write(change, "other");
        let after = w.walk_after(&before);
        assert!((1..=2).contains(&own_chunks(&before, &after)), "{what}: {}", own_chunks(&before, &after));
        assert_eq!(diff(&before, &after), [what]);
        assert!(side_by_side(&before, &after).count() < 2 * 4096, "shared chunks are left out");
    }
    w.remove("part20/source_1000.rs");
    assert!(diff(&first, &w.walk_after(&first)).contains(&"-part20/source_1000.rs".to_owned()));
}

#[test]
fn an_index_read_back_shares_with_the_one_at_hand() {
    let (w, first) = large();
    let file = w.beside("index");
    first.save(&file).unwrap();
    assert_eq!(own_chunks(&first, &Index::load_beside(&file, &first).unwrap()), 0);
    assert_eq!(own_chunks(&first, &Index::load(&file).unwrap()), first.chunks().count());
    assert!(Index::load(&file).unwrap().same_contents(&first));
    w.write("part1/source_60.rs", "other");
    let after = w.walk_after(&first);
    assert!(!after.same_contents(&first) && !first.same_contents(&after));
    assert!((1..=2).contains(&own_chunks(&after, &Index::load_beside(&file, &after).unwrap())));
}

#[test]
fn chunks_and_head_make_the_index_again() {
    let (_w, index) = large();
    let stored: Vec<Vec<u8>> = index.chunks().map(|chunk| chunk.to_bytes()).collect();
    let chunks = stored.iter().map(|bytes| Arc::new(ralph_tree::Chunk::from_bytes(bytes).unwrap())).collect();
    let again = Index::from_chunks(&index.head_bytes(), chunks).unwrap();
    assert_eq!(again.id(), index.id());
    assert_eq!(again.entries().collect::<Vec<_>>(), index.entries().collect::<Vec<_>>());
    let cut = &stored[0][..stored[0].len() - 1];
    assert!(ralph_tree::Chunk::from_bytes(cut).is_none(), "a chunk that was cut is none");
}

#[test]
fn every_path_is_found() {
    let (_w, index) = large();
    for entry in index.entries() {
        assert_eq!(index.get(entry.path), Some(entry));
    }
    for absent in ["", "part", "part20/source_1000", "zzz", "a"] {
        assert_eq!(index.get(absent.as_bytes()), None);
    }
}

/// An index as version 0.1 wrote it: all rows, then all paths.
fn without_chunks(index: &Index) -> Vec<u8> {
    let (mut rows, mut paths) = (Vec::new(), Vec::new());
    for entry in index.entries() {
        paths.extend_from_slice(entry.path);
        rows.extend_from_slice(&entry.hash.to_le_bytes());
        for number in [entry.ino, entry.size, entry.mtime.cast_unsigned(), entry.ctime.cast_unsigned()] {
            rows.extend_from_slice(&number.to_le_bytes());
        }
        rows.extend_from_slice(&u32::try_from(paths.len()).unwrap().to_le_bytes());
        rows.extend_from_slice(&entry.mode.to_le_bytes());
        rows.extend_from_slice(&[entry.kind as u8, u8::from(entry.counts) + 2 * u8::from(entry.protected)]);
    }
    let mut bytes = index.head_bytes();
    bytes[8..12].copy_from_slice(&2_u32.to_le_bytes());
    bytes.extend_from_slice(&(index.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&(paths.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&rows);
    bytes.extend_from_slice(&paths);
    let check = blake3::hash(&bytes);
    bytes.extend_from_slice(check.as_bytes());
    bytes
}

#[test]
fn snapshots_of_earlier_versions_stay_readable() {
    let (w, index) = large();
    let file = w.beside("old");
    let whole = without_chunks(&index);
    fs::write(&file, &whole).unwrap();
    let old = Index::load_beside(&file, &index).unwrap();
    assert_eq!(old.entries().collect::<Vec<Entry<'_>>>(), index.entries().collect::<Vec<_>>());
    assert_eq!(own_chunks(&index, &old), 0, "cut into the same chunks");
    assert!(old.entries().any(|entry| entry.kind == Kind::Directory));
    for at in [12, 40, 60, 61, 68, 69, 100, whole.len() / 2, whole.len() - 1] {
        let mut bad = whole.clone();
        bad[at] ^= 1;
        fs::write(&file, &bad).unwrap();
        assert!(Index::load(&file).is_none(), "flipped byte {at}");
        fs::write(&file, &whole[..at]).unwrap();
        assert!(Index::load(&file).is_none(), "cut at {at}");
    }
}
