//! A contained program: what its box reports counts, orders reach the program and not the box, and nobody is left.
//! The box is the test program's own, with the processes and reports of a real one.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use ralph_supervisor::{How, Launch, NotStarted, SandboxLaunch};

use crate::common::{alive, eventually, program, run, run_and, shell, tag, tagged};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(200);

/// Runs it in a box with this plan. The directory holds the plan.
fn contained(mut launch: Launch, plan: &str) -> (tempfile::TempDir, Launch) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plan.json");
    std::fs::write(&path, plan).unwrap();
    launch.sandbox = Some(SandboxLaunch { plan: path, gate: None });
    (dir, launch)
}

/// Processes with the tag, without the supervisor.
fn programs(tag: &str, supervisor: u32) -> Vec<(u32, char)> {
    alive(tag).into_iter().filter(|(pid, _)| *pid != supervisor).collect()
}

#[test]
fn the_box_tells_how_the_program_ended() {
    for (script, code, signal) in
        [("pwd; exit 3", Some(3), None), ("pwd; kill -6 $$", None, Some(6)), ("pwd", Some(0), None)]
    {
        let mut launch = shell(script);
        launch.cwd = "/usr".into();
        let (_dir, launch) = contained(launch, "run");
        let (exit, kept) = run(launch);
        assert_eq!((exit.code, exit.signal, exit.how), (code, signal, How::Ended), "{exit:?}");
        assert_eq!((kept.text().as_str(), exit.outlived), ("/usr\n", 0));
        assert_eq!(exit.notes, ["no layer over /a b"]);
    }
}

#[test]
fn what_outlives_the_program_is_counted_by_the_box() {
    let tag = tag();
    let script = "setsid sleep 300 >/dev/null 2>&1 & sleep 300 >/dev/null 2>&1 & exit 0";
    let (_dir, launch) = contained(tagged(shell(script), &tag), "run");
    let (exit, _) = run(launch);
    assert_eq!((exit.code, exit.outlived, exit.left), (Some(0), 2, 0), "{exit:?}");
    assert_eq!(alive(&tag).len(), 0);
}

#[test]
fn stdin_and_both_streams_reach_the_program() {
    let mut launch = shell("cat; echo problem >&2");
    launch.stdin = ralph_supervisor::Input::Bytes(b"given".to_vec());
    let (_dir, launch) = contained(launch, "run");
    let (exit, kept) = run(launch);
    assert_eq!(
        (exit.code, kept.text().as_str(), kept.stderr.as_slice()),
        (Some(0), "given", b"problem\n".as_slice())
    );
}

#[test]
fn a_sandbox_that_cannot_be_built_is_told_with_what_to_do() {
    let (_dir, launch) = contained(shell("echo never"), "failed sandbox 1 mount /home/me read-only");
    let (exit, kept) = run(launch);
    let why = exit.not_started.expect("it was not started");
    assert_eq!(why, NotStarted::Sandbox { errno: 1, text: "mount /home/me read-only".into() });
    let told = why.to_string();
    assert!(told.contains("mount /home/me read-only: Operation not permitted"), "{told}");
    assert!(told.contains("ralph doctor") && told.contains("--sandbox off"), "{told}");
    assert_eq!((exit.how, why.code(), kept.text().as_str()), (How::NotStarted, 126, ""));
}

#[test]
fn a_program_or_directory_that_is_missing_inside_is_told_as_outside() {
    let (_dir, launch) = contained(program("no-such-program", &[]), "run");
    let not_started = run(launch).0.not_started;
    assert!(matches!(not_started, Some(NotStarted::Program { errno: 2, .. })), "{not_started:?}");
    let (_dir, launch) = contained(shell("echo never"), "failed cwd 2");
    let not_started = run(launch).0.not_started;
    assert!(matches!(not_started, Some(NotStarted::Cwd { errno: 2, .. })), "{not_started:?}");
}

#[test]
fn a_box_that_says_nothing_has_not_started_the_program() {
    let (_dir, launch) = contained(shell("echo never"), "silent");
    let (exit, _) = run(launch);
    assert!(matches!(exit.not_started, Some(NotStarted::Sandbox { errno: 0, .. })), "{exit:?}");
    let (_dir, mut launch) = contained(shell("echo never"), "run");
    launch.sandbox = Some(SandboxLaunch { plan: "/no/such/plan".into(), gate: None });
    let (exit, _) = run(launch);
    assert!(matches!(exit.not_started, Some(NotStarted::Sandbox { .. })), "{exit:?}");
}

#[test]
fn a_box_that_is_killed_is_no_success_and_leaves_nobody() {
    let tag = tag();
    let (_dir, launch) = contained(tagged(shell("echo on; sleep 300 & sleep 300"), &tag), "run");
    let (exit, _) = run_and(launch, |process| {
        eventually("the box has told that it runs", || process.pid().is_some());
        let outer = process.pid().unwrap().cast_signed();
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(outer).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
    });
    assert_eq!((exit.code, exit.signal, exit.how), (None, None, How::SandboxLost), "{exit:?}");
    assert!(!exit.supervisor_lost);
    assert_eq!(alive(&tag).len(), 0);
}

#[test]
fn an_end_reaches_everyone_but_the_box() {
    let tag = tag();
    let tool = "trap \"echo tool; exit\" TERM; echo on; while :; do sleep 0.05; done";
    let script = format!("trap 'wait; exit 9' TERM; setsid sh -c '{tool}' & while :; do sleep 0.05; done");
    let (_dir, launch) = contained(tagged(shell(&script), &tag), "run");
    let (exit, kept) = run_and(launch, |process| process.end(LONG));
    assert_eq!((exit.code, exit.how), (Some(9), How::Told), "{exit:?} {}", kept.text());
    assert!(kept.text().contains("tool"), "{}", kept.text());
    assert_eq!(alive(&tag).len(), 0);
}

#[test]
fn what_ignores_term_is_killed_with_its_box() {
    let tag = tag();
    let script = "trap '' TERM; (trap '' TERM; sleep 300; :) & echo on; while :; do sleep 0.05; done";
    let (_dir, launch) = contained(tagged(shell(script), &tag), "run");
    let (exit, _) = run_and(launch, |process| process.end(SHORT));
    assert_eq!((exit.code, exit.signal, exit.how), (None, Some(9), How::Told), "{exit:?}");
    assert_eq!(alive(&tag).len(), 0);
}

#[test]
fn a_box_is_asked_to_end_a_program_that_would_outlive_it() {
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("ended");
    let (_dir, launch) = contained(shell("true"), &format!("apart {}", file.display()));
    let (exit, _) = run_and(launch, |process| {
        eventually("the box has told that it runs", || process.pid().is_some());
        process.kill();
    });
    assert_eq!((exit.signal, exit.how, exit.outlived), (Some(9), How::Told, 0), "{exit:?}");
    assert!(file.exists());
}

#[test]
fn a_kill_ends_the_box_and_the_program_is_not_counted() {
    let tag = tag();
    let (_dir, launch) = contained(tagged(shell("echo on; exec sleep 300"), &tag), "run");
    let (exit, _) = run_and(launch, |process| process.kill());
    assert_eq!((exit.signal, exit.how, exit.outlived), (Some(9), How::Told, 0), "{exit:?}");
    assert_eq!(alive(&tag).len(), 0);
}

#[test]
fn a_stop_freezes_the_program_but_not_the_box() {
    let tag = tag();
    let script = "echo on; while [ ! -e \"$1/go\" ]; do :; done; exit 8";
    let dir = tempfile::tempdir().unwrap();
    let mut launch = tagged(shell(script), &tag);
    launch.args.extend(["sh".into(), dir.path().into()]);
    let (_plan, launch) = contained(launch, "run");
    let (exit, _) = run_and(launch, |process| {
        let states = || {
            let mut found = programs(&tag, process.supervisor_pid());
            found.sort_unstable();
            found.into_iter().map(|(_, state)| state).collect::<Vec<_>>()
        };
        process.stop();
        eventually("the program is frozen, the box is not", || {
            let states = states();
            states.len() == 3 && states.iter().filter(|state| **state == 'T').count() == 1
        });
        std::fs::write(dir.path().join("go"), "").unwrap();
        process.cont();
    });
    assert_eq!((exit.code, exit.how), (Some(8), How::Ended), "{exit:?}");
}

#[test]
fn the_box_gets_the_end_of_the_gate() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let (_dir, mut launch) = contained(shell("exit 0"), "run");
    launch.sandbox.as_mut().unwrap().gate = Some(Arc::new(OwnedFd::from(theirs)));
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        // The end is seen: neither ralph nor the supervisor keeps the box's end.
        ours.read_to_string(&mut text).unwrap();
        text
    });
    let (exit, _) = run(launch);
    assert_eq!(exit.code, Some(0), "{exit:?}");
    assert_eq!(reader.join().unwrap(), "listeners\n");
}
