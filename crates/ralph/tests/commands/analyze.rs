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
    assert_eq!((&seen["work_type"], &seen["confidence"]), (&json!("IMPLEMENTATION"), &json!(100)));
    assert_eq!(
        (&seen["exit_decision"], &seen["circuit_breaker_state"]),
        (&json!("project_complete"), &json!("CLOSED"))
    );
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
    let keys: Vec<&str> = seen.as_object().unwrap().keys().map(String::as_str).collect();
    let mut contract = [
        "timestamp",
        "iteration",
        "ralph_status",
        "completion_indicators",
        "exit_decision",
        "exit_reason",
        "stuck_loop_detected",
        "circuit_breaker_state",
        "format",
        "evidence",
        "lints",
        "promise",
        "errors",
        "work_type",
        "is_test_only",
        "asking_questions",
        "permission_denials",
        "confidence",
        "session_id",
        "usage",
        "cost_usd",
        "warnings",
        "failure",
        "text",
        "text_bytes",
    ];
    contract.sort_unstable();
    assert_eq!(keys, contract, "exactly the contract's fields");
    assert_eq!((&seen["iteration"], &seen["exit_decision"]), (&json!(1), &json!("continue")));
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

/// The reply of the response analyzer's specification, and what other tools make of it.
#[test]
fn a_json_reply_fills_the_status() {
    let scene = Scene::new();
    let reply = json!({
        "result": "All tests pass.\nThe implementation is complete.", "exit_signal": true, "status": "COMPLETE",
        "work_type": "TESTING", "sessionId": "s-1", "metadata": {"files_changed": 3},
    });
    let seen = analyze(&scene, &reply.to_string());
    let status = json!({
        "found": true, "status": "COMPLETE", "tasks_completed": null, "files_modified": 3, "tests_status": null,
        "work_type": "TESTING", "exit_signal": true, "recommendation": null,
    });
    assert_eq!(
        (&seen["ralph_status"], &seen["text"], &seen["session_id"]),
        (&status, &reply["result"], &json!("s-1"))
    );
    assert_eq!((&seen["exit_decision"], &seen["lints"]), (&json!("project_complete"), &json!([])));
    assert_eq!((&seen["work_type"], &seen["warnings"]), (&json!("TESTING"), &json!([])));

    let broken =
        "{\"result\": \"Mended.\\nAll \\\"tests\\\" pass.\", status: \"COMPLETE\", \"exit_signal\": true";
    let seen = analyze(&scene, broken);
    assert_eq!((&seen["text"], &seen["format"]), (&json!("Mended.\nAll \"tests\" pass."), &json!("json")));
    assert_eq!(
        (&seen["ralph_status"]["status"], &seen["ralph_status"]["exit_signal"]),
        (&json!("COMPLETE"), &json!(true))
    );
    let lint =
        json!({"code": "malformed_json", "line": 0, "detail": "line 1, column 44: a key without quotes"});
    assert_eq!(seen["lints"], json!([lint]));

    scene.scratch.files(&[("broken.json", broken)]);
    assert_eq!(scene.ralph(&["block", "check", "broken.json"]).code, 65);
}

#[test]
fn earlier_responses_show_what_goes_round_in_circles() {
    let scene = Scene::new();
    let error = |line: u32| format!("It fails:\n\nsrc/a.c:{line}:1: error: expected a thing\n");
    let long = "I changed another line of the parser.\n".repeat(20);
    scene.scratch.files(&[
        ("1.txt", &error(1)),
        ("2.txt", &error(20)),
        ("3.txt", &error(300)),
        ("long.txt", &long),
        ("short.txt", "Hm."),
        ("phrases.txt", "All tests pass. The project is complete."),
    ]);
    let analyze = |args: &[&str]| -> Value {
        let mut typed = vec!["analyze"];
        typed.extend(args);
        serde_json::from_str(&scene.ralph(&typed).out).unwrap()
    };
    let stuck = analyze(&["3.txt", "--history", "1.txt", "2.txt"]);
    assert_eq!((&stuck["iteration"], &stuck["stuck_loop_detected"]), (&json!(3), &json!(true)));
    assert_eq!(stuck["errors"][0]["text"], "a.c:#: error: expected a thing");
    assert_eq!(analyze(&["2.txt", "--history", "1.txt"])["stuck_loop_detected"], false);
    let open = analyze(&["3.txt", "--history", "1.txt", "2.txt", "1.txt", "2.txt"]);
    assert_eq!(open["circuit_breaker_state"], "OPEN");
    let shrunk =
        analyze(&["short.txt", "--history", "long.txt", "--history", "long.txt", "--history", "long.txt"]);
    assert!(shrunk["warnings"].to_string().contains("shrank"), "{}", shrunk["warnings"]);
    assert_eq!(analyze(&["phrases.txt"])["exit_decision"], "continue");
    assert_eq!(analyze(&["phrases.txt", "--history", "phrases.txt"])["exit_decision"], "continue");
    assert_eq!(scene.ralph(&["analyze", "1.txt", "--history", "missing.txt"]).code, 65);
}

/// Analyzes the last of these answers, with those before it as history.
fn analyze_all(scene: &Scene, args: &[&str], answers: &[&str]) -> Value {
    let names: Vec<String> = (1..=answers.len()).map(|n| format!("answer{n}.txt")).collect();
    for (name, answer) in names.iter().zip(answers) {
        scene.scratch.files(&[(name.as_str(), answer)]);
    }
    let (last, earlier) = names.split_last().unwrap();
    let mut typed = vec!["analyze", last];
    typed.extend(args);
    typed.extend(earlier.iter().flat_map(|name| ["--history", name.as_str()]));
    let answer = scene.ralph(&typed);
    assert_eq!(answer.code, 0, "{typed:?}: {}", answer.err);
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn presets_hold_as_in_a_run() {
    const PROMISE: &str = "<promise>COMPLETE</promise>";
    for (preset, once, twice) in [
        ("strict", "continue", "continue"),
        ("classic", "continue", "project_complete"),
        ("analyzer", "project_complete", "project_complete"),
        ("wrapper", "project_complete", "project_complete"),
    ] {
        let mut scene = Scene::new();
        let decision = |scene: &Scene, args: &[&str], answers: &[&str]| {
            analyze_all(scene, args, answers)["exit_decision"].clone()
        };
        assert_eq!(decision(&scene, &["--preset", preset], &[PROMISE]), once, "{preset}");
        assert_eq!(decision(&scene, &["--preset", preset], &[PROMISE; 2]), twice, "{preset}");
        scene.scratch.files(&[("ralph.toml", &format!("preset = \"{preset}\"\n"))]);
        assert_eq!(decision(&scene, &[], &[PROMISE]), once, "ralph.toml: {preset}");
        scene.scratch.files(&[("ralph.toml", "preset = \"strict\"\n[gate]\nexit_signals = 1\n")]);
        scene.set("RALPH_PRESET", preset);
        let once = if preset == "classic" { twice } else { once };
        assert_eq!(decision(&scene, &[], &[PROMISE]), once, "RALPH_PRESET: {preset}, the file over it");
        assert_eq!(decision(&scene, &["--preset", "strict"], &[PROMISE; 2]), "continue", "the flag wins");
    }
}

#[test]
fn thresholds_and_the_promise_are_those_of_the_workspace() {
    let mut scene = Scene::new();
    let error = "It fails:\n\nerror: expected a thing\n";
    let (long, short) = ("I changed another line of the parser. ".repeat(9), "x".repeat(100));
    let answers = [long.as_str(), &long, &long, &short];
    assert_eq!(analyze_all(&scene, &[], &[error; 2])["stuck_loop_detected"], false);
    assert!(analyze_all(&scene, &[], &answers)["warnings"].to_string().contains("shrank"));
    assert_eq!(analyze_all(&scene, &[], &["<promise>SHIPPED</promise>"])["promise"], false);
    let ladder = "[[ladder]]\nmodel = \"opus\"\n[[ladder]]\nmodel = \"fable\"\n";
    let keys = "[breaker]\nstuck = 2\ndecline_below = 29\n[gate]\npromise = \"SHIPPED\"\n";
    scene.scratch.files(&[("ralph.toml", &format!("{keys}{ladder}"))]);
    assert_eq!(analyze_all(&scene, &[], &[error; 2])["stuck_loop_detected"], true);
    assert!(!analyze_all(&scene, &[], &answers)["warnings"].to_string().contains("shrank"));
    let idle = BLOCK.replace("FILES_MODIFIED: 2", "FILES_MODIFIED: 0").replace("true", "false");
    let breaker =
        |count| analyze_all(&scene, &[], &vec![idle.as_str(); count])["circuit_breaker_state"].clone();
    assert_eq!(
        (breaker(4), breaker(5)),
        (json!("HALF_OPEN"), json!("OPEN")),
        "two rungs get an iteration each"
    );
    assert_eq!(analyze_all(&scene, &[], &["<promise>SHIPPED</promise>"])["promise"], true);
    assert_eq!(analyze_all(&scene, &["--promise", "DONE"], &["<promise>DONE</promise>"])["promise"], true);
    scene.set("RALPH_PROMISE", "DONE");
    assert_eq!(analyze_all(&scene, &[], &["<promise>DONE</promise>"])["promise"], true);
}

#[test]
fn wrong_settings_are_refused_as_in_a_run() {
    let mut scene = Scene::new();
    scene.scratch.files(&[("answer.txt", BLOCK), ("ralph.toml", "preset = \"clasic\"\n")]);
    assert_eq!(scene.show(&["analyze", "answer.txt"]).code, 78);
    scene.scratch.files(&[("ralph.toml", "")]);
    assert_eq!(scene.show(&["analyze", "answer.txt", "--preset", "clasic"]).code, 64);
    let elsewhere = scene.scratch.root().join("home");
    std::fs::write(elsewhere.join("ralph.toml"), "[gate\n").unwrap();
    let answer = scene.scratch.workspace().join("answer.txt");
    let args = ["-C", elsewhere.to_str().unwrap(), "analyze", answer.to_str().unwrap()];
    assert_eq!(scene.ralph(&args).code, 78, "-C says where settings are read");
    scene.compare("analyze_settings");
}

/// Longer than any piece that is read at once, with the claim at its end.
#[test]
fn long_outputs_are_read_to_their_end() {
    let scene = Scene::new();
    let noise =
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"go on\"}]}}\n";
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": BLOCK});
    let jsonl = format!("{}{result}\n", noise.repeat(20_000));
    let seen = analyze(&scene, &jsonl);
    assert_eq!((&seen["format"], &seen["exit_decision"]), (&json!("jsonl"), &json!("project_complete")));
    let text = format!("{}\n{BLOCK}", "a line of text\n".repeat(200_000));
    let seen = analyze(&scene, &text);
    assert_eq!((&seen["format"], &seen["exit_decision"]), (&json!("text"), &json!("project_complete")));
    assert_eq!(seen["text_bytes"], text.trim_end().len());
    assert!(seen["text"].as_str().unwrap().len() <= 1 << 20);
    for hostile in
        ["[".repeat(3 << 20), "{\"a\":".repeat(1 << 20), "\0".repeat(1 << 20), BLOCK.repeat(20_000)]
    {
        assert!(analyze(&scene, &hostile)["text_bytes"].is_u64());
    }
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
