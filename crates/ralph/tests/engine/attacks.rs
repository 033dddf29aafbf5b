//! An agent that attacks its supervisor: nobody survives, nothing stays stopped, and what changes afterwards is not taken
//! for the user's.

use crate::bed::{Bed, Done, Live, until};
use rustix::process::Signal;
use std::fs;

/// Of a shell that the scripted agent runs: the agent's supervisor.
const SUPERVISOR: &str = "$(ps -o ppid= -p $PPID | tr -d ' ')";
/// And the process that drives the run.
const RALPH: &str = "$(ps -o ppid= -p $(ps -o ppid= -p $PPID))";

/// A time to sleep that marks a process which has nothing else: no environment, no parent, a session of its own.
fn mark(bed: &Bed) -> String {
    format!(
        "8888.{:0>12}",
        bed.scratch.state().metadata().map(|it| std::os::unix::fs::MetadataExt::ino(&it)).unwrap()
    )
}

/// Every living process that sleeps for this time.
fn marked(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let line = |dir: fs::DirEntry| fs::read(dir.path().join("cmdline")).ok();
    let sleeps = |line: &Vec<u8>| line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes());
    processes
        .filter_map(line)
        .filter(sleeps)
        .map(|line| String::from_utf8_lossy(&line).into_owned())
        .collect()
}

fn unmarked(mark: &str) -> String {
    format!("run env -i setsid sh -c '(setsid sleep {mark} >/dev/null 2>&1 &)'")
}

#[test]
fn an_agent_that_kills_its_supervisor_leaves_nobody() {
    let bed = Bed::git("");
    let mark = mark(&bed);
    bed.script(&format!("{}\nrun kill -9 {SUPERVISOR}\nhang", unmarked(&mark)));
    let done = bed.done(&["--max-iterations", "1"]);
    done.ends(3, "MAX_ITERATIONS");
    assert_eq!(marked(&mark), Vec::<String>::new());
    assert!(done.call()["outlived"].as_u64() >= Some(2), "{}", done.call());
    bed.nobody_is_left();
}

#[test]
fn a_verify_command_that_kills_its_supervisor_leaves_nobody_and_has_failed() {
    let bed = Bed::git("claim complete");
    let mark = mark(&bed);
    let verify = format!("env -i setsid sh -c '(setsid sleep {mark} &)'; kill -9 $PPID; sleep 600");
    let done = bed.done(&["--max-iterations", "1", "--verify", &verify]);
    assert_ne!(done.code, 0, "{}", done.err);
    assert_eq!(marked(&mark), Vec::<String>::new());
    bed.nobody_is_left();
}

/// Plays somebody whom nobody found: writes after a step has ended and before the next begins.
fn write_between_steps(bed: &Bed, live: &Live, kind: &str) {
    live.awaits(kind);
    bed.scratch.files(&[("src/auth/login.rs", "evil"), ("check.sh", "true")]);
}

const KILLS_ITS_SUPERVISOR: &str =
    "[1]\nrun kill -9 $(ps -o ppid= -p $PPID | tr -d ' ')\nhang\n[*]\nwrite done.txt yes\nclaim complete";

#[test]
fn after_a_lost_supervisor_no_change_to_a_protected_path_is_the_users() {
    let bed = Bed::git(KILLS_ITS_SUPERVISOR);
    bed.scratch.files(&[("check.sh", "test -f done.txt\n"), ("src/auth/login.rs", "good")]);
    let live = bed.start(&["--verify", "sh check.sh"]);
    write_between_steps(&bed, &live, "inspected");
    let done = live.end();
    done.ends(4, "PROHIBITED_PATH");
    assert_eq!(bed.scratch.read("src/auth/login.rs"), "good", "{}", done.err);
}

#[test]
fn after_a_lost_supervisor_no_change_to_a_test_is_the_users() {
    let bed = Bed::git(KILLS_ITS_SUPERVISOR);
    bed.scratch.files(&[("check.sh", "test -f never.txt\n")]);
    let live = bed.start(&["--verify", "sh check.sh", "--max-iterations", "2"]);
    live.awaits("inspected");
    bed.scratch.files(&[("check.sh", "test -f done.txt\n")]);
    live.end().ends(4, "ORACLE_CHANGED");
}

#[test]
fn a_run_that_was_killed_with_its_supervisor_takes_no_later_change_for_the_users() {
    let bed = Bed::git("");
    let mark = mark(&bed);
    // In the supervisor's session still, but without its mark.
    let stays = format!("run env -i sleep {mark} >/dev/null 2>&1 &");
    // Stopped first, so that it cannot answer the supervisor's death.
    let kills = format!("run r={RALPH}; kill -STOP $r; kill -9 {SUPERVISOR}; kill -9 $r");
    bed.script(&format!("[1]\n{stays}\n{kills}\nhang\n[*]\nwrite done.txt yes\nclaim complete"));
    bed.scratch.files(&[("src/auth/login.rs", "good")]);
    assert_eq!(bed.start(&["--verify", "test -f done.txt"]).end().code, 137);
    until("it sleeps", || (!marked(&mark).is_empty()).then_some(()));
    let resumed = Done::of(&mut bed.ralph(&["resume", "--max-iterations", "2", "--json"]));
    resumed.ends(0, "gate_passed");
    assert_eq!(marked(&mark), Vec::<String>::new());
    assert!(bed.state_files().iter().any(|file| file.ends_with("lost")), "the loss is remembered");
}

fn stopped_supervisor(then: &str) -> (Bed, Live) {
    let bed = Bed::git(&format!("run kill -STOP {SUPERVISOR}\nwrite started yes\n{then}"));
    let live = bed.start(&["--max-iterations", "1", "--timeout", "60s", "--verify", "true"]);
    bed.awaits("started");
    (bed, live)
}

#[test]
fn a_stopped_supervisor_keeps_nobody_from_stopping_the_run() {
    let (bed, live) = stopped_supervisor("hang");
    live.signal(Signal::INT);
    let done = live.end();
    done.ends(130, "INTERRUPTED");
    assert_eq!(done.call()["ended_by"], "person");
    bed.nobody_is_left();
    let (bed, live) = stopped_supervisor("hang");
    assert_eq!(Done::of(&mut bed.ralph(&["stop"])).code, 0);
    live.end().ends(130, "INTERRUPTED");
    bed.nobody_is_left();
}

#[test]
fn a_stopped_supervisor_keeps_no_deadline_from_passing() {
    let bed = Bed::git(&format!("run kill -STOP {SUPERVISOR}\nhang"));
    let done = bed.done(&["--max-iterations", "1", "--timeout", "1s"]);
    done.ends(3, "MAX_ITERATIONS");
    assert_eq!(done.call()["ended_by"], "deadline");
    bed.nobody_is_left();
}

#[test]
fn a_supervisor_that_is_stopped_again_and_again_does_not_save_the_agent() {
    // It hangs when the supervisor is gone: an agent that had the time to answer would have ended by itself.
    let stop = format!("run s={SUPERVISOR}; while kill -STOP $s; do :; done\nhang");
    let (bed, live) = stopped_supervisor(&stop);
    live.signal(Signal::INT);
    let done = live.end();
    done.ends(130, "INTERRUPTED");
    assert_eq!(done.call()["ended_by"], "person");
    bed.nobody_is_left();
}

#[test]
fn nobody_stays_stopped_when_ralph_ends_at_once() {
    let (bed, live) = stopped_supervisor("ignore-term\nhang");
    live.signal(Signal::KILL);
    live.end();
    bed.nobody_is_left();
}
