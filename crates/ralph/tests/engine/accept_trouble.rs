//! `ralph accept` where something is in its way: rejected work, locks, errors of git, and what it asks of git.

use crate::bed::{Bed, Done};
use crate::run_change::{accepts, last_commit, ralph, worked};
use ralph_tree::WorkspaceLock;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// `ralph accept --json` with a git that does this first.
fn with_git(bed: &Bed, first: &str) -> Done {
    let dir = bed.scratch.root().join("bin");
    fs::create_dir_all(&dir).unwrap();
    let path = std::env::var("PATH").unwrap();
    let git = dir.join("git");
    fs::write(&git, format!("#!/bin/sh\n{first}\nPATH='{path}' exec git \"$@\"\n")).unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    Done::of(bed.ralph(&["accept", "--json"]).env("PATH", format!("{}:{path}", dir.display())))
}

fn log(bed: &Bed) -> String {
    fs::read_to_string(bed.scratch.root().join("log")).unwrap()
}

#[test]
fn work_that_was_taken_back_is_not_committed() {
    // A rejection that leaves a file of the run alone is not complete.
    for (command, code) in [("reject", 2), ("undo", 0)] {
        let bed =
            worked(&[("a.txt", "a\n")], |_| {}, "write a.txt agent\nwrite edited.txt agent\nwrite new.txt n");
        bed.scratch.files(&[("edited.txt", "the user's newer work\n")]);
        let head = bed.scratch.git(&["rev-parse", "HEAD"]);
        assert_eq!(ralph(&bed, &[command, "--yes"]).code, code);
        let done = ralph(&bed, &["accept"]);
        assert!(done.code == 64 && done.err.contains("was taken back"), "{command}: {}", done.err);
        assert_eq!(bed.scratch.git(&["rev-parse", "HEAD"]), head, "{command}");
        assert_eq!(ralph(&bed, &["undo", "--to", "1", "--yes"]).code, 0);
        accepts(&bed);
        assert_eq!(last_commit(&bed), "M a.txt\nA edited.txt\nA new.txt", "{command}");
    }
}

#[test]
fn an_undo_does_not_make_work_that_was_cut_short_look_inspected() {
    let bed = Bed::git("ignore-term\nwrite a.txt half\nwrite ready yes\nhang");
    let live = bed.start(&[]);
    bed.awaits("ready");
    // The second one ends the run by force, so it never writes how it ended.
    live.signal(Signal::INT);
    live.awaits("asked");
    live.signal(Signal::INT);
    live.end();
    bed.nobody_is_left();
    for args in [&["reject", "--yes"][..], &["undo", "--to", "1", "--newer-too", "--yes"]] {
        let done = ralph(&bed, args);
        assert_eq!(done.code, 0, "{}", done.err);
        let refused = ralph(&bed, &["accept"]);
        assert!(refused.code == 64 && !refused.err.contains("Committed"), "{args:?}: {}", refused.err);
    }
    assert_eq!(bed.scratch.read("a.txt"), "half\n");
}

/// The user staged the first of eight lines; then a run changed one of them.
fn staged_before(script: &str) -> Bed {
    let stages = |bed: &Bed| {
        bed.scratch.files(&[("a.txt", &lines("one", "8"))]);
        bed.scratch.git(&["add", "a.txt"]);
    };
    worked(&[("a.txt", &lines("1", "8"))], stages, script)
}

fn lines(first: &str, last: &str) -> String {
    format!("{first}\n2\n3\n4\n5\n6\n7\n{last}\n")
}

#[test]
fn a_staged_version_gets_the_runs_change_too() {
    let bed = staged_before("run sed -i s/8/eight/ a.txt");
    accepts(&bed);
    let version = |name: &str| bed.scratch.git(&["show", name]) + "\n";
    assert_eq!(version("HEAD:a.txt"), lines("1", "eight"));
    assert_eq!(version(":a.txt"), lines("one", "eight"), "the next commit takes nothing back");
    assert_eq!(bed.scratch.read("a.txt"), lines("one", "eight"));
}

#[test]
fn a_change_of_what_the_user_staged_is_not_committed() {
    let bed = staged_before("run sed -i s/one/uno/ a.txt");
    let done = ralph(&bed, &["accept"]);
    assert!(done.code == 73 && done.err.contains("nothing was committed"), "{}", done.err);
    assert_eq!(bed.scratch.git(&["show", ":a.txt"]) + "\n", lines("one", "8"));
}

#[test]
fn a_review_that_was_rejected_is_not_accepted() {
    let bed = Bed::git("write src/done.py yes\nclaim complete");
    bed.scratch.files(&[("ralph.toml", "[gate]\nrequire = \"proven\"\nask_for_test = 0\n")]);
    bed.done(&["--verify", "true"]).ends(2, "NEEDS_REVIEW");
    assert_eq!(ralph(&bed, &["reject", "--yes"]).code, 0);
    let done = ralph(&bed, &["accept", "--no-commit"]);
    assert!(done.code == 64 && done.err.contains("was taken back"), "{}", done.err);
}

#[test]
fn a_stale_lock_is_named_with_what_to_do_and_nothing_stays_staged() {
    for lock in [".git/index.lock", ".git/refs/heads/main.lock"] {
        let bed = worked(&[("a", "a\n")], |_| {}, "delete a\nwrite a/b b");
        let path = bed.scratch.workspace().join(lock);
        fs::write(&path, "").unwrap();
        let done = ralph(&bed, &["accept"]);
        let rm = format!("rm '{}'", path.display());
        assert!(done.code == 73 && done.err.contains(&rm), "{lock}: {}", done.err);
        assert!(
            done.err.contains("nothing was committed") && !done.err.contains("ralph diff"),
            "{}",
            done.err
        );
        fs::remove_file(path).unwrap();
        assert_eq!(bed.scratch.git(&["diff", "--cached", "--name-only"]), "", "{lock}");
        accepts(&bed);
        assert_eq!(last_commit(&bed), "D a\nA a/b", "{lock}");
    }
}

#[test]
fn many_files_take_few_processes_and_the_index_is_told_from_a_file() {
    let script = "run for n in $(seq 30); do printf 'a\\r\\n' > $n.txt; ln -s $n.txt $n.link; done; printf 'b\\r\\n' > raw";
    let bed = worked(&[(".gitattributes", "*.txt text\n")], |_| {}, script);
    let log_file = bed.scratch.root().join("log");
    let first = format!(
        "for word; do case $word in update-index) test -f /dev/stdin && echo file || echo pipe;; hash-object) echo hash;; \
         esac; done >>{}",
        log_file.display()
    );
    let done = with_git(&bed, &first);
    assert_eq!(done.code, 0, "{}", done.err);
    let log = log(&bed);
    assert!(log.matches("file").count() == 2 && !log.contains("pipe"), "{log}");
    assert!(log.matches("hash").count() <= 4, "{log}");
    let object = |name: &str| bed.scratch.git(&["cat-file", "-s", &format!("HEAD:{name}")]);
    assert_eq!((object("7.txt"), object("raw"), object("30.link")), ("2".into(), "3".into(), "6".into()));
    assert_eq!(bed.scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_link_in_the_place_of_a_directory_hides_no_ignored_file() {
    let excludes = |bed: &Bed| {
        let file = bed.scratch.root().join("excludes");
        fs::write(&file, "*.swp\n").unwrap();
        bed.scratch.git(&["config", "core.excludesFile", file.to_str().unwrap()]);
    };
    let bed = worked(&[], excludes, "write dir/x.txt x\nwrite z.swp swap\nwrite b.txt b");
    let workspace = bed.scratch.workspace();
    fs::rename(workspace.join("dir"), bed.scratch.root().join("elsewhere")).unwrap();
    symlink(bed.scratch.root().join("elsewhere"), workspace.join("dir")).unwrap();
    let made = accepts(&bed);
    assert_eq!(
        (last_commit(&bed).as_str(), &made["leftOut"][0]["path"]),
        ("A b.txt\nA dir/x.txt", &"z.swp".into())
    );
    let bed = worked(&[], |_| {}, "write b.txt b");
    let failing = "for word; do case $word in check-ignore) echo 'fatal: no' >&2; exit 128;; esac; done";
    let done = with_git(&bed, failing);
    assert!(done.code == 73 && done.err.contains("git: no"), "{}", done.err);
}

#[test]
fn a_commit_that_fails_after_a_review_gives_no_second_result() {
    let bed = Bed::git("write sub/done.py yes\nclaim complete");
    bed.scratch.files(&[("ralph.toml", "[gate]\nrequire = \"proven\"\nask_for_test = 0\n")]);
    bed.done(&["--verify", "true"]).ends(2, "NEEDS_REVIEW");
    let lock = bed.scratch.workspace().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let done = ralph(&bed, &["accept", "--json"]);
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let results: Vec<&Value> = lines.iter().filter(|line| line["type"] == "result").collect();
    assert_eq!((results.len(), &results[0]["reason"]), (1, &"accepted".into()), "{}", done.out);
    let last = lines.last().unwrap();
    assert_eq!((&last["type"], &last["code"], done.code), (&"error".into(), &73.into(), 73));
}

#[test]
fn paths_of_a_commit_are_relative_to_the_workspace() {
    let bed = Bed::git("write b.txt b\nwrite c.swp c\nclaim progress");
    let sub = bed.scratch.workspace().join("sub");
    fs::create_dir(&sub).unwrap();
    let excludes = bed.scratch.root().join("excludes");
    fs::write(&excludes, "*.swp\n").unwrap();
    bed.scratch.git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
    Done::of(bed.run(&["--max-iterations", "1"]).current_dir(&sub)).ends(3, "MAX_ITERATIONS");
    let done = Done::of(bed.ralph(&["accept", "--json"]).current_dir(&sub));
    let made: Value = serde_json::from_str(done.out.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&made["files"][0], &made["leftOut"][0]["path"]),
        (&"b.txt".into(), &"c.swp".into()),
        "{made}"
    );
}

#[test]
fn a_run_that_is_being_rejected_is_not_running() {
    let bed = worked(&[], |_| {}, "write b.txt b");
    let runs: Value = serde_json::from_str(&bed.says(&["list", "--json"])).unwrap();
    let text = runs.to_string();
    let id = text.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();
    let locks = bed.scratch.state().join("ralph/locks");
    let _lock = WorkspaceLock::take(&locks, &bed.scratch.workspace(), &format!("reject of {id}")).unwrap();
    let shown = ralph(&bed, &["diff"]);
    assert!(shown.err.contains("as it left them"), "{}", shown.err);
    let attached = ralph(&bed, &["attach"]);
    assert!(attached.code != 0, "{}{}", attached.out, attached.err);
}

#[test]
fn in_a_subdirectory_accept_and_reject_say_where_they_work() {
    let bed = worked(&[("sub/a.txt", "a\n")], |_| {}, "write b.txt b");
    for args in [&["reject", "--dry-run"][..], &["accept"]] {
        let done = Done::of(bed.ralph(args).current_dir(bed.scratch.workspace().join("sub")));
        assert!(done.code == 0 && done.err.contains("Working in "), "{args:?}: {}", done.err);
    }
    let done = Done::of(bed.ralph(&["accept", "--quiet"]).current_dir(bed.scratch.workspace().join("sub")));
    assert!(done.code == 0 && !done.err.contains("Working in "), "{}", done.err);
}
