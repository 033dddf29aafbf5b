//! `ralph run --mode hook` with a scripted client, which calls the hooks as Claude Code does.

use crate::session::{Answer, DONE, Session, make_executable};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Passes while the client lives.
fn alive(session: &Session) -> PathBuf {
    session.scratch.root().join("alive")
}

/// A client that does the work, stops once, and ends.
fn client(session: &Session) {
    let root = session.scratch.root();
    let input = |event: &str, name: &str, value: &str| {
        let mut input = json!({"session_id": "SESSION", "transcript_path": root.join("t.jsonl"), "cwd": session.scratch.workspace()});
        input[name] = value.into();
        std::fs::write(root.join(event), input.to_string()).unwrap();
    };
    input("prompt", "prompt", "Make done.txt");
    input("stop", "last_assistant_message", DONE);
    let (root, alive) = (root.display(), alive(session).display().to_string());
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '2.1.325 (Claude Code)'; exit; fi\ncat >/dev/null\n\
         for word; do [ \"$last\" = --session-id ] && id=$word; last=$word; done\n\
         hook() {{ sed \"s/SESSION/$id/\" '{root}'/$1 | \"$RALPH_BIN\" hook $1; }}\n\
         touch '{alive}'\nhook prompt\necho done >done.txt\nhook stop\nrm '{alive}'\n"
    );
    let program = session.scratch.root().join("bin/claude");
    std::fs::write(&program, script).unwrap();
    make_executable(&program);
}

fn run(session: &Session, verify: &str, more: &[&str]) -> Answer {
    client(session);
    let start = ["run", "Make done.txt", "--mode", "hook", "--agent", "claude", "--max-iterations", "4"];
    session.ralph(&[&start[..], &["--max-cost", "5", "--verify", verify], more].concat())
}

fn result(answer: &Answer) -> Value {
    assert_eq!(answer.out.lines().count(), 1, "{answer:?}");
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn work_that_still_passes_without_the_session_is_completed() {
    let session = Session::new();
    let answer = run(&session, "test -e done.txt", &["--json"]);
    let result = result(&answer);
    assert_eq!(
        (answer.code, &result["status"], &result["proof"]),
        (Some(0), &json!("COMPLETED"), &json!("proven"))
    );
    assert!(answer.err.contains("limits act between iterations, they cannot end one"), "{answer:?}");
    assert!(answer.err.contains("Verified again with no process of the session left: passed"), "{answer:?}");
}

#[test]
fn work_that_passes_only_while_the_session_lives_is_not() {
    let session = Session::new();
    let verify = format!("test -e done.txt && test -e '{}'", alive(&session).display());
    let answer = run(&session, &verify, &["--json"]);
    let result = result(&answer);
    assert_eq!((answer.code, &result["exitCode"]), (Some(2), &json!(2)), "{answer:?}");
    assert_eq!(
        (&result["status"], &result["reason"]),
        (&json!("ABORTED"), &json!("VERIFY_FAILED_AFTER_SESSION"))
    );
    assert_eq!((&result["verificationPassed"], &result["proof"]), (&json!(false), &Value::Null), "{result}");
    let why = result["details"]["why"].as_str().unwrap();
    assert!(why.contains("The journal still says COMPLETED"), "{why}");

    let session = Session::new();
    let verify = format!("test -e done.txt && test -e '{}'", alive(&session).display());
    let answer = run(&session, &verify, &[]);
    assert!(answer.out.starts_with("STOPPED: VERIFY_FAILED_AFTER_SESSION\n"), "{answer:?}");
    assert!(!answer.out.contains("proven"), "{answer:?}");
}

#[test]
fn a_session_that_calls_no_hook_is_one_result_line() {
    let session = Session::new();
    client(&session);
    let program = session.scratch.root().join("bin/claude");
    std::fs::write(&program, "#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)'\n").unwrap();
    let start = ["run", "Make done.txt", "--mode", "hook", "--agent", "claude", "--max-iterations", "4"];
    let answer = session.ralph(&[&start[..], &["--max-cost", "5", "--verify", "false", "--json"]].concat());
    let result = result(&answer);
    assert_eq!(
        (answer.code, &result["exitCode"], &result["status"]),
        (Some(69), &json!(69), &json!("INTERRUPTED"))
    );
    assert!(result["error"].as_str().unwrap().contains("never called the hooks"), "{result}");
}

#[test]
fn flags_without_a_meaning_in_a_session_are_refused() {
    let session = Session::new();
    for flag in ["--fallback", "--fresh", "--verbose"] {
        let answer = run(&session, "true", &[flag]);
        assert_eq!(answer.code, Some(64), "{flag}: {answer:?}");
        assert!(answer.err.contains(&format!("{flag} does not apply to a session")), "{answer:?}");
    }
    assert_eq!(session.ralph(&["list"]).out, "", "nothing was begun");
}
