//! Answers about real runs have the shapes that the description promises.

use super::client::{Client, SOON};
use super::scene::Scene;
use super::served::Served;
use serde_json::Value;
use std::time::{Duration, Instant};

fn description() -> Value {
    serde_json::from_str(ralph_web::OPENAPI).unwrap()
}

/// Compares a value with a schema, as far as the description uses schemas.
fn check(value: &Value, schema: &Value, all: &Value, place: &str) {
    if let Some(to) = schema["$ref"].as_str() {
        return check(value, all.pointer(&to[1..]).unwrap(), all, place);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let schema = any.iter().find(|one| (one["type"] == "null") == value.is_null()).unwrap();
        return check(value, schema, all, place);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |wanted: &Value| wanted == kind || (wanted == "number" && kind == "integer");
    let fits = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(is),
        one => is(one),
    };
    assert!(fits, "{place} is {kind}, not {}", schema["type"]);
    if let Some(known) = schema["enum"].as_array() {
        assert!(known.contains(value), "{place}: {value} is none of {known:?}");
    }
    if let Some(constant) = schema.get("const") {
        assert_eq!(value, constant, "{place}");
    }
    for (n, item) in value.as_array().into_iter().flatten().enumerate() {
        check(item, &schema["items"], all, &format!("{place}/{n}"));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter(|_| value.is_object()) {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{place} has no {name}");
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(schema) => check(field, schema, all, &format!("{place}/{name}")),
            None => assert!(schema.get("properties").is_none(), "{place}/{name} is not described"),
        }
    }
}

fn answers_as_described(served: &Client, path: &str, described: &str, all: &Value) -> Value {
    let got = served.get(path);
    let responses = &all["paths"][described]["get"]["responses"];
    let mut response = &responses[got.status.to_string()];
    assert!(!response.is_null(), "{path}: {} is not described", got.status);
    if let Some(to) = response["$ref"].as_str() {
        response = all.pointer(&to[1..]).unwrap();
    }
    check(&got.json(), &response["content"]["application/json"]["schema"], all, path);
    got.json()
}

#[test]
fn every_answer_has_the_shape_that_is_described() {
    let scene = Scene::new();
    let all = description();
    let served = Served::start(&scene, &[]);
    let of = |path: &str, described: &str| answers_as_described(&served, path, described, &all);
    of("/api/v1/overview", "/api/v1/overview");
    of("/api/v1/stats", "/api/v1/stats");
    scene.sim("Make a", &["--verify", "test -e a"], "say Looking; write a x; claim complete");
    scene.sim("Never ends", &["--fresh", "--verify", "false"], "write b x; claim progress");
    // A server that found no database looks for one again once a second.
    let until = Instant::now() + SOON;
    let overview = loop {
        let overview = of("/api/v1/overview", "/api/v1/overview");
        if overview["cards"].as_array().unwrap().len() == 2 {
            break overview;
        }
        assert!(Instant::now() < until, "{overview}");
        std::thread::sleep(Duration::from_millis(50));
    };
    // The cards show what the script plays; the day has no part in it.
    let lead = overview["lead"].as_str().unwrap();
    assert!(lead.ends_with(" Scripted runs cost nothing: the day's cost leaves them out."), "{lead}");
    assert_eq!((&overview["today"]["spent_micro"], &overview["today"]["calls"]), (&0.into(), &0.into()));
    of("/api/v1/runs?limit=1", "/api/v1/runs");
    for card in overview["cards"].as_array().unwrap() {
        let run = format!("/api/v1/runs/{}", card["id"].as_str().unwrap());
        let detail = of(&run, "/api/v1/runs/{id}");
        assert_eq!(detail["card"]["id"], card["id"]);
        let iteration = "/api/v1/runs/{id}/iterations/{n}";
        for part in ["", "/diff", "/verification", "/prompt", "/activity"] {
            of(&format!("{run}/iterations/1{part}"), &format!("{iteration}{part}"));
            of(&format!("{run}/iterations/99{part}"), &format!("{iteration}{part}"));
        }
    }
    of("/api/v1/runs/0199ffff", "/api/v1/runs/{id}");
    of("/api/v1/stats?days=7", "/api/v1/stats");
    of("/api/v1/stats?days=0", "/api/v1/stats");
    of("/api/v1/openapi.json", "/api/v1/openapi.json");
}

#[test]
fn a_list_is_read_page_by_page_and_by_group() {
    let scene = Scene::new();
    for n in 0..5 {
        scene.sim(&format!("Task {n}"), &["--fresh", "--verify", "test -e a"], "write a x; claim complete");
    }
    let served = Served::start(&scene, &[]);
    let list = |query: &str| served.get(&format!("/api/v1/runs?{query}")).json();
    let tasks = |page: &Value| {
        page["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["task"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    let mut page = list("limit=2");
    loop {
        seen.extend(tasks(&page));
        let Some(next) = page["next"].as_str().map(str::to_owned) else { break };
        page = list(&format!("limit=2&before={next}"));
    }
    assert_eq!(seen, ["Task 4", "Task 3", "Task 2", "Task 1", "Task 0"]);
    assert_eq!(tasks(&list("text=TASK%203")), ["Task 3"]);
    assert_eq!(list("group=completed")["runs"].as_array().unwrap().len(), 5);
    assert_eq!(list("group=needs_you")["runs"].as_array().unwrap().len(), 0);
    assert_eq!(list("state=COMPLETED")["runs"].as_array().unwrap().len(), 5);
    assert_eq!(list("agent=claude")["runs"].as_array().unwrap().len(), 0);
    assert_eq!(served.get("/api/v1/runs?group=none").status, 400);
}
