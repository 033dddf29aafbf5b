//! Walking a directory that holds some of a workspace's files: whose ignore rules hold, and that nothing is read.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use ralph_tree::{Protect, Tree};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }
}

/// The paths that count in a copy of the workspace `top/work`, with these files of rules.
fn counting(copy: &[(&str, &str)], rules: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().join("top");
    write(&top, &[(".git/HEAD", "ref: refs/heads/main"), (".git/info/exclude", "*.mine\n")]);
    write(&top, &[(".gitignore", "*.log\n"), ("work/.gitignore", "*.never\n"), ("work/kept", "")]);
    // The copy lies in a repository, too, whose rules are nobody's business.
    let around = dir.path().join("around");
    write(&around, &[(".git/HEAD", "ref: refs/heads/main"), (".gitignore", "*.txt\n")]);
    write(&around.join("copy"), copy);
    let nothing: [&str; 0] = [];
    let rules: BTreeSet<Vec<u8>> = rules.iter().map(|path| path.as_bytes().to_vec()).collect();
    let tree = Tree::new(around.join("copy"), Protect::new(nothing).unwrap());
    let index = tree.as_copy_of(&top.join("work"), rules).walk(None).unwrap();
    assert_eq!(
        (index.files_hashed(), index.entries().all(|entry| entry.hash == 0 || entry.size == 0)),
        (0, true)
    );
    let counts = index.entries().filter(|entry| entry.counts);
    counts.map(|entry| String::from_utf8(entry.path.to_vec()).unwrap()).collect()
}

#[test]
fn the_rules_around_and_of_the_workspace_hold_and_none_around_the_copy() {
    let copy = [("a.txt", "1"), ("a.log", "1"), ("a.mine", "1"), ("a.never", "1"), ("d/b.log", "1")];
    assert_eq!(counting(&copy, &[]), ["a.never", "a.txt", "d"]);
}

#[test]
fn of_the_files_of_rules_in_the_copy_only_the_named_ones_hold() {
    let copy = [
        (".gitignore", "*.o\n"),
        ("a.o", "1"),
        ("d/.gitignore", "*\n"),
        ("d/conftest.py", "1"),
        ("e/.gitignore", "/x\n"),
        ("e/x", "1"),
        ("f/.git/HEAD", "ref: refs/heads/main"),
        ("f/.git/info/exclude", "*"),
        ("f/y", "1"),
    ];
    let expected = [".gitignore", "d", "d/.gitignore", "d/conftest.py", "e", "e/.gitignore", "f", "f/y"];
    assert_eq!(counting(&copy, &[".gitignore", "e/.gitignore"]), expected);
}
