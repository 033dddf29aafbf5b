//! A run from its first prompt to its end.

use crate::session::{DONE, LOOP, MORE, Session, message};
use serde_json::json;

#[test]
fn a_session_is_asked_again_until_its_work_is_proven() {
    let mut session = Session::new();
    let started = session.prompt(LOOP);
    assert!(started.context().contains("---RALPH_STATUS---"), "{started:?}");
    assert!(started.line().starts_with("ralph: run ") && started.line().contains("4 iterations and $5.00"));
    assert!(started.line().contains("they cannot end one in a session"), "{started:?}");

    let again = session.stop(DONE);
    let json = again.json();
    assert_eq!(json["hookSpecificOutput"]["hookEventName"], "Stop");
    assert!(json.get("decision").is_none(), "a block would reach the model twice: {json}");
    assert!(again.context().contains("`test -e done.txt` failed with exit code 1"), "{json}");
    assert!(!again.context().contains("Make done.txt"), "the session knows the task: {json}");
    assert!(again.line().starts_with("ralph: iteration 2 of 4, $0.0060 so far"), "{json}");

    session.scratch.files(&[("done.txt", "done\n")]);
    let ended = session.stop(DONE);
    assert_eq!(ended.context(), "");
    assert!(ended.line().contains("completed (proven) after 2 iterations, $0.0120"), "{ended:?}");
    assert_eq!(session.status(), ("COMPLETED".into(), "gate_passed".into()));
    assert_eq!(session.stop("Anything else?").out, "", "after its end ralph is silent");
    assert_eq!(session.run()["iterations"], 2);
    session.replays();
}

#[test]
fn the_record_of_a_call_reads_like_that_of_any_other() {
    let mut session = Session::new();
    session.prompt(LOOP);
    session.scratch.files(&[("done.txt", "done\n")]);
    let used = json!({"type": "assistant", "message": {"id": "msg_t", "model": "claude-opus-5-5", "content": [
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "touch done.txt"}}]}});
    session.write(&session.transcript(), &used);
    session.stop(DONE);
    let logs = session.ralph(&["logs"]).out;
    assert!(logs.contains("Bash touch done.txt") && logs.contains("All done."), "{logs}");
    assert!(logs.contains("in a session of Claude Code"), "{logs}");
    let explained = session.ralph(&["explain"]).out;
    assert!(explained.contains("the session has stopped: its message answers call 001.a1"), "{explained}");
    let receipt = session.ralph(&["status"]).out;
    assert!(
        receipt.contains("the agent's session in Claude Code was alive while ralph verified"),
        "{receipt}"
    );
}

#[test]
fn codex_and_qwen_are_answered_with_a_block() {
    for (client, mark) in [("codex", "turn_id"), ("qwen", "transcript_path")] {
        let session = Session::new();
        let with_mark = |mut input: serde_json::Value| {
            input[mark] = if client == "codex" { "turn-1".into() } else { "/home/u/.qwen/x.jsonl".into() };
            input
        };
        let mut typed = with_mark(session.input());
        typed["prompt"] = LOOP.replace('/', "$").into();
        assert!(session.hook("prompt", &typed).context().contains("RALPH_STATUS"), "{client}");
        assert_eq!(session.run()["agent"], client);
        let answer = session.hook("stop", &with_mark(session.stopped(MORE))).json();
        assert_eq!(answer["decision"], "block", "{client}");
        assert!(answer["reason"].as_str().unwrap().contains("Iteration 2"), "{answer}");
        assert!(answer.get("hookSpecificOutput").is_none(), "{answer}");
        assert!(answer["systemMessage"].as_str().unwrap().contains("iteration 2 of 4"), "{answer}");
    }
}

#[test]
fn another_session_in_the_same_workspace_is_left_alone() {
    let mut session = Session::new();
    session.prompt(LOOP);
    let mut forked = session.stopped(DONE);
    forked["session_id"] = "a-fork-of-it".into();
    assert_eq!(session.hook("stop", &forked).json(), serde_json::Value::Null);
    let typed = |text: &str| {
        let mut input = session.input();
        input["session_id"] = "another".into();
        input["prompt"] = text.into();
        input
    };
    assert_eq!(session.hook("prompt", &typed("Fix the tests")).out, "");
    let refused = session.hook("prompt", &typed(LOOP)).refused();
    assert!(refused.contains("a session of Claude Code (process "), "{refused}");
    session.scratch.files(&[("done.txt", "done\n")]);
    assert!(session.stop(DONE).line().contains("completed"), "the run was not touched");
}

#[test]
fn a_subagent_is_waited_for_and_a_shell_is_named() {
    let mut session = Session::new();
    session.prompt(LOOP);
    let mut input = session.stopped("Waiting for the subagent.");
    input["background_tasks"] = json!([{"id": "a1", "type": "subagent", "status": "running"}]);
    assert_eq!(session.hook("stop", &input).out, "");
    assert_eq!(session.run()["iterations"], 0, "nothing was judged");

    session.say(MORE, 1000);
    let mut input = session.stopped(MORE);
    input["background_tasks"] = json!([
        {"id": "b1", "type": "shell", "status": "running", "command": "npm run dev"},
        {"id": "b2", "type": "subagent", "status": "completed"}]);
    let answer = session.hook("stop", &input);
    assert!(answer.context().contains("`npm run dev`") && answer.line().contains("`npm run dev`"));
    assert_eq!(session.run()["iterations"], 1);
}

#[test]
fn a_long_verification_is_cut_to_whole_lines() {
    let mut session = Session::new();
    let loop_ = "/ralph:loop Go --max-iterations 4 --max-cost 5 --verify \
        'for i in $(seq 3000); do echo \"line $i of the output of the verification\"; done; exit 1'";
    session.prompt(loop_);
    let context = session.stop(MORE).context();
    assert!(context.len() <= 9_000, "{} bytes", context.len());
    assert!(context.contains("of the output of the verification"), "{context}");
}

#[test]
fn a_message_from_before_the_run_is_not_charged() {
    let mut session = Session::new();
    session.say("Before.", 1_000_000);
    let early = message("early", "claude-opus-5-5", "Before, too.", 1_000_000);
    session.write(&session.transcript().with_extension("").join("subagents/agent-1.jsonl"), &early);
    session.prompt(LOOP);
    session.stop(MORE);
    assert_eq!(session.run()["cost_micro"], 6_000);
}
