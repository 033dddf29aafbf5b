//! A run in the background: begun or refused, never in between.

use super::scene::{Scene, sim};
use serde_json::Value;
use std::time::Duration;

const SLOW: &str = "write a.txt x; run until [ -e go ]\\; do sleep 0.05\\; done; claim complete";

fn ended(scene: &Scene, id: &str) -> Value {
    (0..1200)
        .find_map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            let status: Value = serde_json::from_str(&scene.ralph(&["status", id, "--json"]).out).unwrap();
            (!status["result"].is_null()).then(|| status["result"].clone())
        })
        .expect("the run ends")
}

#[test]
fn a_run_goes_to_the_background_once_it_has_begun() {
    let scene = Scene::new();
    let answer = scene.sim("Slow", &["--verify", "true", "--detach"], SLOW);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let id = answer.out.trim();
    let status = scene.ralph(&["status", id]);
    let open = ["status     RUNNING", "status     VERIFYING"];
    assert!(open.iter().any(|words| status.out.contains(words)), "{}", status.out);
    let second = scene.sim("Other", &["--detach"], "claim complete");
    assert_eq!((second.code, second.out.as_str()), (73, ""), "{}", second.err);
    assert!(second.err.starts_with("error: another run is active in this workspace: "), "{}", second.err);
    let runs = scene.scratch.state().join("ralph/runs");
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1, "nothing is left of the one that was refused");
    assert_eq!(scene.ralph(&["stop", id]).code, 0);
    assert_eq!(ended(&scene, id)["reason"], "INTERRUPTED");
    std::fs::write(scene.scratch.workspace().join("go"), "").unwrap();
    let again = scene.sim("Slow", &["--verify", "true", "--detach", "--json"], SLOW);
    let told: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&told["type"], &told["runId"]), (&"detached".into(), &id.into()), "it goes on with it");
    assert_eq!(ended(&scene, id)["reason"], "gate_passed");
    let log = std::fs::read_to_string(runs.join(id).join("screen.log")).unwrap();
    assert!(log.contains("Resuming run ") && log.contains("COMPLETED, unbroken only"), "{log}");
}

#[test]
fn a_start_that_is_refused_is_refused_here() {
    let scene = Scene::new();
    let missing = ["run", "x", "--agent", "codex", "--max-iterations", "1", "--max-cost", "1", "--detach"];
    let answer = Scene::ralph(&scene, &missing);
    assert_eq!((answer.code, answer.out.as_str()), (69, ""), "{}", answer.err);
    let stall = ["--max-iterations", "9", "--max-cost", "5"];
    assert_eq!(scene.sim("Stand", &stall, "message Nothing; claim none").code, 1);
    let mut args = sim("Stand", &stall, "claim none");
    args.insert(2, "--detach");
    let open = scene.ralph(&args);
    assert_eq!(open.code, 1, "{}", open.err);
    assert!(open.err.contains("the circuit breaker of this workspace is open"), "{}", open.err);
    assert!(open.err.contains("ralph circuit reset"), "{}", open.err);
}
