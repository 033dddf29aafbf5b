//! `ralph advise` and `run --auto`: what is said before a run, and what follows from it.

use super::scene::{Scene, sim};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

const TASK: &str = "Fix the off-by-one in src/list.rs";
const WORK: &str = "write done.txt x; claim complete";
const UNDER_WAY: &str = "append a x; claim progress";

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn advice(scene: &Scene, args: &[&str]) -> Value {
    let answer = scene.ralph(&[&["advise"], args, &["--json"]].concat());
    serde_json::from_str(&answer.out).unwrap_or_else(|e| panic!("{e}: {} {}", answer.out, answer.err))
}

#[test]
fn advice_says_what_decided() {
    let mut scene = Scene::new();
    assert_eq!(scene.show(&["advise", TASK, "--verify", "true"]).code, 0);
    assert_eq!(scene.show(&["advise", TASK]).code, 0);
    assert_eq!(scene.show(&["advise", "Improve the code", "--verify", "true"]).code, 0);
    assert_eq!(scene.show(&["advise", "Why is it slow?", "--verify", "true"]).code, 0);
    assert_eq!(scene.show(&["advise", "Deploy it to production", "--verify", "true"]).code, 2);
    assert_eq!(scene.show(&["advise", "Fix the total in `src/payments/sum.rs`", "--verify", "true"]).code, 2);
    scene.compare("advise");
}

#[test]
fn the_task_comes_from_where_a_run_takes_it() {
    let scene = Scene::new();
    let none = scene.ralph(&["advise"]);
    assert_eq!(none.code, 64, "{}", none.err);
    scene.scratch.files(&[("PROMPT.md", "# Task\n\nDeploy to production\n"), ("other.md", TASK)]);
    assert_eq!(advice(&scene, &[])["verdict"], "person");
    assert_eq!(advice(&scene, &["--prompt", "other.md", "--verify", "true"])["verdict"], "loop");
    let mut command = scene.command(&["advise", "-", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"Rotate the API keys").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["risk"]["level"], "critical");
}

#[test]
fn the_prompt_that_init_writes_is_no_risk_by_itself() {
    let scene = Scene::new();
    scene.scratch.files(&[("Makefile", "test:\n\ttrue\n")]);
    let init = scene.ralph(&["init", "--yes", "Make the tests pass"]);
    assert_eq!(init.code, 0, "{}", init.err);
    let found = advice(&scene, &[]);
    assert_eq!((&found["verdict"], &found["risk"]["met"]), (&"loop".into(), &true.into()), "{found:#}");
    assert_eq!(found["scoped"]["kind"], "bug");
}

#[test]
fn red_or_green_is_known_from_a_run_and_run_only_if_asked() {
    let scene = Scene::new();
    let check = "touch ran; test -f done.txt";
    let state = |args: &[&str]| {
        let found = advice(&scene, &[&[TASK, "--verify", check], args].concat());
        (found["verifiable"]["state"].as_str().map(str::to_owned), found["verifiable"]["seenIn"].is_string())
    };
    let ran = scene.scratch.workspace().join("ran");
    assert_eq!(state(&[]), (None, false));
    assert!(!ran.exists(), "advice ran the command");
    assert_eq!(state(&["--check"]), (Some("red".into()), false));
    let run = scene.sim("Work", &["--verify", check, "--max-iterations", "1", "--max-cost", "1"], UNDER_WAY);
    assert_eq!(run.code, 3, "{}", run.err);
    assert_eq!(state(&[]), (Some("red".into()), true));
    scene.scratch.files(&[("done.txt", "")]);
    assert_eq!(state(&["--check"]), (Some("green".into()), false));
}

#[test]
fn auto_loops_what_deserves_a_loop() {
    let scene = Scene::new();
    let answer = scene.sim(TASK, &["--verify", "false", "--auto"], UNDER_WAY);
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert!(answer.err.contains("Iteration 3 of 3") && !answer.err.contains("Advice"), "{}", answer.err);
}

#[test]
fn auto_makes_one_iteration_of_what_has_no_end() {
    let scene = Scene::new();
    let answer = scene.sim("Improve the code", &["--verify", "false", "--auto"], UNDER_WAY);
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert!(answer.err.contains("Iteration 1 of 1") && !answer.err.contains("Iteration 2"), "{}", answer.err);
    assert!(answer.err.contains("Advice: once, because it does not say when it is done"), "{}", answer.err);
}

#[test]
fn auto_does_not_start_what_needs_a_person() {
    let scene = Scene::new();
    let args = ["--verify", "true", "--auto"];
    let answer = scene.sim("Deploy it to production", &args, WORK);
    assert_eq!(answer.code, 2, "{}", answer.err);
    assert!(answer.err.contains("this task needs a person: the risk is critical"), "{}", answer.err);
    assert!(!scene.scratch.workspace().join("done.txt").exists());
    let result = json(&scene.sim("Deploy it to production", &[&args[..], &["--json"]].concat(), WORK).out);
    assert_eq!(
        (&result["status"], &result["reason"]),
        (&"ABORTED".into(), &"NEEDS_PERSON".into()),
        "{result}"
    );
    assert_eq!((&result["exitCode"], &result["iterations"]), (&2.into(), &0.into()));
    assert!(scene.ralph(&["list"]).err.contains("No runs"));
}

#[test]
fn a_plain_run_never_refuses_on_advice() {
    let scene = Scene::new();
    let answer = scene.sim("Deploy it to production", &["--verify", "test -f done.txt"], WORK);
    assert_eq!(answer.code, 0, "{}", answer.err);
}

#[test]
fn a_run_that_was_interrupted_keeps_its_limits() {
    let scene = Scene::new();
    let script = "append a x; run test -f go || sleep 60; claim progress";
    let mut first = scene.command(&sim("Improve the code", &["--verify", "false"], script));
    let mut child = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        scene.scratch.workspace().join("a").exists()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(begun, "the agent never began");
    scene.scratch.files(&[("go", "")]);
    let again = scene.sim("Improve the code", &["--verify", "false", "--auto"], script);
    assert_eq!(again.code, 3, "{}", again.err);
    assert!(again.err.contains("Resuming run") && again.err.contains("of 3"), "{}", again.err);
}
