#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::changed_files::{ChangedFile, Units, text};
use super::{End, listed};
use crate::proof::InPlace;
use crate::redact::Redactor;
use ralph_proof::map::Held;
use ralph_rules::record::{ChangeMap, HunkState};

const BEFORE: &str = "def a():\n    return 1\n\n\n# Old.\n\n\ndef b():\n    return 2\n";
const NOW: &str = "def a():\n    return 3\n\n\n# New.\n\n\ndef b():\n    return 4\n";

fn file(path: &str, before: Option<&[u8]>, now: Option<&[u8]>) -> ChangedFile {
    let side = |bytes: Option<&[u8]>| bytes.map(|bytes| text(true, Some(bytes.to_vec())));
    let without = if before.is_some() { InPlace::Baseline } else { InPlace::Absent };
    ChangedFile::new(path.into(), (without, side(before)), side(now))
}

fn changed(path: &str, before: &str, now: &str) -> ChangedFile {
    file(path, Some(before.as_bytes()), Some(now.as_bytes()))
}

/// What is in place of a file with these units put back.
fn without(units: &Units, put_back: &[usize], path: &str) -> InPlace {
    units.put_back(put_back).remove(path.as_bytes()).unwrap()
}

fn redactor() -> Redactor {
    Redactor::new([("KEY", "hunter2hunter2")].into_iter())
}

#[test]
fn a_hunk_is_put_back_alone_or_with_others_and_a_comment_is_trivial() {
    let units = Units::from_files(vec![changed("a.py", BEFORE, NOW)]);
    let trivial: Vec<bool> = (0..units.len()).map(|unit| units.is_trivial(unit)).collect();
    assert_eq!(trivial, [false, true, false]);
    let first = NOW.replace("return 3", "return 1");
    assert_eq!(without(&units, &[0], "a.py"), InPlace::Bytes(first.clone().into_bytes()));
    let both = first.replace("return 4", "return 2");
    assert_eq!(without(&units, &[2, 0], "a.py"), InPlace::Bytes(both.into_bytes()));
    let places: Vec<String> = (0..3).map(|unit| units.place(unit, &redactor())).collect();
    assert_eq!(places, ["a.py:2", "a.py:5", "a.py:9"]);
}

#[test]
fn line_ends_stay_as_they_are() {
    let units = Units::from_files(vec![changed("a.txt", "1\r\n2\r\n3\r\n", "1\r\ntwo\r\n3\r\n")]);
    assert_eq!(units.len(), 1);
    assert_eq!(without(&units, &[0], "a.txt"), InPlace::Bytes(b"1\r\n2\r\n3\r\n".to_vec()));
}

#[test]
fn new_deleted_and_binary_files_are_one_unit_each() {
    let units = Units::from_files(vec![
        file("binary", Some(b"\0\x01"), Some(b"\0\x02")),
        file("deleted.py", Some(NOW.as_bytes()), None),
        file("empty.py", None, Some(b"")),
        file("mode.sh", Some(b"echo\n"), Some(b"echo\n")),
        file("new.py", None, Some(NOW.as_bytes())),
        file("not_utf8", Some(b"\xff"), Some(b"a\n")),
    ]);
    let places: Vec<String> = (0..units.len()).map(|unit| units.place(unit, &redactor())).collect();
    assert_eq!(places, ["binary", "deleted.py", "empty.py", "mode.sh", "new.py:1-9", "not_utf8"]);
    assert!((0..units.len()).all(|unit| !units.is_trivial(unit)));
    let whole = [0, 1, 2, 3, 4, 5].map(|unit| units.put_back(&[unit]).into_values().next().unwrap());
    let (there, absent) = (InPlace::Baseline, InPlace::Absent);
    assert_eq!(whole, [&there, &there, &absent, &there, &absent, &there].map(Clone::clone));
}

#[test]
fn a_new_file_of_comments_is_not_tried() {
    let units = Units::from_files(vec![file("a.py", None, Some(b"# Only this.\n"))]);
    assert!(units.is_trivial(0));
}

#[test]
fn groups_stay_within_a_file() {
    let two = |path: &str| {
        changed(path, "def a():\n    x = 1\n    y\n    z = 1\n", "def a():\n    x = 2\n    y\n    z = 2\n")
    };
    let one = || file("b.bin", None, Some(b"\0"));
    let units = Units::from_files(vec![changed("a.py", BEFORE, NOW), one(), two("c.py")]);
    let groups = units.groups();
    let mut all: Vec<usize> = groups.concat();
    all.sort_unstable();
    assert_eq!(all, (0..units.len()).collect::<Vec<_>>());
    let path = |unit: usize| units.put_back(&[unit]).into_keys().next().unwrap();
    assert!(groups.iter().all(|group| group.iter().all(|unit| path(*unit) == path(group[0]))), "{groups:?}");
}

#[test]
fn the_list_begins_with_what_is_not_held_and_hides_secrets() {
    let now = NOW.replace("return 4", "return 'hunter2hunter2'");
    let units = Units::from_files(vec![changed("a.py", BEFORE, &now)]);
    let held = [Held::Held, Held::NotTried, Held::NotHeld];
    let map = listed::list(ChangeMap::default(), &units, &held, None, &redactor());
    let states: Vec<HunkState> = map.hunks.iter().map(|hunk| hunk.state).collect();
    assert_eq!(states, [HunkState::NotHeld, HunkState::Held, HunkState::NotTried]);
    assert_eq!(map.hunks[0].lines, ["-    return 2", "+    return '[redacted:KEY]'"]);
    assert!(map.hunks[2].note.as_ref().unwrap().contains("comments"));
    assert_eq!((map.totals.held, map.totals.not_held, map.totals.not_tried), (1, 1, 1));
}

#[test]
fn a_long_list_is_cut_and_counted() {
    let long: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
    let mut files: Vec<ChangedFile> = (0..400).map(|n| changed(&format!("{n:03}"), "a\n", "b\n")).collect();
    files.push(file("000", None, Some(long.as_bytes())));
    let units = Units::from_files(files);
    let held = vec![Held::NotTried; units.len()];
    let map = listed::list(ChangeMap::default(), &units, &held, Some(End::OutOfTime), &redactor());
    assert_eq!((map.hunks.len(), map.totals.not_tried), (300, 401));
    assert_eq!((map.out_of_time, map.hunks[0].note.as_deref()), (true, Some("out of time")));
    let units = Units::from_files(vec![file("a", None, Some(long.as_bytes()))]);
    let map = listed::list(ChangeMap::default(), &units, &[Held::Held], None, &redactor());
    assert_eq!((map.hunks[0].lines.len(), map.hunks[0].cut), (40, 199_960));
}
