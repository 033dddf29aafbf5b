//! Files that cannot be trusted: flipped bytes, foreign and broken databases, a file that vanished while open.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::*;
use ralph_store::{Store, StoreError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// How many bytes are flipped, one at a time, all over the file.
const FLIPS: usize = 150;
/// A page of the database.
const PAGE: usize = 4096;

/// A database of `n` records, folded into its one file.
fn filled(place: &OnDisk, n: u64) -> Vec<u8> {
    let store = place.sqlite();
    let body = |n: u64| format!("{{\"record\":{n},\"pad\":\"{}\"}}", "padding ".repeat(20));
    store.commit(&puts((0..n).map(|i| put("run/a", i, &body(i))).collect())).unwrap();
    store.truncate().unwrap();
    drop(store);
    fs::read(place.dir().join("ralph.db")).unwrap()
}

/// Puts bytes in the database's place, with no log beside it.
fn replace(dir: &Path, bytes: &[u8]) {
    for name in ["ralph.db", "ralph.db-wal", "ralph.db-shm"] {
        let _ = fs::remove_file(dir.join(name));
    }
    fs::write(dir.join("ralph.db"), bytes).unwrap();
}

fn kept(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut kept: Vec<String> = names.filter(|n| n.contains("corrupt")).collect();
    kept.sort();
    kept
}

#[test]
fn every_flipped_byte_in_a_record_is_noticed() {
    let place = OnDisk::new();
    let whole = filled(&place, 100);
    let truth = place.sqlite().read("run/a", 0).unwrap();
    let starts = whole.windows(10).enumerate().filter(|(_, w)| w == b"{\"record\":");
    let mut noticed = 0;
    for (n, (spot, _)) in starts.enumerate() {
        let mut bytes = whole.clone();
        bytes[spot + n] ^= 1 << (n % 8);
        replace(place.dir(), &bytes);
        let store = place.sqlite();
        match store.read("run/a", 0) {
            // Pages that were split keep a stale copy of some records; a flip there changes nothing.
            Ok(entries) => assert_eq!(entries, truth, "flip {n} went unnoticed"),
            Err(StoreError::Corrupt { stream, .. }) => {
                assert_eq!(stream, "run/a");
                assert!(store.verify_chain("run/a").is_err());
                assert!(store.verify().is_err());
                assert!(store.since("", 0, 999).is_err());
                noticed += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(noticed, 100, "each of the 100 records was hit once");
    replace(place.dir(), &whole);
    assert_eq!(place.sqlite().verify().unwrap(), 100);
    assert_eq!(place.sqlite().verify_chain("run/a").unwrap().unwrap().seq, 100);
    assert_eq!(place.sqlite().verify_chain("none").unwrap(), None);
}

#[test]
fn a_flip_anywhere_is_noticed_or_harmless() {
    let place = OnDisk::new();
    let whole = filled(&place, 200);
    let expected = place.sqlite().read("run/a", 0).unwrap();
    let mut noticed = 0;
    let each = whole.len() / FLIPS;
    for n in 0..FLIPS {
        let mut bytes = whole.clone();
        let spot = n * each + n * 13 % each;
        bytes[spot] ^= 0x10;
        replace(place.dir(), &bytes);
        // Whatever is hit, an answer is either an error or the truth.
        match ralph_store::open(place.dir()).and_then(|s| s.read("run/a", 0)) {
            Ok(entries) => assert_eq!(entries, expected, "flip at {spot}"),
            Err(_) => noticed += 1,
        }
        for copy in kept(place.dir()) {
            fs::remove_file(place.dir().join(copy)).unwrap();
        }
    }
    assert!(noticed > 20, "only {noticed} of {FLIPS} flips hit anything");
}

/// Byte 13 of an index's first page is half of the place of its first cell: a walk by the index then ends early, without an
/// error of SQLite's.
#[test]
fn a_damaged_index_does_not_shorten_a_stream() {
    let place = OnDisk::new();
    let whole = filled(&place, 40);
    let expected = place.sqlite().read("run/a", 0).unwrap();
    for spot in (0..whole.len() / PAGE).flat_map(|page| [page * PAGE + 12, page * PAGE + 13]) {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[spot] ^= 1 << bit;
            replace(place.dir(), &bytes);
            if let Ok(entries) = ralph_store::open(place.dir()).and_then(|s| s.read("run/a", 0)) {
                assert_eq!(entries.len(), expected.len(), "flip of bit {bit} at {spot}");
            }
            for copy in kept(place.dir()) {
                fs::remove_file(place.dir().join(copy)).unwrap();
            }
        }
    }
}

#[test]
fn a_record_that_is_edited_or_removed_breaks_the_chain() {
    let place = OnDisk::new();
    let whole = filled(&place, 10);
    for (sql, seq) in [
        ("update entry set body = replace(body, 'padding', 'PADDING') where seq = 4", 4),
        ("update entry set at = at + 1 where seq = 6", 6),
        ("delete from entry where seq = 3", 3),
        ("update entry set stream = 'run/b' where seq = 5", 5),
        ("update entry set body = x'fffe' where seq = 2", 2),
        ("update entry set chain = 7 where seq = 9", 9),
    ] {
        replace(place.dir(), &whole);
        let raw = rusqlite::Connection::open(place.dir().join("ralph.db")).unwrap();
        raw.execute(sql, []).unwrap();
        drop(raw);
        match place.sqlite().read("run/a", 0).unwrap_err() {
            StoreError::Corrupt { seq: found, .. } => assert_eq!(found, seq, "{sql}"),
            other => panic!("{sql}: {other}"),
        }
        assert!(place.sqlite().verify().is_err(), "{sql}");
    }
}

#[test]
fn a_broken_file_is_refused_left_alone_and_copied_once() {
    let place = OnDisk::new();
    let whole = filled(&place, 20);
    let cut = &whole[..whole.len() / 2];
    let garbled = [&b"not a database at all"[..], &whole[21..]].concat();
    for (n, bytes) in [cut, &garbled].into_iter().enumerate() {
        replace(place.dir(), bytes);
        for _ in 0..2 {
            match ralph_store::open(place.dir()).unwrap_err() {
                StoreError::Damaged { kept: Some(copy), .. } => assert_eq!(fs::read(copy).unwrap(), bytes),
                other => panic!("{other}"),
            }
            assert!(ralph_store::open_existing(place.dir()).is_err());
        }
        assert_eq!(fs::read(place.dir().join("ralph.db")).unwrap(), bytes);
        assert_eq!(kept(place.dir()).len(), n + 1, "one copy of each, never overwritten");
    }
}

#[test]
fn a_log_without_its_database_is_not_thrown_away() {
    let place = OnDisk::new();
    place.sqlite().commit(&puts(vec![put("run/a", 0, "{}")])).unwrap();
    let log = fs::read(place.dir().join("ralph.db-wal")).unwrap();
    assert!(!log.is_empty());
    fs::remove_file(place.dir().join("ralph.db")).unwrap();
    for refused in [ralph_store::open(place.dir()).map(Some), ralph_store::open_existing(place.dir())] {
        let word = refused.unwrap_err().to_string();
        assert!(word.contains("still holds records"), "{word}");
    }
    assert_eq!(fs::read(place.dir().join("ralph.db-wal")).unwrap(), log);
    assert_eq!(kept(place.dir()), ["ralph.db.corrupt-1-wal"]);
}

#[test]
fn a_foreign_database_is_refused_and_not_touched() {
    let place = OnDisk::new();
    let path = place.dir().join("ralph.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("create table theirs(a); insert into theirs values(1)").unwrap();
    drop(other);
    let before = fs::read(&path).unwrap();
    assert!(matches!(ralph_store::open(place.dir()), Err(StoreError::Foreign { .. })));
    assert!(matches!(ralph_store::open_existing(place.dir()), Err(StoreError::Foreign { .. })));
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "application_id", 77).unwrap();
    drop(other);
    assert!(matches!(ralph_store::open(place.dir()), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&path).unwrap().len(), before.len());
}

#[test]
fn a_file_that_vanished_or_was_replaced_while_open_is_noticed() {
    for victim in ["ralph.db", "ralph.db-wal", "ralph.db-shm"] {
        let place = OnDisk::new();
        let store = place.sqlite();
        store.commit(&puts(vec![put("run/a", 0, "{}")])).unwrap();
        store.check_in_place().unwrap();
        fs::remove_file(place.dir().join(victim)).unwrap();
        assert!(matches!(store.check_in_place(), Err(StoreError::Gone { .. })), "{victim}");
        assert!(
            store.commit(&puts(vec![put("run/a", 1, "{}")])).is_err(),
            "{victim}: nothing is acknowledged"
        );
        fs::write(place.dir().join(victim), "another").unwrap();
        assert!(store.check_in_place().is_err(), "{victim}");
    }
}

#[test]
fn nothing_is_made_by_those_who_only_look() {
    let place = OnDisk::new();
    let dir = place.dir().join("deep/state");
    assert!(ralph_store::open_existing(&dir).unwrap().is_none());
    assert!(!dir.exists());
    let store = ralph_store::open(&dir).unwrap();
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    for file in ["ralph.db", "ralph.db-wal", "ralph.gate", "ralph.ballast"] {
        assert_eq!(fs::metadata(dir.join(file)).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
    store.commit(&puts(vec![put("run/a", 0, "{}")])).unwrap();
    let looking = ralph_store::open_existing(&dir).unwrap().unwrap();
    assert_eq!(looking.read("run/a", 0).unwrap().len(), 1);
    looking.ask("a", "{}", 0).unwrap();
    assert_eq!(store.requests("a").unwrap().len(), 1, "but they may ask");
}
