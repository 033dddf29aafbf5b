//! `session.json` and `analysis.json`: what ralph counted beside what the agent claimed, and how the run ended.

use super::scene::Scene;
use serde_json::{Value, json};

fn view(scene: &Scene, name: &str) -> Value {
    serde_json::from_str(&scene.scratch.read(&format!(".ralph/{name}.json"))).unwrap()
}

fn ends(scene: &Scene) -> Vec<(Value, Value)> {
    let session = view(scene, "session");
    let iterations = session["iterations"].as_array().unwrap().iter();
    iterations.map(|it| (it["exit_decision"].clone(), it["exit_reason"].clone())).collect()
}

#[test]
fn the_last_iteration_says_why_the_run_ended_and_goes_on_when_the_run_does() {
    let scene = Scene::new();
    let limits = ["--max-iterations", "2", "--max-cost", "1", "--verify", "false"];
    assert_eq!(scene.sim("On", &limits, "append a.txt x; claim progress type=TESTING").code, 3);
    let limit = (json!("exit"), json!("MAX_ITERATIONS"));
    let on = (json!("continue"), Value::Null);
    assert_eq!(ends(&scene), [on.clone(), limit.clone()]);
    let session = view(&scene, "session");
    assert_eq!((&session["exit_status"], &session["exit_reason"]), (&"ABORTED".into(), &limit.1));
    assert!(session["ended_at"].as_str() >= session["started_at"].as_str(), "{session}");
    assert_eq!(session["iterations"][1]["work_type"], "TESTING");
    let analysis = view(&scene, "analysis");
    assert_eq!((analysis["exit_decision"].clone(), analysis["exit_reason"].clone()), limit);
    assert_eq!(scene.ralph(&["resume", "--max-iterations", "3"]).code, 3);
    assert_eq!(ends(&scene), [on.clone(), on, limit]);
}

#[test]
fn guards_and_people_end_a_run_in_other_words_than_completion() {
    for (script, decision, reason) in [
        ("message Nothing; claim none", "exit", "STALL"),
        ("claim blocked", "blocked", "BLOCKED"),
        ("write a x; claim complete", "project_complete", "gate_passed"),
    ] {
        let scene = Scene::new();
        scene.sim("End", &["--max-iterations", "9", "--max-cost", "5", "--verify", "test -f a"], script);
        assert_eq!(ends(&scene).last().unwrap(), &(json!(decision), json!(reason)), "{script}");
    }
}

#[test]
fn a_block_that_exaggerates_does_not_change_the_numbers() {
    let scene = Scene::new();
    scene.scratch.files(&[("plan.md", "- [ ] one\n- [ ] two\n- [x] three\n")]);
    let limits = ["--max-iterations", "2", "--max-cost", "1", "--verify", "false", "--plan", "plan.md"];
    let tick = "run sed -i '0,/\\[ \\]/s//[x]/' plan.md";
    let script = format!("{tick}; claim progress tasks=7 files=9 tests=PASSING");
    let answer = scene.sim("Tick", &limits, &script);
    assert_eq!(answer.code, 3, "{}", answer.err);
    let session = view(&scene, "session");
    for iteration in session["iterations"].as_array().unwrap() {
        assert_eq!((&iteration["tasks_completed"], &iteration["files_modified"]), (&json!(1), &json!(1)));
        let claimed = json!({"tasks_completed": 7, "files_modified": 9, "tests_status": "PASSING"});
        assert_eq!(iteration["claimed"], claimed);
    }
    let lints = view(&scene, "analysis")["lints"].to_string();
    for lie in
        ["FILES_MODIFIED says 9, but 1 changed", "TESTS_STATUS says PASSING, but the tests are FAILING"]
    {
        assert!(lints.contains(lie), "{lints}");
    }
    let totals = (&session["total_tasks_completed"], &session["total_files_modified"]);
    assert_eq!((totals, &session["tasks_counted"]), ((&json!(2), &json!(2)), &json!(true)));
}

#[test]
fn without_a_plan_tasks_are_the_agents_word_and_marked_so() {
    let scene = Scene::new();
    scene.sim("Claim", &["--verify", "false"], "append a x; claim progress tasks=2");
    let session = view(&scene, "session");
    assert_eq!(session["tasks_counted"], false);
    assert_eq!(session["total_tasks_completed"], 2 * session["iterations"].as_array().unwrap().len());
}
