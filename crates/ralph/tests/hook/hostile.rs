//! Input that no client writes, and failures of ralph's own.

use crate::session::{DONE, LOOP, MORE, Session};
use serde_json::{Value, json};
use std::fs;

#[test]
fn whatever_comes_on_stdin_the_hook_ends_quietly() {
    let session = Session::new();
    let deep = "[".repeat(100_000);
    let long = format!("{{\"session_id\":\"{}\"}}", "x".repeat(1 << 20));
    let inputs: [&[u8]; 12] = [
        b"",
        b"\n",
        b"not json",
        b"null",
        b"[]",
        b"{}",
        b"{\"session_id\":7}",
        b"{\"session_id\":\"\"}",
        b"{\"session_id\":\"../../../etc/passwd\",\"prompt\":\"/ralph:loop",
        b"\xff\xfe\x00",
        deep.as_bytes(),
        long.as_bytes(),
    ];
    for input in inputs {
        for event in ["stop", "prompt"] {
            let answer = session.hook_with(event, input);
            assert_eq!((answer.code, answer.out.as_str(), answer.err.as_str()), (Some(0), "", ""), "{event}");
        }
    }
    assert!(!session.scratch.state().join("ralph").exists(), "nothing is made for a session without a run");
}

#[test]
fn forged_fields_of_a_bound_session_do_no_harm() {
    let session = Session::new();
    session.prompt(LOOP);
    for (name, value) in [
        ("transcript_path", json!("/dev/zero")),
        ("transcript_path", json!(["x"])),
        ("transcript_path", json!("/")),
        ("cwd", json!("/nonexistent")),
        ("background_tasks", json!({"a": 1})),
        ("background_tasks", json!([1, null, {"status": "running", "type": 5}])),
        ("turn_id", json!({})),
    ] {
        let mut input = session.stopped("going on");
        input[name] = value.clone();
        let answer = session.hook("stop", &input).json();
        assert!(answer["systemMessage"].is_string(), "{name} = {value}: {answer}");
        session.scratch.files(&[("progress", &format!("{name} {value}"))]);
        if answer.get("hookSpecificOutput").is_none() {
            break;
        }
    }
    session.replays();
}

#[test]
fn without_the_last_message_the_version_is_named_and_the_session_ends() {
    let session = Session::new();
    session.prompt(LOOP);
    let mut odd = session.input();
    odd["last_assistant_message"] = json!(5);
    for input in [session.input(), odd] {
        let answer = session.hook("stop", &input);
        assert!(answer.line().contains("update to Claude Code 2."), "{answer:?}");
        assert_eq!(answer.context(), "");
    }
    assert_eq!(session.run()["iterations"], 0);
}

#[test]
fn a_failure_of_ralph_is_one_line_and_the_run_can_be_continued() {
    let mut session = Session::new();
    session.prompt(LOOP);
    session.scratch.files(&[("ralph.toml", "this is not toml")]);
    let answer = session.stop(MORE);
    let json = answer.json();
    assert_eq!(json.as_object().unwrap().len(), 1, "{json}");
    assert!(answer.line().contains("`ralph resume ") && !answer.line().contains('\n'), "{json}");
    fs::remove_file(session.scratch.workspace().join("ralph.toml")).unwrap();
    session.scratch.files(&[("done.txt", "done\n")]);
    assert!(session.stop(DONE).line().contains("completed"));
}

#[test]
fn a_binding_without_its_run_is_forgotten() {
    let mut session = Session::new();
    session.prompt(LOOP);
    let sessions = session.scratch.state().join("ralph/sessions");
    let index = fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
    fs::write(&index, "no-such-run").unwrap();
    let gone = session.stop(MORE);
    assert!(gone.line().contains("is not in ralph's database any more"), "{gone:?}");
    assert_eq!(gone.context(), "", "the session may end");
    assert_eq!(session.stop(MORE).json(), Value::Null);
    assert!(!index.exists());
}

#[test]
fn a_deleted_database_is_said_and_releases_the_session() {
    let mut session = Session::new();
    session.prompt(LOOP);
    let state = session.scratch.state().join("ralph");
    for file in fs::read_dir(&state).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::remove_file(file.path()).unwrap();
    }
    let missing = session.stop(MORE);
    assert!(missing.line().contains("ralph doctor --restore"), "it can come back: {missing:?}");
    fs::remove_dir_all(state.join("runs")).unwrap();
    let gone = session.stop(MORE);
    assert!(gone.line().contains("is not in ralph's database any more"), "{gone:?}");
    assert_eq!(gone.context(), "", "the session may end");
    assert_eq!(session.stop(MORE).out, "");
}
