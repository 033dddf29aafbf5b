//! State written by version 0.1 stays readable. `fixtures/state-0.1/ralph` is the state directory of four runs of that
//! version (stalled, protected path changed, tests weakened, completed); `fixtures/state-0.1/expected` is what its own
//! commands printed about them. New keys may be added to the JSON; every old one must keep its value.

use crate::scene::Scene;
use ralph_engine::proof::Baseline;
use ralph_engine::protection::{BEFORE, Moment};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const RUNS: [&str; 4] = ["6d8d3149", "8b514077", "f7138ed8", "2973ed7d"];
/// Sentences for people, and the number of the rules in use: neither is a fact about the run.
/// Sentences may be reworded, and today's rules may decide otherwise.
const NOT_FACTS: [&str; 3] = ["why", "rulesToday", "differences"];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/state-0.1")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn scene() -> Scene {
    let scene = Scene::new();
    copy(&fixture().join("ralph"), &scene.scratch.state().join("ralph"));
    scene
}

/// The JSON values in a text: one, or one a line.
fn values(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().map(Result::unwrap).collect()
}

/// Fails where `now` lacks something that `then` says, or says something else.
fn same_facts(at: &str, then: &Value, now: &Value) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (key, value) in then.iter().filter(|(key, _)| !NOT_FACTS.contains(&key.as_str())) {
                same_facts(&format!("{at}.{key}"), value, now.get(key).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(then), Value::Array(now)) => {
            assert_eq!(then.len(), now.len(), "{at}: the number of elements changed");
            for (n, (then, now)) in then.iter().zip(now).enumerate() {
                same_facts(&format!("{at}[{n}]"), then, now);
            }
        }
        _ => assert_eq!(then, now, "{at}"),
    }
}

fn compare(scene: &Scene, args: &[&str], expected: &str) {
    let answer = scene.ralph(args);
    assert_eq!(answer.code, 0, "ralph {args:?}: {}", answer.err);
    let then = fs::read_to_string(fixture().join("expected").join(expected)).unwrap();
    let (then, now) = (values(&then), values(&answer.out));
    assert!(!then.is_empty());
    same_facts(expected, &Value::Array(then), &Value::Array(now));
}

/// The rows lack what was added since; `--repair` adds it.
#[test]
fn doctor_says_that_rows_of_version_0_1_are_incomplete() {
    let scene = scene();
    let lists = |scene: &Scene, more: &[&str]| -> Option<Value> {
        let rows = values(&scene.ralph(&[&["doctor", "--json"], more].concat()).out).remove(0)["rows"].take();
        rows.as_array().unwrap().iter().find(|row| row["name"] == "lists").cloned()
    };
    let fact = lists(&scene, &["--full"]).unwrap()["fact"].take();
    assert!(RUNS.iter().all(|run| fact.as_str().unwrap().contains(run)), "{fact}");
    // Also where the latest runs, which are compared with their journals, are of this version.
    for _ in 0..3 {
        scene.sim("Make a", &["--fresh", "--verify", "test -e a"], "write a x; claim complete");
    }
    let said = lists(&scene, &[]).unwrap();
    assert_eq!(said["fact"], "limits, models and reasons of 4 runs of an earlier version are not listed");
    assert_eq!(said["remedy"], "rebuild it with `ralph doctor --repair`");
    scene.ralph(&["doctor", "--repair"]);
    assert_eq!(lists(&scene, &[]), None);
    let list = values(&scene.ralph(&["list", "--all", "--json"]).out).remove(0);
    assert!(list.as_array().unwrap().iter().all(|run| run["max_iterations"].as_i64() > Some(0)), "{list:#}");
}

#[test]
fn runs_of_version_0_1_are_listed_shown_explained_and_replayed_alike() {
    let scene = scene();
    compare(&scene, &["list", "--all", "--json"], "list.json");
    for run in RUNS {
        for command in ["status", "explain", "replay"] {
            compare(&scene, &[command, run, "--json"], &format!("{command}.{run}.json"));
        }
    }
    compare(&scene, &["logs", "2973ed7d", "--json"], "logs.2973ed7d.json");
}

#[test]
fn a_new_run_is_added_to_a_database_of_version_0_1() {
    let scene = scene();
    let run = scene.sim("Write a file", &["--verify", "test -f a"], "write a 1; claim complete");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let list = values(&scene.ralph(&["list", "--all", "--json"]).out);
    assert_eq!(list[0].as_array().unwrap().len(), RUNS.len() + 1);
    let doctor = values(&scene.ralph(&["doctor", "--full", "--json"]).out);
    let row = doctor[0]["rows"].as_array().unwrap().iter().find(|row| row["name"] == "database").unwrap();
    assert_eq!(row["state"], "ok", "every record agrees with its checksum: {row}");
}

#[test]
fn what_a_run_of_version_0_1_remembers_for_recovery_is_read() {
    let runs = fixture().join("ralph/runs");
    let folder = fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let before = Moment::load(&folder, BEFORE).unwrap();
    assert!(before.files.get(b"add.sh").is_some());
    assert_eq!(before.repositories.git_dirs.len(), 1);
    assert!(Baseline::load(&folder).unwrap().file(b"tests/add.sh").is_some());
}
