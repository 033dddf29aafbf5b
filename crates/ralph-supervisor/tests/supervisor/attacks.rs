//! The program attacks its supervisor: it kills it, stops it, empties its environment and leaves its session. Nobody
//! survives, and nobody else is harmed.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ralph_supervisor::{How, Launch, lost_supervisor};
use ralph_testkit::skip;

use crate::common::{NO_ORPHANS, alive, eventually, mark, marked, run, run_and, shell, tag, tagged};

/// Starts a process that nobody can recognise: no environment, a session of its own, no parent.
fn unmarked(mark: &str) -> String {
    format!("env -i setsid sh -c '(setsid sleep {mark} >/dev/null 2>&1 &)'")
}

/// Kills its supervisor once such a process runs.
fn killer(mark: &str) -> String {
    let hide = unmarked(mark);
    format!("{hide}; until pgrep -f 'sleep {mark}' >/dev/null; do sleep 0.01; done; kill -9 $PPID; sleep 300")
}

#[test]
fn a_killed_supervisor_leaves_nobody() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let (tag, mark) = (tag(), mark());
    let (exit, _) = run(tagged(shell(&killer(&mark)), &tag));
    assert_eq!((exit.how, exit.supervisor_lost, exit.left), (How::SupervisorLost, true, 0));
    assert_eq!((marked(&mark), alive(&tag).len()), (Vec::new(), 0), "dead when the pump returns");
}

#[test]
fn programs_of_our_own_and_other_supervisors_are_spared() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let mut own = Command::new("sh").args(["-c", "read go; exit 7"]).stdin(Stdio::piped()).spawn().unwrap();
    let (other, _) = run_and(shell("echo on; sleep 300"), |process| {
        let (exit, _) = run(shell(&killer(&mark())));
        assert!(exit.supervisor_lost);
        process.kill();
    });
    assert_eq!((other.how, other.supervisor_lost), (How::Told, false));
    own.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(own.wait().unwrap().code(), Some(7), "nobody else waited for it");
}

#[test]
fn a_supervisor_that_its_program_stopped_obeys_an_order() {
    let tag = tag();
    let (exit, _) = run_and(tagged(shell("kill -STOP $PPID; echo on; sleep 300"), &tag), |process| {
        process.end(Duration::from_millis(100));
    });
    assert_eq!((exit.how, exit.supervisor_lost), (How::Told, false));
    assert_eq!(alive(&tag).len(), 0);
}

#[test]
fn a_supervisor_that_its_program_stopped_reports_its_end() {
    let since = Instant::now();
    let (exit, _) = run(shell("kill -STOP $PPID; exit 3"));
    assert_eq!((exit.code, exit.how, exit.supervisor_lost), (Some(3), How::Ended, false));
    assert!(since.elapsed() < Duration::from_secs(30), "nobody had to order anything");
}

#[test]
fn a_supervisor_that_is_stopped_again_and_again_is_replaced() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let (tag, mark) = (tag(), mark());
    let script = format!("{}; echo on; trap '' TERM; while :; do kill -STOP $PPID; done", unmarked(&mark));
    let (exit, _) = run_and(tagged(shell(&script), &tag), |process| process.end(Duration::from_secs(300)));
    assert_eq!(exit.how, How::Told, "the order is why it ended");
    assert!(exit.supervisor_lost);
    assert_eq!((marked(&mark), alive(&tag).len()), (Vec::new(), 0));
}

#[test]
fn a_supervisor_that_does_not_answer_is_replaced() {
    // It hears nothing: a program of the test's own in its place.
    let words = "echo started 1 >&0; echo on; exec sleep 300";
    let args = vec!["-c".into(), words.into()];
    let launch = Launch { supervisor_args: args, ..Launch::new("/bin/sh", "true", "/") };
    let tag = tag();
    let (exit, _) = run_and(tagged(launch, &tag), ralph_supervisor::ProcessHandle::kill);
    assert_eq!((exit.how, exit.supervisor_lost), (How::Told, true));
    assert_eq!(alive(&tag).len(), 0);
}

#[test]
fn a_stopped_program_is_told_to_end_before_it_is_killed() {
    let script = "trap 'echo bye; exit 3' TERM; echo on; kill -STOP $$; sleep 300 & wait";
    let (exit, kept) = run_and(shell(script), |process| {
        eventually("it stands still", || {
            let pid = process.pid().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
            pid.and_then(ralph_os::read_process).is_some_and(|program| program.stopped)
        });
        process.end(Duration::from_secs(60));
    });
    assert_eq!((exit.code, kept.text().as_str()), (Some(3), "on\nbye\n"));
}

#[test]
fn a_note_tells_a_killed_supervisor_from_one_that_did_its_work() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let dir = tempfile::tempdir().unwrap();
    let note = dir.path().join("supervisor");
    let with_note = |script: &str| Launch { record: Some(note.clone()), ..shell(script) };
    run(with_note("sleep 300 & exit 0"));
    assert_eq!(lost_supervisor(&note), None);
    run(Launch { program: "/nothing".into(), ..with_note("") });
    assert_eq!(lost_supervisor(&note), None, "nothing ran");
    run(with_note("kill -9 $PPID; sleep 300"));
    assert!(lost_supervisor(&note).is_some());
}
