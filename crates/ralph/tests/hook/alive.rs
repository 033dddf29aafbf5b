//! Who may work in the workspace of a session, and what happens when the session is gone.

use crate::session::{LOOP, MORE, Session};
use std::fs;

const AGAIN: [&str; 7] = ["run", "Another task", "--max-iterations", "1", "--max-cost", "1", "--quiet"];

#[test]
fn while_the_session_lives_the_run_is_its_own() {
    let mut session = Session::new();
    session.prompt(LOOP);
    for _ in 0..2 {
        assert_eq!(session.status().0, "IN_SESSION");
        assert_eq!(session.run()["pid"], std::process::id());
        let status = session.ralph(&["status"]).out;
        assert!(status.contains("IN_SESSION (in a session of Claude Code, process "), "{status}");
        for args in [&AGAIN[..], &["resume"]] {
            let refused = session.ralph(args);
            assert_eq!(refused.code, Some(73), "{refused:?}");
            assert!(refused.err.contains("a session of Claude Code (process "), "{refused:?}");
        }
        session.stop(MORE);
    }
    assert_eq!(session.run()["iterations"], 2);
}

#[test]
fn when_the_session_is_gone_resume_continues_as_a_loop() {
    let mut session = Session::new();
    let input = session.scratch.root().join("input.json");
    let mut typed = session.input();
    typed["prompt"] = LOOP.into();
    fs::write(&input, typed.to_string()).unwrap();
    // The client is a process of its own, which ends.
    let script = format!("'{}' hook prompt < '{}'", env!("CARGO_BIN_EXE_ralph"), input.display());
    let path = session.path();
    let mut client = session.scratch.command("find");
    client.args([".", "-maxdepth", "0", "-exec", "sh", "-c", &script, ";"]).env("PATH", path);
    let said = String::from_utf8(client.output().unwrap().stdout).unwrap();
    assert!(said.contains("RALPH_STATUS"), "{said}");
    assert_eq!(session.status().0, "CRASHED");
    session.say("Half done", 1000);

    let resumed = session.ralph(&["resume"]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(session.status(), ("COMPLETED".into(), "gate_passed".into()));
    let explained = session.ralph(&["explain"]).out;
    assert!(explained.contains("the session is gone: ralph calls the agent itself"), "{explained}");
    assert!(explained.contains("the session ended during call 001.a1"), "{explained}");
    assert_eq!(session.stop("Hello again").out, "", "the session is not bound any more");
    session.replays();
}

#[test]
fn a_resumed_session_keeps_its_run_in_another_process() {
    let session = Session::new();
    session.prompt(LOOP);
    let run = session.run()["id"].as_str().unwrap().to_owned();
    let file = session.scratch.state().join("ralph/runs").join(run).join("session.json");
    let text = fs::read_to_string(&file).unwrap();
    let pid = format!("\"pid\":{}", std::process::id());
    assert!(text.contains(&pid), "{text}");
    fs::write(&file, text.replace(&pid, "\"pid\":1")).unwrap();
    assert_eq!(session.status().0, "CRASHED");
    let mut session = session;
    session.stop(MORE);
    assert_eq!(session.status().0, "IN_SESSION");
}

#[test]
fn a_single_iteration_does_not_start_beside_a_session_either() {
    let session = Session::new();
    let (_, client) = session.prompt_in_client(LOOP);
    let database = session.scratch.state().join("ralph/ralph.db");
    fs::write(&database, "not a database at all".repeat(500)).unwrap();
    let fallback = || session.ralph(&[&AGAIN[..], &["--fallback"]].concat());
    let refused = fallback();
    assert_eq!(refused.code, Some(73), "{refused:?}");
    assert!(refused.err.contains("a session of Claude Code (process "), "{refused:?}");
    drop(client);
    let once = fallback();
    assert!(!once.err.contains("a session of Claude Code"), "{once:?}");
    assert_ne!(once.code, Some(73), "{once:?}");
}

#[test]
fn nobody_takes_files_back_under_a_living_session() {
    let session = Session::new();
    let (started, _client) = session.prompt_in_client(LOOP);
    assert!(started.line().contains("begins"), "{started:?}");
    for args in [&["undo", "--yes"][..], &["reject", "--yes"]] {
        let refused = session.ralph(args);
        assert_eq!(refused.code, Some(73), "{args:?}: {refused:?}");
        assert!(refused.err.contains("works on run"), "{refused:?}");
    }
}
