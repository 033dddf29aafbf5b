//! `ralph prune`: what old runs leave behind goes, what is needed stays.

use super::scene::Scene;
use serde_json::Value;

#[test]
fn only_runs_that_are_over_are_pruned_and_their_journals_stay() {
    let mut scene = Scene::new();
    assert_eq!(scene.show(&["prune"]).code, 64);
    assert_eq!(scene.sim("Over", &["--verify", "true"], "write a.txt one; claim complete").code, 0);
    let limit = ["--max-iterations", "1", "--max-cost", "1", "--verify", "false"];
    assert_eq!(scene.sim("Can go on", &limit, "write a.txt two; claim progress").code, 3);
    assert_eq!(scene.ralph(&["prune", "--keep", "1h", "--yes"]).code, 0);
    let runs = scene.scratch.state().join("ralph/runs");
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 2, "both are young");
    let args = ["prune", "--max-size", "0", "--json", "--dry-run"];
    let would: Value = serde_json::from_str(&scene.ralph(&args).out).unwrap();
    assert_eq!((would["removed"].as_array().unwrap().len(), &would["done"]), (1, &false.into()));
    assert_eq!(scene.ralph(&["prune", "--max-size", "0"]).code, 64, "nobody is there to agree");
    assert_eq!(scene.ralph(&["prune", "--max-size", "0", "--yes"]).code, 0);
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1);
    let over = would["removed"][0]["runId"].as_str().unwrap();
    assert_eq!(scene.ralph(&["replay", over]).code, 0, "its journal is whole");
    let logs = scene.ralph(&["logs", over]);
    assert!(logs.out.contains("no transcript (pruned") && logs.out.contains("gate_passed"), "{}", logs.out);
    assert_eq!(scene.ralph(&["undo", over, "--yes"]).code, 64);
    assert_eq!(
        scene.ralph(&["logs", "--diff", "--iteration", "1"]).code,
        0,
        "the other's snapshots are kept"
    );
    assert_eq!(scene.ralph(&["resume", "--max-iterations", "2"]).code, 3);
    for args in [&["prune", "--keep", "soon"][..], &["prune", "--max-size", "much"]] {
        assert_eq!(scene.show(args).code, 64);
    }
    assert_eq!(scene.show(&["prune", "--yes"]).code, 0);
    scene.compare("prune");
}
