//! `ralph analyze`: one response in, one analysis out.

use super::scene::Scene;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

const BLOCK: &str = "All done.\n---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 2\n\
    TESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: true\nRECOMMENDATION: Ship it\n---END_RALPH_STATUS---\n";

fn analyze(scene: &Scene, input: &str) -> Value {
    let mut child =
        scene.command(&["analyze", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_status_block_is_read_field_by_field() {
    let scene = Scene::new();
    let seen = analyze(&scene, BLOCK);
    let block = json!({
        "found": true, "status": "COMPLETE", "tasks_completed": 1, "files_modified": 2, "tests_status": "PASSING",
        "work_type": "IMPLEMENTATION", "exit_signal": true, "recommendation": "Ship it",
    });
    assert_eq!(
        (&seen["ralph_status"], &seen["format"], &seen["failure"]),
        (&block, &json!("text"), &Value::Null)
    );
    assert_eq!((&seen["work_type"], &seen["exit_signal"]), (&json!("IMPLEMENTATION"), &json!(true)));
    assert!(seen["completion_indicators"].as_u64().unwrap() >= 2);
    assert_eq!(seen["text_bytes"], BLOCK.trim_end().len());
}

#[test]
fn without_a_block_every_field_is_there_and_null() {
    let scene = Scene::new();
    let seen = analyze(&scene, "Working on it.\n");
    let block = seen["ralph_status"].as_object().unwrap();
    assert_eq!(block.len(), 8);
    assert!(block.iter().all(|(key, value)| if key == "found" { value == false } else { value.is_null() }));
    for key in [
        "timestamp",
        "promise",
        "errors",
        "asking_questions",
        "permission_denials",
        "session_id",
        "usage",
        "cost_usd",
        "warnings",
    ] {
        assert!(seen.get(key).is_some(), "{key}");
    }
}

#[test]
fn an_envelope_is_opened_and_a_failure_is_classed() {
    let scene = Scene::new();
    let good = r#"{"type":"result","result":"hi","session_id":"s-1","total_cost_usd":0.25,"usage":{"input_tokens":5}}"#;
    let seen = analyze(&scene, good);
    assert_eq!(
        (&seen["text"], &seen["session_id"], &seen["cost_usd"]),
        (&json!("hi"), &json!("s-1"), &json!(0.25))
    );
    let failed = r#"{"type":"result","is_error":true,"result":"API Error: 401 invalid key"}"#;
    let seen = analyze(&scene, failed);
    assert_eq!(seen["failure"]["class"], "auth");
    assert_eq!(seen["errors"].as_array().unwrap().len(), 1);
    assert_eq!(analyze(&scene, "")["failure"]["class"], "aborted");
}

#[test]
fn input_that_cannot_be_read_is_65() {
    let mut scene = Scene::new();
    scene.scratch.files(&[("answer.txt", BLOCK)]);
    assert_eq!(scene.ralph(&["analyze", "answer.txt"]).code, 0);
    assert_eq!(scene.show(&["analyze", "missing.txt"]).code, 65);
    assert_eq!(scene.show(&["analyze", "."]).code, 65);
    assert_eq!(scene.show(&["analyze", "answer.txt", "--agent", "smi"]).code, 64);
    scene.compare("analyze_mistakes");
}
