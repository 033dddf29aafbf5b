//! An agent decides nothing about its own work, while its run goes on and as long as its session lives afterwards.

use crate::session::{LOOP, MORE, Session};

const FOR_PEOPLE: [&[&str]; 7] = [
    &["accept"],
    &["reject"],
    &["undo"],
    &["hint", "x"],
    &["stop"],
    &["hook", "cancel"],
    &["hook", "install", "claude"],
];

fn refused(session: &Session) {
    for args in FOR_PEOPLE {
        let answer = session.ralph(args);
        assert_eq!(answer.code, Some(64), "{args:?}: {answer:?}");
        let (inside, where_) = ("cannot be used inside a session", "type it in another terminal");
        assert!(answer.err.contains(inside) && answer.err.contains(where_), "{args:?}: {answer:?}");
    }
}

#[test]
fn what_only_people_may_do_is_refused_in_the_session() {
    let mut session = Session::new();
    session.prompt(&LOOP.replace("iterations 4", "iterations 1"));
    refused(&session);
    assert!(session.stop(MORE).line().contains("MAX_ITERATIONS"));
    assert_eq!(session.stop(MORE).out, "", "the session is not bound any more");
    refused(&session);
    assert_eq!(session.ralph(&["status"]).code, Some(0), "looking is allowed");
}

#[test]
fn a_session_that_was_resumed_is_known_after_its_run() {
    let mut session = Session::new();
    let (_, client) = session.prompt_in_client(&LOOP.replace("iterations 4", "iterations 1"));
    drop(client);
    assert!(session.stop(MORE).line().contains("MAX_ITERATIONS"));
    refused(&session);
}

#[test]
fn another_terminal_and_a_session_without_a_run_are_free() {
    let mut session = Session::new();
    let (_, _client) = session.prompt_in_client(&LOOP.replace("iterations 4", "iterations 1"));
    let mut other = session.input();
    other["session_id"] = "another".into();
    other["prompt"] = "Fix the tests".into();
    session.hook("prompt", &other);
    let accepted = session.ralph(&["accept"]);
    assert!(!accepted.err.contains("inside a session"), "{accepted:?}");
    session.say("In the middle of it", 1000);
    assert_eq!(session.ralph(&["hook", "cancel"]).code, Some(0));
}

#[test]
fn a_person_cancels_with_a_prompt() {
    let session = Session::new();
    session.prompt(LOOP);
    let answer = session.prompt("/ralph:cancel").refused();
    assert!(answer.contains("is stopped; the session continues without it"), "{answer}");
    assert_eq!(session.status().0, "INTERRUPTED");
}

#[test]
fn a_person_cancels_although_the_file_of_the_session_is_lost() {
    let session = Session::new();
    session.prompt(LOOP);
    let run = session.run()["id"].as_str().unwrap().to_owned();
    std::fs::remove_file(session.scratch.state().join("ralph/runs").join(&run).join("session.json")).unwrap();
    let answer = session.prompt("/ralph:cancel").refused();
    assert!(answer.contains(&format!("Run {} is stopped", &run[run.len() - 8..])), "{answer}");
    assert_eq!(session.status().0, "INTERRUPTED");
    assert_eq!(session.prompt("Fix it").out, "", "the session is not bound any more");
    assert!(session.prompt("/ralph:status").refused().contains("This session has no run"));
}

#[test]
fn the_mark_of_a_session_that_ralph_started_counts() {
    let session = Session::new();
    let marked = |args: &[&str]| {
        let output =
            session.command(args).env("RALPH_SESSION", "0198f3c2-7a1b-7c3d-8e4f-0123456789ab").output();
        String::from_utf8(output.unwrap().stderr).unwrap()
    };
    let accept = marked(&["accept"]);
    assert!(accept.contains("inside a session that works or worked on a run (here "), "{accept}");
    let run = marked(&["run", "Go", "--max-iterations", "1", "--max-cost", "1"]);
    assert!(run.contains("(RALPH_SESSION is set)"), "{run}");
}
