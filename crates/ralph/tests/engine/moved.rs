//! Workspaces that come back elsewhere: which directory is taken for one, what follows it, and what is found there.

use crate::bed::{Bed, Done};
use crate::places::{VERIFY, bed, beside, lost};
use ralph_engine::home::Home;
use ralph_snapshots::PendingRestore;
use ralph_testkit::skip;
use std::fs;

#[test]
fn a_workspace_that_was_moved_is_lost_and_its_run_goes_on_where_it_is() {
    let bed = bed("run echo half > half.txt; mv \"$PWD\" \"$PWD.moved\"\nclaim complete");
    let (old, new) = (bed.scratch.workspace(), bed.scratch.root().join("workspace.moved"));
    let result = lost(&bed.done(&VERIFY));
    let why = result["details"]["why"].as_str().unwrap();
    assert!(why.contains("workspace.moved") && why.contains("resume -C"), "{why}");
    assert!(!old.exists(), "nothing is created at the old path");
    let run = result["runId"].as_str().unwrap();

    let undone = beside(&bed, &["undo", run, "--yes"]);
    assert!(undone.code == 74 && undone.err.contains("cannot lock the workspace"), "{}", undone.err);
    assert!(!undone.err.contains("another run") && !old.exists(), "{}", undone.err);

    // Not there, and not anywhere else either.
    let refused = beside(&bed, &["resume", run, "--json"]);
    assert_eq!(refused.code, 74, "{}", refused.err);
    assert!(refused.err.contains("is lost") && refused.err.contains("-C DIR"), "{}", refused.err);
    fs::create_dir(&old).unwrap();
    let refused = beside(&bed, &["resume", run, "-C", "workspace", "--json"]);
    assert!(refused.code == 74 && refused.err.contains("without its files"), "{}", refused.err);
    assert_eq!(
        fs::read_dir(&old).unwrap().count(),
        0,
        "an empty directory is not the work, and is left alone"
    );

    bed.script("write made.txt made\nclaim complete");
    let done = beside(&bed, &["resume", "-C", "workspace.moved", "--json"]);
    done.ends(0, "gate_passed");
    let resumed = &done.records("resumed")[0];
    assert_eq!(resumed["workspace"], new.canonicalize().unwrap().to_str().unwrap());
    assert_eq!(fs::read_dir(&old).unwrap().count(), 0);
    let explained = beside(&bed, &["explain", "-C", "workspace.moved"]);
    assert!(explained.out.contains("the workspace was moved to"), "{}", explained.out);
    let list = beside(&bed, &["list", "-C", "workspace.moved", "--json"]);
    assert!(list.out.contains(run), "the run is the new path's: {}", list.out);

    let undone = beside(&bed, &["undo", "-C", "workspace.moved", "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    let is = |name: &str| new.join(name).exists();
    assert_eq!((is("old.txt"), is(".env"), is("made.txt"), is("half.txt")), (true, true, false, false));
}

/// A run in a subdirectory of the repository; what it says is JSON.
fn done_in_sub(bed: &Bed) -> Done {
    let mut run = bed.run(&VERIFY);
    Done::of(run.current_dir(bed.scratch.workspace().join("sub")))
}

#[test]
fn a_subdirectory_is_followed_with_the_repository_around_it() {
    let bed = bed("run mv \"${PWD%/sub}\" \"${PWD%/sub}.moved\"\nclaim complete");
    bed.scratch.files(&[("sub/old.txt", "old\n"), ("sub/older.txt", "older\n")]);
    lost(&done_in_sub(&bed));
    bed.script("write made.txt made\nclaim complete");
    let done = beside(&bed, &["resume", "-C", "workspace.moved/sub", "--json"]);
    done.ends(0, "gate_passed");
    assert!(!bed.scratch.workspace().exists());
}

#[test]
fn what_changed_around_a_subdirectory_before_the_repository_moved_is_found() {
    let bed = bed(
        "run echo '[core] fsmonitor = evil' >> ../.git/config; echo KEY=2 > ../.env; mv \"${PWD%/sub}\" \"${PWD%/sub}.moved\"",
    );
    bed.scratch.files(&[("sub/old.txt", "old\n")]);
    lost(&done_in_sub(&bed));
    let done = beside(&bed, &["resume", "-C", "workspace.moved/sub", "--json"]);
    done.ends(4, "PROHIBITED_PATH");
    let there = bed.scratch.root().join("workspace.moved");
    assert_eq!(fs::read_to_string(there.join(".env")).unwrap(), "KEY=1\n", "restored there");
    assert!(!fs::read_to_string(there.join(".git/config")).unwrap().contains("fsmonitor"));
    assert!(!bed.scratch.workspace().exists());
}

#[test]
fn a_repository_that_stayed_when_its_subdirectory_left_is_still_compared() {
    // A repository with the same layout waits where the subdirectory goes.
    let bed = bed(
        "run cp -a .. ../../other; rm -r ../../other/sub; echo '[core] fsmonitor = evil' >> ../.git/config; mv \"$PWD\" ../../other/sub",
    );
    bed.scratch.files(&[("sub/old.txt", "old\n")]);
    lost(&done_in_sub(&bed));
    let done = beside(&bed, &["resume", "-C", "other/sub", "--json"]);
    done.ends(4, "PROHIBITED_PATH");
    assert!(!bed.scratch.read(".git/config").contains("fsmonitor"), "restored where it is");
}

#[test]
fn a_directory_with_one_of_the_files_is_taken_for_the_workspace_only_if_the_run_is_named() {
    let bed = bed("run mv \"$PWD\" \"$PWD.moved\"\nclaim complete");
    bed.scratch.files(&[("LICENSE", "free\n"), ("a.txt", "a\n"), ("b.txt", "b\n")]);
    let result = lost(&bed.done(&VERIFY));
    let other = bed.scratch.root().join("other");
    fs::create_dir(&other).unwrap();
    for (name, text) in [("LICENSE", "free\n"), ("other.txt", "another project\n")] {
        fs::write(other.join(name), text).unwrap();
    }
    bed.script("write made.txt made\nclaim complete");
    let refused = beside(&bed, &["resume", "-C", "other", "--json"]);
    assert!(refused.records("resumed").is_empty() && refused.code != 0, "{}", refused.out);
    assert!(!other.join("made.txt").exists());
    // Nor is it at the old path.
    fs::rename(&other, bed.scratch.workspace()).unwrap();
    let refused = beside(&bed, &["resume", "-C", "workspace", "--json"]);
    assert!(refused.code == 74 && refused.err.contains("without most of its files"), "{}", refused.err);
    assert!(refused.err.contains("if you name the run"), "{}", refused.err);
    fs::rename(bed.scratch.workspace(), &other).unwrap();
    let named = beside(&bed, &["resume", result["runId"].as_str().unwrap(), "-C", "other", "--json"]);
    assert_eq!(named.records("resumed")[0]["workspace"], other.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn a_moved_directory_is_known_by_itself_where_the_agent_changed_most_files() {
    let bed = bed("run for f in a b c d; do echo changed > $f.txt; done; mv \"$PWD\" \"$PWD.moved\"");
    bed.scratch.files(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n"), ("d.txt", "d\n")]);
    lost(&bed.done(&VERIFY));
    bed.script("write made.txt made\nclaim complete");
    beside(&bed, &["resume", "-C", "workspace.moved", "--json"]).ends(0, "gate_passed");
}

#[test]
fn what_follows_a_moved_workspace_is_on_disk_before_the_journal_says_so() {
    let bed = bed("run mv \"$PWD\" \"$PWD.moved\"");
    lost(&bed.done(&VERIFY));
    bed.script("write made.txt made\nclaim complete");
    let trace = bed.scratch.root().join("trace");
    let mut traced = bed.scratch.command("strace");
    traced.args(["-f", "-y", "-e", "trace=link,linkat,syncfs,fsync,write,pwrite64", "-o"]).arg(&trace);
    traced.arg(env!("CARGO_BIN_EXE_ralph")).args(["resume", "-C", "workspace.moved", "--json"]);
    traced.current_dir(bed.scratch.root());
    if traced.output().is_err() || fs::metadata(&trace).map_or(0, |meta| meta.len()) == 0 {
        return skip("strace is missing or not permitted");
    }
    let text = String::from_utf8_lossy(&fs::read(&trace).unwrap()).into_owned();
    let keep = |line: &&str| line.contains("ralph/keep/");
    let linked = text.lines().skip_while(|line| !(line.contains("link") && keep(line)));
    let mut next = linked.skip_while(|line| line.contains("link"));
    let synced = |line: &&str| line.contains("syncfs(") || (line.contains("fsync(") && keep(line));
    let first = next.find(|line| synced(line) || line.contains("ralph.db-wal")).unwrap();
    assert!(synced(&first), "{first}");
}

#[test]
fn a_restore_that_was_cut_short_moves_with_the_workspace() {
    let bed = bed("run mv \"$PWD\" \"$PWD.moved\"");
    let old = bed.scratch.workspace().canonicalize().unwrap();
    lost(&bed.done(&VERIFY));
    let new = bed.scratch.root().join("workspace.moved").canonicalize().unwrap();
    let home = Home::at(bed.scratch.state().join("ralph"));
    let mut pending = PendingRestore::load(&home.pending_restore(&old));
    pending.begin_files([(old.clone(), b"old.txt".to_vec(), 7)]).unwrap();
    let draft = new.join(format!(".ralph-{:032x}.draft", 7));
    fs::write(&draft, "half").unwrap();
    bed.script("write made.txt made\nclaim complete");
    beside(&bed, &["resume", "-C", "workspace.moved", "--json"]).ends(0, "gate_passed");
    assert!(!home.pending_restore(&old).exists(), "nothing is left for whoever comes to the old path");
    assert!(!draft.exists());
    let there = PendingRestore::load(&home.pending_restore(&new));
    assert!(there.half_restored(&new).has(b"old.txt", None));
}

#[test]
fn what_the_agent_does_to_protected_paths_before_a_move_is_found_after_it() {
    let bed = bed(
        "run echo KEY=2 > .env; echo '[core] fsmonitor = evil' >> .git/config; mv \"$PWD\" \"$PWD.moved\"",
    );
    lost(&bed.done(&[]));
    let done = beside(&bed, &["resume", "-C", "workspace.moved", "--json"]);
    done.ends(4, "PROHIBITED_PATH");
    let there = bed.scratch.root().join("workspace.moved");
    assert_eq!(fs::read_to_string(there.join(".env")).unwrap(), "KEY=1\n", "restored there");
    assert!(!fs::read_to_string(there.join(".git/config")).unwrap().contains("fsmonitor"));
    assert!(!bed.scratch.workspace().exists());
}
