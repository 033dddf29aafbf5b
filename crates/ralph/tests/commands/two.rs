//! Two ralphs: one workspace has one run at a time, and one that was killed is taken up again.

use super::scene::{Answer, Scene, sim};
use std::process::{Child, Stdio};
use std::time::Duration;

const SLOW: &str = "write a.txt x; sleep 60s; claim complete";

/// Starts a run and waits until its agent works.
fn begin(scene: &Scene, task: &str) -> Child {
    let mut command = scene.command(&sim(task, &["--verify", "true"], SLOW));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        scene.scratch.workspace().join("a.txt").exists()
    });
    if !begun {
        child.kill().unwrap();
        panic!("the agent never began: {}", Answer::from(child.wait_with_output().unwrap()).err);
    }
    child
}

#[test]
fn a_second_run_is_refused_and_the_first_can_be_stopped() {
    let mut scene = Scene::new();
    let first = begin(&scene, "Slow");
    let second = scene.sim("Other", &[], "claim complete");
    assert_eq!(second.code, 73);
    let link = scene.scratch.root().join("link");
    std::os::unix::fs::symlink(scene.scratch.workspace(), &link).unwrap();
    let args = [&["-C", link.to_str().unwrap()], &sim("Other", &[], "claim complete")[..]].concat();
    assert_eq!(scene.ralph(&args).code, 73, "by another path");
    let who = format!("process {}", first.id());
    assert!(second.err.contains(&who) && second.err.contains("ralph stop"), "{}", second.err);
    assert!(scene.ralph(&["status"]).out.contains("status     RUNNING"));
    assert!(scene.ralph(&["explain"]).out.starts_with("RUNNING: 0 iterations so far."));
    assert_eq!(scene.ralph(&["resume"]).code, 73);
    assert_eq!(scene.ralph(&["stop"]).code, 0);
    let ended = Answer::from(first.wait_with_output().unwrap());
    assert_eq!(ended.code, 130, "{}", ended.err);
    assert!(ended.err.contains("INTERRUPTED") && ended.err.contains("ralph resume "), "{}", ended.err);
    scene.show(&["list"]);
    scene.compare("two_stopped");
}

#[test]
fn a_run_that_was_killed_is_taken_up_by_the_same_command() {
    let scene = Scene::new();
    let mut first = begin(&scene, "Slow");
    first.kill().unwrap();
    first.wait().unwrap();
    let list = scene.ralph(&["list"]).out;
    assert!(list.contains("CRASHED") && list.contains("  ~$0.50  Slow"), "{list}");
    let rows: serde_json::Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
    assert_eq!((&rows[0]["reserved_micro"], &rows[0]["cost_micro"]), (&500_000.into(), &0.into()));
    let status = scene.ralph(&["status"]).out;
    for line in [
        "status     CRASHED (its process is gone; `ralph resume` continues it)",
        "cost       ~$0.50 ($0.00 charged, $0.50 reserved for the call that was cut off)",
    ] {
        assert!(status.lines().any(|l| l == line), "{line}\n{status}");
    }
    let row = status.lines().find(|line| line.starts_with("   1  ")).unwrap();
    assert!(row.contains("  ~$0.50  "), "{status}");
    assert!(scene.ralph(&["explain"]).out.starts_with("CRASHED after 0 iterations"));
    // A time limit ends the slow script; what counts here is what is said.
    let other = ["--verify", "true && true", "--max-iterations", "3", "--max-cost", "1"];
    let refused = scene.sim("Slow", &other, SLOW);
    assert_eq!(refused.code, 64, "{}", refused.err);
    assert!(refused.err.contains("was started with different verify commands"), "{}", refused.err);
    let more = ["--verify", "true", "--max-iterations", "3", "--max-cost", "1", "--max-time", "1s"];
    let again = scene.sim("Slow", &more, SLOW);
    assert!(again.err.contains("Resuming run "), "{}", again.err);
    let rows: serde_json::Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    let fresh = scene.sim("Slow", &["--fresh", "--verify", "true"], "write b.txt x; claim complete");
    assert_eq!(fresh.code, 0, "{}", fresh.err);
}
