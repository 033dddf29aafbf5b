//! The safety net: any iteration of a run is brought back exactly; what the user did since is not overwritten.

use crate::bed::{Bed, Done};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// By name: kind, permissions and content.
type Files = BTreeMap<Vec<u8>, (char, u32, Vec<u8>)>;

/// Everything in the workspace but git's own and ralph's views, by its name's bytes.
fn files(dir: &Path) -> Files {
    fn look(dir: &Path, root: &Path, all: &mut Files) {
        for path in fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()) {
            if path.file_name().is_some_and(|name| name == ".git" || name == ".ralph") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
            let mode = meta.permissions().mode() & 0o7777;
            all.insert(
                name,
                match () {
                    () if meta.is_symlink() => {
                        ('l', 0, fs::read_link(&path).unwrap().into_os_string().into_vec())
                    }
                    () if meta.is_dir() => ('d', mode, Vec::new()),
                    () => ('f', mode, fs::read(&path).unwrap()),
                },
            );
            if meta.is_dir() {
                look(&path, root, all);
            }
        }
    }
    let mut all = BTreeMap::new();
    look(dir, dir, &mut all);
    all
}

/// Ten iterations that each write, change and delete files of every kind; the verification copies what it sees aside.
const TEN: &str = "run n=$RALPH_ITERATION; echo $n >> log.txt; mkdir -p d$n; echo x > d$n/f; rm -rf d$((n - 2)); \
                   printf 'a\\000\\377'$n > binary; ln -sfn d$n latest; mkdir empty$n; chmod 75$((n % 8)) d$n; \
                   chmod 64$((n % 8)) log.txt; printf $n > \"$(printf 'n\\351')\"; \
                   git add -A; git commit -qm $n\nclaim progress";

fn ten() -> (Bed, Vec<Files>) {
    let bed = Bed::git(TEN);
    bed.scratch.files(&[("log.txt", "0\n"), ("mine.txt", "uncommitted")]);
    let mut seen = vec![files(&bed.scratch.workspace())];
    let aside = bed.scratch.root().join("aside");
    let copy =
        format!("mkdir -p {0}; rm -rf {0}/$RALPH_ITERATION; cp -a . {0}/$RALPH_ITERATION", aside.display());
    let done = bed.done(&["--max-iterations", "10", "--verify", &copy]);
    assert_eq!(done.result()["iterations"], 10, "{}", done.err);
    seen.extend((1..=10).map(|n| files(&aside.join(n.to_string()))));
    (bed, seen)
}

fn undo(bed: &Bed, args: &[&str]) -> Done {
    Done::of(&mut bed.ralph(&[&["undo"], args].concat()))
}

#[test]
fn any_iteration_of_ten_comes_back_exactly_and_git_is_not_touched() {
    let (bed, seen) = ten();
    let git = |args: &[&str]| {
        let output = bed.scratch.command("git").args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let history = (git(&["log", "--oneline"]), git(&["ls-files", "-s"]), git(&["stash", "list"]));
    for to in [10, 0, 7, 1, 9, 4, 5, 3, 8, 2, 6, 10] {
        let done = undo(&bed, &["--to", &to.to_string(), "--yes"]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(files(&bed.scratch.workspace()), seen[to], "after iteration {to}");
    }
    assert_eq!(history, (git(&["log", "--oneline"]), git(&["ls-files", "-s"]), git(&["stash", "list"])));
}

#[test]
fn what_was_changed_after_the_run_is_left_alone_unless_asked_for() {
    let bed = Bed::git("write agent.txt agent\nclaim progress");
    bed.scratch.files(&[("both.txt", "old")]);
    bed.done(&["--max-iterations", "1"]);
    bed.scratch.files(&[("both.txt", "the user's newer work")]);
    let done = undo(&bed, &["--yes"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("both.txt") && done.err.contains("--newer-too"), "{}", done.err);
    let kept = files(&bed.scratch.workspace());
    assert!(!kept.contains_key(b"agent.txt".as_slice()));
    assert_eq!(kept[b"both.txt".as_slice()].2, b"the user's newer work");
    assert_eq!(undo(&bed, &["--yes", "--newer-too"]).code, 0);
    assert_eq!(files(&bed.scratch.workspace())[b"both.txt".as_slice()].2, b"old");
}

#[test]
fn only_what_the_user_changed_is_newer_whatever_was_undone_before() {
    let bed =
        Bed::git("run seq $RALPH_ITERATION > a.txt; mv b.txt b2.txt 2> log; rm -f c.txt\nclaim progress");
    bed.scratch.files(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n"), ("d.txt", "d\n")]);
    let before = files(&bed.scratch.workspace());
    bed.done(&["--max-iterations", "2"]);
    let after = files(&bed.scratch.workspace());
    bed.scratch.files(&[("d.txt", "mine\n"), ("later.txt", "mine\n")]);
    let with_mine = |mut wanted: Files| {
        for name in [b"d.txt".as_slice(), b"later.txt"] {
            wanted.insert(name.to_vec(), files(&bed.scratch.workspace())[name].clone());
        }
        wanted
    };
    let one = |files: &Files| files[b"a.txt".as_slice()].2.clone();
    for to in ["0", "2", "1", "2", "0", "1", "0"] {
        let done = undo(&bed, &["--to", to, "--yes"]);
        assert_eq!(done.code, 0, "{}", done.err);
        let (now, left) = (files(&bed.scratch.workspace()), done.err.split("Left alone").nth(1).unwrap());
        assert!(
            !left.contains("a.txt") && left.contains("d.txt") && left.contains("later.txt"),
            "{}",
            done.err
        );
        match to {
            "0" => assert_eq!(now, with_mine(before.clone())),
            "2" => assert_eq!(now, with_mine(after.clone())),
            _ => assert_eq!(one(&now), b"1\n"),
        }
    }
}

#[test]
fn what_newer_too_takes_away_is_kept_and_can_be_brought_back() {
    let bed = Bed::git("write a.txt agent\nwrite b.txt agent\nclaim progress");
    bed.scratch.files(&[("a.txt", "a\n"), ("old.txt", "old\n"), ("mode.sh", "true\n")]);
    let before = files(&bed.scratch.workspace());
    bed.done(&["--max-iterations", "1"]);
    let there = bed.scratch.workspace();
    bed.scratch.files(&[("later.txt", "mine\n"), ("a.txt", "mine\n"), ("own/deep/x", "mine\n")]);
    fs::create_dir(there.join("empty")).unwrap();
    std::os::unix::fs::symlink("later.txt", there.join("link")).unwrap();
    fs::set_permissions(there.join("mode.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(there.join("old.txt")).unwrap();
    let mut mine = files(&there);
    let done = undo(&bed, &["--newer-too", "--yes"]);
    assert_eq!((done.code, files(&there)), (0, before.clone()), "{}", done.err);
    let case = done.err.split("ralph quarantine restore ").nth(1).unwrap().trim().to_owned();
    let back = Done::of(&mut bed.ralph(&["quarantine", "restore", &case, "--yes"]));
    assert_eq!(back.code, 0, "{}", back.err);
    // The agent's own file was taken back, and is no part of the case.
    mine.remove(b"b.txt".as_slice());
    assert_eq!(files(&there), mine);
    let again = undo(&bed, &["--newer-too", "--yes"]);
    assert!(again.err.contains(&case), "it is kept already: {}", again.err);
    assert_eq!(files(&there), before);
    let none = undo(&bed, &["--to", "1", "--newer-too", "--yes", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&none.out).unwrap();
    assert_eq!((none.code, &told["case"]), (0, &serde_json::Value::Null), "nobody changed anything: {told}");
}

#[test]
fn nothing_is_done_without_a_yes() {
    let bed = Bed::git("write agent.txt agent\nclaim progress");
    bed.done(&["--max-iterations", "1"]);
    let before = files(&bed.scratch.workspace());
    let asked = undo(&bed, &[]);
    assert_eq!((asked.code, files(&bed.scratch.workspace()) == before), (64, true), "{}", asked.err);
    assert!(asked.err.contains("remove agent.txt"), "{}", asked.err);
    assert_eq!(undo(&bed, &["--dry-run"]).code, 0);
    assert_eq!(files(&bed.scratch.workspace()), before);
    let wrong = undo(&bed, &["--to", "9", "--yes"]);
    assert!(wrong.code == 64 && wrong.err.contains("--to accepts 0"), "{}", wrong.err);
}

#[test]
fn another_run_after_a_killed_one_says_whose_its_changes_are() {
    let bed = Bed::git("write a.txt half\nwrite ready yes\nhang");
    let live = bed.start(&[]);
    bed.awaits("ready");
    live.signal(rustix::process::Signal::KILL);
    live.end();
    bed.nobody_is_left();
    let other = bed.ralph(&[
        "run",
        "Another task",
        "--max-iterations",
        "1",
        "--max-cost",
        "1",
        "--agent",
        "command",
        "--",
        "true",
    ]);
    let said = Done::of(&mut { other }).err;
    assert!(said.contains("was killed, and what it changed last was not inspected"), "{said}");
    let next = bed.ralph(&[
        "run",
        "A third",
        "--max-iterations",
        "1",
        "--max-cost",
        "1",
        "--agent",
        "command",
        "--",
        "true",
    ]);
    let said = Done::of(&mut { next }).err;
    assert!(!said.contains("was not inspected"), "only once: {said}");
}

#[test]
fn a_run_that_was_killed_can_be_undone() {
    let bed = Bed::git("write a.txt half\nwrite ready yes\nhang");
    let live = bed.start(&[]);
    bed.awaits("ready");
    live.signal(rustix::process::Signal::KILL);
    live.end();
    bed.nobody_is_left();
    let before = files(&bed.scratch.workspace());
    let done = undo(&bed, &["--yes"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("The run was cut short"), "{}", done.err);
    assert!(!files(&bed.scratch.workspace()).contains_key(b"a.txt".as_slice()));
    assert_eq!(undo(&bed, &["--to", "1", "--yes"]).code, 0);
    assert_eq!(files(&bed.scratch.workspace()), before, "what was undone is not lost");
}
