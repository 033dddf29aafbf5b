//! Workspaces that go away, come back elsewhere or cannot be written; two runs that would be in each other's way; a clock
//! that was set back.

use crate::bed::{Bed, Done, until};
use ralph_engine::home::Home;
use ralph_snapshots::PendingRestore;
use ralph_store::{Batch, Put, Row, RunRow, Store};
use ralph_testkit::skip;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Passes once the agent has done its work, and needs it.
const VERIFY: [&str; 2] = ["--verify", "test -f made.txt"];

/// A repository with a protected file and one that is the work so far.
fn bed(script: &str) -> Bed {
    let bed = Bed::git(script);
    bed.scratch.files(&[(".env", "KEY=1\n"), ("old.txt", "old\n")]);
    bed
}

/// A command of ralph's started beside the workspace, which may not be there.
fn beside(bed: &Bed, args: &[&str]) -> Done {
    let mut command = bed.ralph(args);
    Done::of(command.current_dir(bed.scratch.root()))
}

fn calls(bed: &Bed) -> usize {
    fs::read_to_string(bed.scratch.root().join("calls")).map_or(0, |text| text.lines().count())
}

/// What a run says that lost its workspace: no violation, nothing judged, not over.
fn lost(done: &Done) -> Value {
    let result = done.ends(74, "WORKSPACE_LOST");
    assert_eq!(result["status"], "ERROR");
    assert!(done.records("inspected").is_empty() && done.records("restored").is_empty(), "{}", done.out);
    result
}

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
        "run echo '[core]' >> ../.git/config; echo KEY=2 > ../.env; mv \"${PWD%/sub}\" \"${PWD%/sub}.moved\"",
    );
    bed.scratch.files(&[("sub/old.txt", "old\n")]);
    lost(&done_in_sub(&bed));
    let done = beside(&bed, &["resume", "-C", "workspace.moved/sub", "--json"]);
    done.ends(4, "PROHIBITED_PATH");
    let there = bed.scratch.root().join("workspace.moved");
    assert_eq!(fs::read_to_string(there.join(".env")).unwrap(), "KEY=1\n", "restored there");
    assert!(!fs::read_to_string(there.join(".git/config")).unwrap().ends_with("[core]\n"));
    assert!(!bed.scratch.workspace().exists());
}

#[test]
fn a_repository_that_stayed_when_its_subdirectory_left_is_still_compared() {
    // A repository with the same layout waits where the subdirectory goes.
    let bed = bed(
        "run cp -a .. ../../other; rm -r ../../other/sub; echo '[core]' >> ../.git/config; mv \"$PWD\" ../../other/sub",
    );
    bed.scratch.files(&[("sub/old.txt", "old\n")]);
    lost(&done_in_sub(&bed));
    let done = beside(&bed, &["resume", "-C", "other/sub", "--json"]);
    done.ends(4, "PROHIBITED_PATH");
    assert!(!bed.scratch.read(".git/config").ends_with("[core]\n"), "restored where it is");
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
    let bed = bed("run echo KEY=2 > .env; echo '[core]' >> .git/config; mv \"$PWD\" \"$PWD.moved\"");
    lost(&bed.done(&[]));
    let done = beside(&bed, &["resume", "-C", "workspace.moved", "--json"]);
    done.ends(4, "PROHIBITED_PATH");
    let there = bed.scratch.root().join("workspace.moved");
    assert_eq!(fs::read_to_string(there.join(".env")).unwrap(), "KEY=1\n", "restored there");
    assert!(!fs::read_to_string(there.join(".git/config")).unwrap().ends_with("[core]\n"));
    assert!(!bed.scratch.workspace().exists());
}

#[test]
fn a_deleted_workspace_is_no_violation_and_its_run_goes_on_when_it_is_back() {
    let bed = bed("run rm -rf \"$PWD\"\nclaim complete");
    let (workspace, copy) = (bed.scratch.workspace(), bed.scratch.root().join("copy"));
    let copied = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
    };
    copied(&workspace, &copy);
    let result = lost(&bed.done(&VERIFY));
    assert!(!workspace.exists());
    copied(&copy, &workspace);
    bed.script("write made.txt made\nclaim complete");
    let done = beside(&bed, &["resume", result["runId"].as_str().unwrap(), "--json"]);
    done.ends(0, "gate_passed");
    assert_eq!(bed.scratch.read(".env"), "KEY=1\n");
}

#[test]
fn a_new_directory_at_its_path_is_not_the_workspace() {
    let bed = bed("run rm -rf \"$PWD\"; mkdir \"$PWD\"\nclaim complete");
    lost(&bed.done(&VERIFY));
    assert_eq!(fs::read_dir(bed.scratch.workspace()).unwrap().count(), 0);
    let refused = Done::of(&mut bed.ralph(&["resume", "--json"]));
    assert!(refused.code == 74 && refused.err.contains("is lost"), "{}", refused.err);
    assert_eq!(fs::read_dir(bed.scratch.workspace()).unwrap().count(), 0);
}

#[test]
fn another_project_at_the_same_path_does_not_continue_a_run() {
    let bed = bed("write ready yes\nhang");
    let live = bed.start(&VERIFY);
    bed.awaits("ready");
    live.signal(rustix::process::Signal::INT);
    live.end().ends(130, "INTERRUPTED");
    fs::remove_dir_all(bed.scratch.workspace()).unwrap();
    bed.scratch.files(&[("other.txt", "another project\n")]);
    bed.script("write made.txt made\nclaim complete");
    let done = bed.done(&VERIFY);
    done.ends(0, "gate_passed");
    assert!(done.records("resumed").is_empty(), "{}", done.err);
    assert!(!bed.scratch.workspace().join("old.txt").exists());
}

#[test]
fn contents_that_an_agent_replaces_are_its_work() {
    let bed = bed(
        "run cp -a . ../copy; find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +; rm -rf ../copy/.git; cp -a ../copy/. .; rm -rf ../copy; echo x > made.txt\n\
         claim complete",
    );
    bed.done(&VERIFY).ends(0, "gate_passed");
}

/// Runs a shell script as root with mounts of its own: a file system at `$W`, ralph as `$R`, flags of a run as `$@`.
fn mounted(bed: &Bed, script: &str) -> Option<Done> {
    let mut mounts = bed.scratch.command("unshare");
    let allowed = mounts.args(["-m", "sh", "-c", "mount -t tmpfs none \"$PWD\""]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let run = bed.run(&VERIFY);
    let flags: Vec<_> = run.get_args().skip_while(|arg| *arg != "run").collect();
    let mut shell = bed.scratch.command("unshare");
    shell.current_dir(bed.scratch.root()).args(["-m", "sh", "-euc"]);
    shell.arg(format!(
        "W=$PWD/workspace; R={}; mount -t tmpfs -o size=4m none \"$W\"; cd \"$W\"; echo old > old.txt; {script}",
        env!("CARGO_BIN_EXE_ralph")
    ));
    Some(Done::of(shell.arg("sh").args(flags)))
}

const NO_MOUNTS: &str = "mounting is not permitted (needs root)";

#[test]
fn an_unmounted_workspace_is_lost_and_nothing_is_written_below_it() {
    let bed = Bed::plain("run umount -l \"$PWD\"\nclaim complete");
    let Some(done) = mounted(&bed, "cd /; exec \"$R\" -C \"$W\" \"$@\"") else { return skip(NO_MOUNTS) };
    lost(&done);
    assert_eq!(fs::read_dir(bed.scratch.workspace()).unwrap().count(), 0);
}

#[test]
fn a_workspace_that_cannot_be_written_is_found_before_the_call() {
    for (make, words) in [
        ("mount -o remount,ro \"$W\"", "mount it for writing"),
        ("dd if=/dev/zero of=fill bs=64k 2>/dev/null || true", "free some space"),
    ] {
        let bed = Bed::plain("write made.txt made\nclaim complete");
        let mend = "mount -o remount,rw \"$W\"; rm -f fill";
        let script = format!("{make}; \"$R\" \"$@\" || echo left $?; {mend}; exec \"$R\" resume --json");
        let Some(done) = mounted(&bed, &script) else { return skip(NO_MOUNTS) };
        assert!(done.out.contains("left 74\n"), "{make}: {}", done.err);
        let first = done.out.lines().take_while(|line| *line != "left 74").last().unwrap();
        let result: Value = serde_json::from_str(first).unwrap();
        assert_eq!((&result["reason"], &result["status"]), (&"WORKSPACE_UNWRITABLE".into(), &"ERROR".into()));
        assert!(result["details"]["why"].as_str().unwrap().contains(words), "{result}");
        assert_eq!(result["costUSD"], 0.0);
        done.ends(0, "gate_passed");
        assert_eq!(calls(&bed), 1, "{make}: the first process called nobody");
    }
}

#[test]
fn a_call_that_could_not_write_is_the_last_one() {
    for make in [
        "mount -o remount,ro \"$PWD\"",
        // What fills the disk is a change, so the iteration is judged before the next call is refused.
        "dd if=/dev/zero of=fill bs=64k",
    ] {
        let bed = Bed::plain(&format!("run {make}\nclaim progress"));
        let Some(done) = mounted(&bed, "exec \"$R\" \"$@\"") else { return skip(NO_MOUNTS) };
        done.ends(74, "WORKSPACE_UNWRITABLE");
        assert_eq!(calls(&bed), 1, "{make}");
    }
}

#[test]
fn a_workspace_without_permission_is_found_before_the_call() {
    if !rustix::process::geteuid().is_root() {
        return skip("an ordinary user is made of root");
    }
    let bed = Bed::plain("write made.txt made\nclaim complete");
    bed.scratch.files(&[("old.txt", "old\n")]);
    let run = bed.run(&VERIFY);
    let root = bed.scratch.root().display();
    let own = format!("chown -R 65534:65534 {root} && chmod 555 {root}/workspace");
    assert!(Command::new("sh").args(["-c", &own]).status().unwrap().success());
    let mut user = bed.scratch.command("setpriv");
    user.args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(run.get_program())
        .args(run.get_args());
    let done = Done::of(&mut user);
    if done.code == 127 || done.err.contains("cannot execute") || done.err.contains("failed to execute") {
        return skip("the binary cannot be started by another user");
    }
    let result = done.ends(74, "WORKSPACE_UNWRITABLE");
    assert!(result["details"]["why"].as_str().unwrap().contains("permission to write"), "{result}");
    assert_eq!(calls(&bed), 0);
}

#[test]
fn runs_in_each_other_and_with_two_state_directories_are_refused_and_those_beside_are_not() {
    let bed = bed(
        "write ready yes\nrun while [ ! -e ../go ]; do sleep 0.02; done; echo x > made.txt\nclaim complete",
    );
    let root = bed.scratch.root();
    bed.scratch.files(&[("sub/a.txt", "a\n")]);
    bed.scratch.git(&["worktree", "add", "-q", "../beside"]);
    let live = bed.start(&VERIFY);
    bed.awaits("ready");
    let other = |dir: &Path, state: PathBuf| {
        let mut run = bed.run(&["--max-iterations", "1", "--fresh"]);
        Done::of(run.current_dir(dir).env("XDG_STATE_HOME", state))
    };
    let below = other(&bed.scratch.workspace().join("sub"), bed.scratch.state());
    assert!(below.code == 73 && below.err.contains("which contains this workspace"), "{}", below.err);
    let above = other(root, bed.scratch.state());
    assert!(above.code == 73 && above.err.contains("which lies in this workspace"), "{}", above.err);
    for dir in [bed.scratch.workspace(), bed.scratch.workspace().join("sub")] {
        let second = other(&dir, root.join("second"));
        assert!(second.code == 73 && second.err.contains("another state directory"), "{}", second.err);
    }
    fs::write(root.join("go"), "").unwrap();
    let beside = other(&root.join("beside"), bed.scratch.state());
    assert_eq!(beside.code, 0, "a worktree beside it runs at the same time: {}", beside.err);
    live.end().ends(0, "gate_passed");
    assert!(bed.scratch.git(&["status", "--porcelain", "--", ".ralph"]).is_empty(), "the lock is ignored");
}

#[test]
fn an_agent_that_cleans_up_lets_nobody_in() {
    let bed = bed(
        "run git clean -qxdf -e old.txt -e .env; echo x > ready\nrun while [ ! -e ../go ]; do sleep 0.02; done",
    );
    let live = bed.start(&[]);
    bed.awaits("ready");
    until("the clean-up", || (!bed.scratch.workspace().join(".ralph/lock").exists()).then_some(()));
    let second = bed.done(&["--fresh"]);
    assert!(second.code == 73 && second.err.contains("another run is active"), "{}", second.err);
    fs::write(bed.scratch.root().join("go"), "").unwrap();
    live.signal(rustix::process::Signal::INT);
    live.end();
}

#[test]
fn the_newest_run_is_the_last_one_started_and_a_clock_set_back_is_noted_once() {
    let bed = Bed::git("write made.txt made\nclaim complete");
    let later = 4_000_000_000_000;
    let id = "ffffffff-ffff-7fff-bfff-ffffffffffff";
    let workspace = bed.scratch.workspace().canonicalize().unwrap().to_string_lossy().into_owned();
    let store = ralph_store::open(&bed.scratch.state().join("ralph")).unwrap();
    let run = RunRow { id: id.into(), workspace, started: later, updated: later, ..RunRow::default() };
    let put = Put {
        stream: format!("run/{id}"),
        at: later,
        kind: "seen".into(),
        body: "{}".into(),
        ..Put::default()
    };
    store.commit(&Batch { put: vec![put], rows: vec![Row::Run(run)], ..Batch::default() }).unwrap();
    drop(store);
    let shown = bed.run(&VERIFY);
    let args: Vec<_> = shown.get_args().filter(|arg| *arg != "--json").map(ToOwned::to_owned).collect();
    let mut plain = bed.scratch.command("env");
    let done = Done::of(plain.args(args));
    assert_eq!(done.code, 0, "{}", done.err);
    let lines = done.err.lines().chain(done.out.lines());
    let noted: Vec<_> = lines.filter(|line| line.contains("the clock was set back")).collect();
    assert_eq!(noted.len(), 2, "once on the screen, once in the receipt: {}", done.err);
    let status = Done::of(&mut bed.ralph(&["status", "--json"]));
    let list: Value = serde_json::from_str(&Done::of(&mut bed.ralph(&["list", "--json"])).out).unwrap();
    assert_eq!(list[1]["id"], id, "the older one, whatever its clock said");
    assert!(status.out.contains(list[0]["id"].as_str().unwrap()), "{}", status.out);
    let explained = Done::of(&mut bed.ralph(&["explain"]));
    assert!(explained.out.contains("the clock was set back"), "{}", explained.out);
    // The next one starts after the last, so there is nothing to say.
    let again = bed.done(&["--verify", "test -f made.txt", "--fresh"]);
    assert!(again.records("run_started")[0].get("clock_behind").is_none(), "{}", again.err);
}
