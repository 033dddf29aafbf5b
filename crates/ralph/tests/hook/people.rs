//! A person who interrupts, cancels, or asks from another terminal.

use crate::session::{DONE, LOOP, MORE, Session};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::process::Stdio;

#[test]
fn escape_ends_the_verification_and_the_next_stop_continues() {
    let mut session = Session::new();
    let slow = "if [ -e wait ]; then touch running; sleep 600; fi; test -e done.txt";
    let loop_ = format!("/ralph:loop Make done.txt --max-iterations 4 --max-cost 5 --verify '{slow}'");
    session.prompt(&loop_);
    session.scratch.files(&[("wait", ""), ("done.txt", "done\n")]);
    session.say(DONE, 1000);
    let path = session.scratch.root().join("input");
    std::fs::write(&path, session.stopped(DONE).to_string()).unwrap();
    let mut command = session.command(&["hook", "stop"]);
    let hook = command.stdin(File::open(&path).unwrap()).stdout(Stdio::piped()).spawn().unwrap();
    let running = session.scratch.workspace().join("running");
    while !running.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&hook), Signal::TERM).unwrap();
    let output = hook.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]));
    assert_eq!(session.status().0, "IN_SESSION");
    assert!(session.ralph(&["explain"]).out.contains("stop requested"), "the interruption is recorded");

    std::fs::remove_file(session.scratch.workspace().join("wait")).unwrap();
    let ended = session.stop("I am done already.");
    assert!(ended.line().contains("completed"), "{ended:?}");
    assert_eq!(session.run()["cost_micro"], 12_000, "both turns are charged, once each");
    let doctor = session.ralph(&["doctor", "--json"]).out;
    assert!(!doctor.contains("by the ledger") && !doctor.contains("is booked for calls"), "{doctor}");
    session.replays();
}

#[test]
fn work_after_an_interruption_is_the_agents_and_not_the_users() {
    let mut session = Session::new();
    let slow = "if [ -e wait ]; then touch running; sleep 600; fi; test -e done.txt";
    let loop_ = format!("/ralph:loop Make done.txt --max-iterations 4 --max-cost 5 --verify '{slow}'");
    session.prompt(&loop_);
    session.scratch.files(&[("wait", "")]);
    session.say(MORE, 1000);
    let path = session.scratch.root().join("input");
    std::fs::write(&path, session.stopped(MORE).to_string()).unwrap();
    let mut command = session.command(&["hook", "stop"]);
    let hook = command.stdin(File::open(&path).unwrap()).stdout(Stdio::null()).spawn().unwrap();
    while !session.scratch.workspace().join("running").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&hook), Signal::TERM).unwrap();
    hook.wait_with_output().unwrap();

    std::fs::remove_file(session.scratch.workspace().join("wait")).unwrap();
    session.scratch.files(&[("done.txt", "done\n")]);
    let ended = session.stop(DONE);
    assert!(ended.line().contains("completed (proven)"), "{ended:?}");
    assert_eq!(session.run()["cost_micro"], 12_000, "both turns are charged, once each");
    session.replays();
}

#[test]
fn cancel_ends_the_run_and_lets_the_session_be() {
    let mut session = Session::new();
    let nothing = session.ralph(&["hook", "cancel"]);
    assert_eq!(nothing.code, Some(64), "{nothing:?}");
    let (_, _client) = session.prompt_in_client(LOOP);
    session.say("In the middle of it", 1000);
    let cancelled = session.ralph(&["hook", "cancel"]);
    assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
    assert!(cancelled.err.contains("the session continues without it"), "{cancelled:?}");
    assert_eq!(session.status(), ("INTERRUPTED".into(), "INTERRUPTED".into()));
    assert_eq!(session.run()["cost_micro"], 6_000, "what the session used is charged");
    assert_eq!(session.stop("Still here").out, "");
    session.replays();
}

#[test]
fn a_hint_reaches_the_next_iteration() {
    let mut session = Session::new();
    let (_, client) = session.prompt_in_client(LOOP);
    let hint = session.ralph(&["hint", "Look at the parser"]);
    assert_eq!(hint.code, Some(0), "{hint:?}");
    drop(client);
    assert!(session.stop(MORE).context().contains("Look at the parser"));
}

#[test]
fn stop_says_how_to_end_a_run_in_a_session() {
    let session = Session::new();
    let (_, _client) = session.prompt_in_client(LOOP);
    let stopped = session.ralph(&["stop"]);
    assert_eq!(stopped.code, Some(64), "{stopped:?}");
    assert!(
        stopped.err.contains("is in a session") && stopped.err.contains("`ralph hook cancel "),
        "{stopped:?}"
    );
}
