//! What scripts read, checked by parsing.

use super::scene::Scene;
use serde_json::Value;
use std::collections::BTreeSet;

const REPAIR: &str = "say Looking; write a.txt good; claim complete";

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The fields every result has.
const RESULT: [&str; 14] = [
    "v",
    "type",
    "runId",
    "status",
    "reason",
    "exitCode",
    "iterations",
    "costUSD",
    "costIsComplete",
    "durationSeconds",
    "verificationPassed",
    "proof",
    "sandbox",
    "details",
];

#[test]
fn a_run_prints_records_without_a_gap_and_the_result_last() {
    let scene = Scene::new();
    let answer = scene.sim("x", &["--json", "--verify", "grep -q good a.txt"], REPAIR);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let lines: Vec<Value> = answer.out.lines().map(parse).collect();
    let records: Vec<&Value> = lines.iter().filter(|line| line["type"] == "record").collect();
    for (at, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], at + 1);
        assert_eq!(keys(record), ["v", "type", "seq", "at", "ran", "kind", "body"].into());
    }
    assert_eq!(records[0]["kind"], "run_started");
    assert!(lines.iter().any(|line| line["type"] == "activity"));
    let (last, before) = lines.split_last().unwrap();
    assert!(before.iter().all(|line| line["type"] != "result"));
    assert_eq!(keys(last), RESULT.into_iter().chain(["output"]).collect());
    for (key, value) in [("status", "COMPLETED"), ("reason", "gate_passed"), ("type", "result")] {
        assert_eq!(last[key], value);
    }
    assert_eq!(
        (&last["exitCode"], &last["iterations"], &last["verificationPassed"]),
        (&0.into(), &1.into(), &true.into())
    );
    let status = parse(&scene.ralph(&["status", "--json"]).out);
    assert_eq!(&status["result"], last);
    let explained = parse(&scene.ralph(&["explain", "--json"]).out);
    assert_eq!(explained.as_array().unwrap().len(), records.len());
}

#[test]
fn a_stopped_run_carries_its_last_output() {
    let scene = Scene::new();
    let answer = scene.sim("x", &["--json"], "message Cannot; claim blocked");
    let last = parse(answer.out.lines().last().unwrap());
    assert_eq!(answer.code, 2);
    assert_eq!((&last["status"], &last["reason"]), (&"ABORTED".into(), &"BLOCKED".into()));
    assert!(last["lastOutput"].as_str().unwrap().starts_with("Cannot"));
    assert!(last.get("output").is_none());
}

#[test]
fn a_refusal_to_start_is_a_result_without_a_run() {
    let scene = Scene::new();
    let answer = scene.ralph(&["run", "x", "--json"]);
    let result = parse(&answer.out);
    assert_eq!((answer.code, &result["runId"], &result["exitCode"]), (64, &Value::Null, &64.into()));
    assert_eq!((&result["status"], &result["type"]), (&"ERROR".into(), &"result".into()));
    assert!(result["error"].as_str().unwrap().contains("--max-iterations"));
}

#[test]
fn lists_and_states_are_there_before_the_first_run_too() {
    let scene = Scene::new();
    assert_eq!(parse(&scene.ralph(&["list", "--json"]).out), serde_json::json!([]));
    assert_eq!(parse(&scene.ralph(&["circuit", "status", "--json"]).out)["state"], "CLOSED");
}

#[test]
fn what_is_known_of_a_run_is_one_object() {
    let scene = Scene::new();
    scene.sim("First line\nsecond", &["--verify", "grep -q good a.txt"], REPAIR);
    let rows = parse(&scene.ralph(&["list", "--json"]).out);
    let row = &rows[0];
    let wanted = [
        "id",
        "workspace",
        "task",
        "agent",
        "started",
        "updated",
        "status",
        "reason",
        "exit_code",
        "iterations",
        "cost_micro",
        "cost_complete",
        "verified",
        "proof",
        "head",
        "pid",
        "resumable",
        "model",
        "max_iterations",
        "max_cost_micro",
        "max_ms",
        "until",
        "breaker",
        "live_micro",
        "why",
        "failing_before",
        "reserved_micro",
    ];
    assert_eq!(keys(row), wanted.into());
    assert_eq!(
        (&row["task"], &row["status"], &row["pid"]),
        (&"First line".into(), &"COMPLETED".into(), &Value::Null)
    );
    let status = parse(&scene.ralph(&["status", "--json"]).out);
    assert_eq!(
        keys(&status),
        ["run", "breaker", "breakerHistory", "rungs", "verify", "iterations", "receipts", "result"].into()
    );
    assert_eq!((&status["run"], &status["breaker"]), (row, &"CLOSED".into()));
    let replay = parse(&scene.ralph(&["replay", "--json"]).out);
    assert_eq!(replay["differences"], serde_json::json!([]));
    assert!(replay["decisions"].as_u64().unwrap() > 3);
}
