//! A run that changes ignore rules: files that only appear or vanish with a rule are not its work. They are not shown,
//! committed, removed or overwritten.

use crate::bed::Bed;
use crate::run_change::{accepts, last_commit, ralph, worked};
use serde_json::Value;

fn json(bed: &Bed, args: &[&str]) -> Value {
    let done = ralph(bed, args);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    serde_json::from_str(&done.out).unwrap()
}

fn left_out(value: &Value) -> Vec<&str> {
    value["leftOut"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect()
}

/// The agent ignores a directory that has a tracked file, and really deletes another file of it.
fn ignores_a_tracked_file() -> Bed {
    let files = [("dist/a.js", "a\n"), ("dist/gone.js", "g\n")];
    worked(&files, |_| {}, "write .gitignore dist/\ndelete dist/gone.js\nwrite new.txt new")
}

/// The agent drops the rule that ignores the user's notes, and writes one itself.
fn shows_ignored_files() -> Bed {
    let mine = |bed: &Bed| bed.scratch.files(&[("notes/mine.txt", "mine\n")]);
    let files = [(".gitignore", "notes/\n")];
    worked(&files, mine, "write .gitignore other/\nwrite new.txt new\nwrite notes/agent.txt agent")
}

#[test]
fn a_tracked_file_that_is_ignored_now_is_not_deleted() {
    let bed = ignores_a_tracked_file();
    let shown = ralph(&bed, &["diff", "--name-only"]);
    assert_eq!(shown.out, ".gitignore\ndist/gone.js\nnew.txt\n");
    assert!(shown.err.contains("not shown: dist/a.js: it was not deleted"), "{}", shown.err);
    assert_eq!(left_out(&json(&bed, &["diff", "--json"])), ["dist/a.js"]);
    let made = accepts(&bed);
    assert_eq!(
        (last_commit(&bed).as_str(), left_out(&made)),
        ("A .gitignore\nD dist/gone.js\nA new.txt", vec!["dist/a.js"])
    );
    assert_eq!(bed.scratch.git(&["status", "--porcelain"]), "");
    assert_eq!(bed.scratch.git(&["ls-files", "dist"]), "dist/a.js");
}

#[test]
fn a_file_that_is_ignored_now_is_not_overwritten_unsaved() {
    for command in ["reject", "undo"] {
        let bed = ignores_a_tracked_file();
        bed.scratch.files(&[("dist/a.js", "built later\n")]);
        let done = json(&bed, &[command, "--yes", "--json"]);
        assert_eq!(left_out(&done), ["dist/a.js"], "{command}");
        let read = |name: &str| bed.scratch.read(name);
        assert_eq!(
            (read("dist/a.js"), read("dist/gone.js")),
            ("built later\n".into(), "g\n".into()),
            "{command}"
        );
        assert!(!bed.scratch.workspace().join("new.txt").exists(), "{command}");
    }
}

#[test]
fn files_that_a_rule_hid_before_the_run_are_the_users() {
    let bed = shows_ignored_files();
    let shown = ralph(&bed, &["diff", "--name-only"]);
    assert_eq!(shown.out, ".gitignore\nnew.txt\n");
    assert!(shown.err.contains("not shown: notes/mine.txt: git ignored it before"), "{}", shown.err);
    let made = accepts(&bed);
    let notes = vec!["notes/agent.txt", "notes/mine.txt"];
    assert_eq!((last_commit(&bed).as_str(), left_out(&made)), ("M .gitignore\nA new.txt", notes));
    assert_eq!(bed.scratch.git(&["status", "--porcelain"]), "?? notes/");
    for command in ["reject", "undo"] {
        let bed = shows_ignored_files();
        let done = json(&bed, &[command, "--yes", "--json"]);
        assert_eq!(left_out(&done), ["notes/agent.txt", "notes/mine.txt"], "{command}");
        assert_eq!(bed.scratch.read("notes/mine.txt"), "mine\n", "{command}");
        assert_eq!(bed.scratch.git(&["status", "--porcelain"]), "", "{command}: the rule is back");
    }
}
