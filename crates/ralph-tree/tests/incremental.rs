//! The next walk takes over what still holds, and never more than that.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use ralph_tree::{Protect, Tree, changes};
use support::{Scratch, diff};

/// Waits until nothing in the workspace is too fresh to be trusted by its stat.
fn settle() {
    std::thread::sleep(Duration::from_millis(40));
}

#[test]
fn ten_thousand_files_are_read_once() {
    let w = Scratch::new();
    for number in 0..10_000 {
        let path = w.at(&format!("d{}/f{number}", number / 100));
        if number % 100 == 0 {
            fs::create_dir(path.parent().unwrap()).unwrap();
        }
        fs::write(path, number.to_string()).unwrap();
    }
    settle();
    let first = w.walk();
    assert_eq!(first.files_hashed(), 10_000);
    let second = w.tree.walk(Some(&first)).unwrap();
    assert_eq!((second.files_hashed(), second.bytes_hashed()), (0, 0));
    assert_eq!(first.id(), second.id());
    w.write("d42/f4242", "changed").remove("d42/f4243").write("d42/new", "x");
    let third = w.tree.walk(Some(&second)).unwrap();
    assert_eq!(third.files_hashed(), 2);
    assert_eq!(diff(&second, &third), ["+d42/new", "~d42/f4242", "-d42/f4243"]);
}

#[test]
fn a_touched_file_is_read_again_and_found_equal() {
    let w = Scratch::new();
    w.write("a", "x").write("b", "x");
    settle();
    let first = w.walk();
    fs::set_permissions(w.at("a"), Permissions::from_mode(0o600)).unwrap();
    let second = w.walk_after(&first);
    assert_eq!((second.files_hashed(), second.id()), (1, first.id()));
}

#[test]
fn rules_that_change_at_any_level_are_noticed() {
    let w = Scratch::new();
    for path in ["a/b/c/x.log", "a/b/y.log", "a/z.log", "a/b/c/keep.txt"] {
        w.write(path, "x");
    }
    let mut before = w.walk();
    for (path, rules) in [
        ("a/b/.gitignore", "*.log\n"),
        ("a/b/c/.gitignore", "!x.log\n"),
        (".gitignore", "a/b/\n"),
        ("a/b/.gitignore", ""),
        (".gitignore", "*.txt\n"),
        ("a/.gitignore", "/b/c/\n"),
        (".gitignore", ""),
    ] {
        w.write(path, rules);
        before = w.walk_after(&before);
    }
    w.remove("a/.gitignore");
    w.walk_after(&before);
}

#[derive(Clone, Debug)]
enum Edit {
    Write(u8, u8),
    Remove(u8),
    Rename(u8, u8),
    Executable(u8, bool),
    Touch(u8),
    Rewrite(u8),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let name = 0..8_u8;
    let edit = prop_oneof![
        (name.clone(), 0..3_u8).prop_map(|(n, c)| Edit::Write(n, c)),
        name.clone().prop_map(Edit::Remove),
        (name.clone(), name.clone()).prop_map(|(a, b)| Edit::Rename(a, b)),
        (name.clone(), any::<bool>()).prop_map(|(n, x)| Edit::Executable(n, x)),
        name.clone().prop_map(Edit::Touch),
        name.prop_map(Edit::Rewrite),
    ];
    prop::collection::vec(edit, 1..25)
}

/// Names at several depths, some of them prefixes of others.
fn place(number: u8) -> &'static str {
    ["a", "a.b", "d/a", "d/a-b", "d.x", "d/e/f", "d/e/f.g", "z z"][usize::from(number)]
}

type Model = BTreeMap<&'static str, (u8, bool)>;

fn apply(root: &Path, model: &mut Model, edit: &Edit) {
    let at = |number: u8| root.join(place(number));
    match *edit {
        Edit::Write(n, content) => {
            fs::create_dir_all(at(n).parent().unwrap()).unwrap();
            fs::write(at(n), [b'0' + content; 4]).unwrap();
            model.entry(place(n)).or_insert((content, false)).0 = content;
        }
        Edit::Remove(n) => {
            if model.remove(place(n)).is_some() {
                fs::remove_file(at(n)).unwrap();
            }
        }
        Edit::Rename(from, to) => {
            if let Some(file) = model.remove(place(from)) {
                fs::create_dir_all(at(to).parent().unwrap()).unwrap();
                fs::rename(at(from), at(to)).unwrap();
                model.insert(place(to), file);
            }
        }
        Edit::Executable(n, executable) => {
            if let Some(file) = model.get_mut(place(n)) {
                let mode = if executable { 0o755 } else { 0o644 };
                fs::set_permissions(at(n), Permissions::from_mode(mode)).unwrap();
                file.1 = executable;
            }
        }
        Edit::Touch(n) => {
            if model.contains_key(place(n)) {
                let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
                File::options().write(true).open(at(n)).unwrap().set_times(times).unwrap();
            }
        }
        Edit::Rewrite(n) => {
            if let Some(&(content, executable)) = model.get(place(n)) {
                fs::remove_file(at(n)).unwrap();
                fs::write(at(n), [b'0' + content; 4]).unwrap();
                let mode = if executable { 0o755 } else { 0o644 };
                fs::set_permissions(at(n), Permissions::from_mode(mode)).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_id_changes_if_and_only_if_the_content_does(edits in edits()) {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree::new(dir.path(), Protect::new(Protect::DEFAULTS).unwrap());
        let mut model = Model::new();
        let mut ids: HashMap<u128, Model> = HashMap::new();
        let mut before = tree.walk(None).unwrap();
        ids.insert(before.id(), model.clone());
        for edit in &edits {
            let old = model.clone();
            apply(dir.path(), &mut model, edit);
            let after = tree.walk(Some(&before)).unwrap();
            let same = ids.entry(after.id()).or_insert_with(|| model.clone());
            prop_assert_eq!(&*same, &model, "two contents with one id");
            prop_assert_eq!(before.id() == after.id(), old == model, "{:?}", edit);
            prop_assert_eq!(changes(&before, &after).is_empty(), old == model);
            prop_assert_eq!(after.id(), tree.walk(None).unwrap().id());
            before = after;
        }
        prop_assert!(ids.len() <= edits.len() + 1);
    }
}
