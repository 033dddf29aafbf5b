//! Workspaces that go away, come back or cannot be written; two runs that would be in each other's way; a clock that was
//! set back. `moved.rs` has those that come back elsewhere.

use crate::bed::{Bed, Done, until};
use ralph_store::{Batch, Put, Row, RunRow, Store};
use ralph_testkit::skip;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Passes once the agent has done its work, and needs it.
pub const VERIFY: [&str; 2] = ["--verify", "test -f made.txt"];

/// A repository with a protected file and one that is the work so far.
pub fn bed(script: &str) -> Bed {
    let bed = Bed::git(script);
    bed.scratch.files(&[(".env", "KEY=1\n"), ("old.txt", "old\n")]);
    bed
}

/// A command of ralph's started beside the workspace, which may not be there.
pub fn beside(bed: &Bed, args: &[&str]) -> Done {
    let mut command = bed.ralph(args);
    Done::of(command.current_dir(bed.scratch.root()))
}

fn calls(bed: &Bed) -> usize {
    fs::read_to_string(bed.scratch.root().join("calls")).map_or(0, |text| text.lines().count())
}

/// What a run says that lost its workspace: no violation, nothing judged, not over.
pub fn lost(done: &Done) -> Value {
    let result = done.ends(74, "WORKSPACE_LOST");
    assert_eq!(result["status"], "ERROR");
    assert!(done.records("inspected").is_empty() && done.records("restored").is_empty(), "{}", done.out);
    result
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
        let mut run = bed.run(&[&["--max-iterations", "1", "--fresh"][..], &VERIFY].concat());
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
    store.commit(&Batch { put: vec![put], rows: vec![Row::Run(Box::new(run))], ..Batch::default() }).unwrap();
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
