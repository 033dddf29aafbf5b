//! `run --fallback`: one iteration where ralph itself is at fault, and never past a lock, an open breaker or a limit.

use super::scene::{Answer, Scene, sim};
use serde_json::Value;
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use std::time::Duration;

const WORK: &str = "write done.txt x; claim complete";
const DONE: &str = "test -f done.txt";

fn result(answer: &Answer) -> Value {
    let line = answer.out.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {} {}", answer.out, answer.err))
}

/// A scene whose state directory is a file.
fn without_state() -> Scene {
    let mut scene = Scene::new();
    let file = scene.scratch.root().join("not-a-directory");
    std::fs::write(&file, "").unwrap();
    scene.set("XDG_STATE_HOME", file.to_str().unwrap());
    scene
}

fn break_database(scene: &Scene) {
    let database = scene.scratch.state().join("ralph/ralph.db");
    std::fs::write(&database, "not a database at all".repeat(500)).unwrap();
}

#[test]
fn without_a_state_directory_one_iteration_is_made_and_nothing_recorded() {
    let scene = without_state();
    let plain = scene.sim("Work", &["--verify", DONE], WORK);
    assert!(![0, 3].contains(&plain.code), "{}", plain.err);
    assert!(!scene.scratch.workspace().join("done.txt").exists());
    let answer = scene.sim("Work", &["--verify", DONE, "--fallback", "--json"], WORK);
    let found = result(&answer);
    assert_eq!((answer.code, &found["recorded"]), (0, &false.into()), "{}", answer.err);
    assert_eq!((&found["status"], &found["iterations"]), (&"COMPLETED".into(), &1.into()), "{found:#}");
    assert!(answer.err.contains("one iteration, which is not recorded"), "{}", answer.err);
    assert!(answer.err.contains("recorded    no: it cannot be resumed"), "{}", answer.err);
    assert!(!answer.err.contains("ralph resume") && !answer.err.contains("ralph undo"), "{}", answer.err);
}

#[test]
fn there_is_only_one_iteration() {
    let scene = without_state();
    let answer = scene.sim("Work", &["--verify", "false", "--fallback"], "append a x; claim progress");
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert_eq!(scene.scratch.read("a").trim(), "x", "{}", answer.err);
}

#[test]
fn neither_home_nor_state_is_needed() {
    let scene = Scene::new();
    let mut command = scene.command(&sim("Work", &["--verify", DONE, "--fallback"], WORK));
    let output = command.env_remove("HOME").env_remove("XDG_STATE_HOME").output().unwrap();
    let answer = Answer::from(output);
    assert_eq!(answer.code, 0, "{}", answer.err);
}

#[test]
fn a_damaged_or_newer_database_is_left_as_it_is() {
    let scene = Scene::new();
    assert_eq!(scene.sim("First", &["--verify", "true"], "write a x; claim complete").code, 0);
    let database = scene.scratch.state().join("ralph/ralph.db");
    let file = std::fs::OpenOptions::new().write(true).open(&database).unwrap();
    file.write_all_at(&99_u32.to_be_bytes(), 60).unwrap();
    let before = std::fs::read(&database).unwrap();
    let newer = scene.sim("Work", &["--verify", DONE, "--fallback"], WORK);
    assert_eq!(newer.code, 0, "{}", newer.err);
    assert_eq!(std::fs::read(&database).unwrap(), before);
    std::fs::remove_file(scene.scratch.workspace().join("done.txt")).unwrap();
    break_database(&scene);
    let broken = std::fs::read(&database).unwrap();
    let damaged = scene.sim("Work", &["--verify", DONE, "--fallback"], WORK);
    assert_eq!(damaged.code, 0, "{}", damaged.err);
    assert_eq!(std::fs::read(&database).unwrap(), broken);
}

#[test]
fn with_a_usable_database_it_is_a_run_like_any_other() {
    let scene = Scene::new();
    let answer =
        scene.sim("Work", &["--verify", "false", "--fallback", "--json"], "append a x; claim progress");
    let found = result(&answer);
    assert_eq!((answer.code, &found["iterations"]), (3, &3.into()), "{}", answer.err);
    assert!(found.get("recorded").is_none());
}

#[test]
fn a_baseline_that_does_not_end_leaves_one_iteration() {
    let scene = Scene::new();
    scene.scratch.files(&[("ralph.toml", "[verify]\ntimeout = \"1s\"\n")]);
    let script = "append a x; claim progress";
    let plain = scene.sim("Work", &["--verify", "sleep 60"], script);
    assert_eq!(plain.code, 78, "{}", plain.err);
    let answer = scene.sim("Work", &["--verify", "sleep 60", "--fallback", "--fresh", "--json"], script);
    let found = result(&answer);
    assert_eq!((answer.code, &found["iterations"]), (3, &1.into()), "{}", answer.err);
    assert!(found.get("recorded").is_none());
    assert_eq!(scene.scratch.read("a").trim(), "x");
    let replay = scene.ralph(&["replay"]);
    assert_eq!(replay.code, 0, "{}", replay.err);
}

#[test]
fn a_broken_skill_leaves_one_iteration_without_it() {
    let scene = Scene::new();
    scene.scratch.files(&[(".ralph/skills/mine/SKILL.md", "no front matter\n")]);
    let script = "append a x; claim progress";
    assert_eq!(scene.sim("Work", &["--verify", "false", "--skill", "mine"], script).code, 65);
    let answer = scene.sim("Work", &["--verify", "false", "--skill", "mine", "--fallback"], script);
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert_eq!(scene.scratch.read("a").trim(), "x");
    assert!(answer.err.contains("one iteration without the skill"), "{}", answer.err);
    let unknown = scene.sim("Work", &["--verify", "false", "--skill", "nobody", "--fallback"], script);
    assert_eq!(unknown.code, 64, "{}", unknown.err);
}

#[test]
fn never_past_a_lock() {
    let mut scene = Scene::new();
    let mut command = scene.command(&sim("Slow", &["--verify", "true"], "write a.txt x; sleep 60s"));
    let mut first = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        scene.scratch.workspace().join("a.txt").exists()
    });
    let file = scene.scratch.root().join("not-a-directory");
    std::fs::write(&file, "").unwrap();
    scene.set("XDG_STATE_HOME", file.to_str().unwrap());
    let second = scene.sim("Other", &["--fallback"], WORK);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(begun, "the agent never began");
    assert_eq!(second.code, 73, "{}", second.err);
    assert!(!scene.scratch.workspace().join("done.txt").exists());
}

#[test]
fn never_past_an_open_breaker() {
    let scene = Scene::new();
    let stalled = scene.sim(
        "Stall",
        &["--verify", "false", "--max-iterations", "20", "--max-cost", "5"],
        "say nothing new; claim progress",
    );
    assert_eq!(stalled.code, 1, "{}", stalled.err);
    assert_eq!(scene.sim("Work", &["--fallback"], WORK).code, 1);
    break_database(&scene);
    let answer = scene.sim("Work", &["--fallback"], WORK);
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert!(!scene.scratch.workspace().join("done.txt").exists());
}

#[test]
fn never_without_limits() {
    let scene = without_state();
    let answer = scene.ralph(&["run", "Work", "--agent", "sim", "--fallback", "--", "--do", WORK]);
    assert_eq!(answer.code, 64, "{}", answer.err);
}
