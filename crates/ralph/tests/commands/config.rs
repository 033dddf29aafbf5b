//! Files, variables and ceilings, as `--dry-run` shows what they mean.

use super::scene::{Answer, Scene};
use serde_json::Value;

fn dry_run(scene: &Scene, more: &[&str]) -> Answer {
    let args: Vec<&str> = ["run", "x", "--agent", "sim", "--dry-run"].iter().chain(more).copied().collect();
    scene.ralph(&args)
}

fn resolved(scene: &Scene, more: &[&str]) -> Value {
    let answer = dry_run(scene, &[&["--json"], more].concat());
    assert_eq!(answer.code, 0, "{}", answer.err);
    serde_json::from_str(&answer.out).unwrap()
}

fn own_config(scene: &Scene, text: &str) {
    let dir = scene.scratch.root().join("config/ralph");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), text).unwrap();
}

#[test]
fn a_mistake_in_a_file_is_78_with_its_place() {
    let mut scene = Scene::new();
    scene.scratch.files(&[("ralph.toml", "[run]\nmax_iteration = 3\n")]);
    assert_eq!(scene.show(&["run", "x", "--agent", "sim"]).code, 78);
    scene.scratch.files(&[("ralph.toml", "[ceilings]\nmax_iterations = 100\n")]);
    assert_eq!(scene.show(&["run", "x", "--agent", "sim"]).code, 78);
    scene.compare("config_mistakes");
}

#[test]
fn flags_beat_variables_and_variables_beat_files() {
    let mut scene = Scene::new();
    scene
        .scratch
        .files(&[("ralph.toml", "[run]\nmax_iterations = 2\nmax_cost_usd = 2\n[agent]\nmodel = \"file\"\n")]);
    assert_eq!(resolved(&scene, &[])["policy"]["max_iterations"], 2);
    for (name, value) in
        [("RALPH_MAX_ITERATIONS", "4"), ("RALPH_MAX_COST", "0.5"), ("RALPH_MODEL", "variable")]
    {
        scene.set(name, value);
    }
    let seen = resolved(&scene, &["--max-iterations", "6"]);
    assert_eq!(seen["policy"]["max_iterations"], 6);
    assert_eq!(seen["policy"]["max_cost"], 500_000);
    assert_eq!(seen["agent"]["model"], "variable");
    assert_eq!(resolved(&scene, &["--model", "flag"])["agent"]["model"], "flag");
    scene.set("RALPH_MAX_COST", "plenty");
    let answer = dry_run(&scene, &[]);
    assert_eq!(answer.code, 64);
    assert!(
        answer.err.contains("RALPH_MAX_COST must be an amount in dollars above 0, such as 5.0, not `plenty`"),
        "{}",
        answer.err
    );
}

#[test]
fn the_agent_may_come_from_a_variable_and_its_time_from_a_file() {
    let mut scene = Scene::new();
    let text =
        "[run]\nmax_iterations = 2\nmax_cost_usd = 2\ntimeout = \"9m\"\n[agents.sim]\ntimeout = \"5m\"\n";
    scene.scratch.files(&[("ralph.toml", text)]);
    assert_eq!(resolved(&scene, &[])["policy"]["timeout"], 300_000);
    assert_eq!(resolved(&scene, &["--timeout", "7m"])["policy"]["timeout"], 420_000);
    scene.set("RALPH_TIMEOUT", "6m");
    assert_eq!(resolved(&scene, &[])["policy"]["timeout"], 360_000, "a variable stands above every file");
    scene.set("RALPH_AGENT", "nobody");
    assert_eq!(scene.ralph(&["run", "x", "--dry-run"]).code, 64);
    assert_eq!(dry_run(&scene, &[]).code, 64, "a wrong value is refused even where a flag overrides it");
}

#[test]
fn ceilings_hold_whoever_asks_for_more() {
    let scene = Scene::new();
    let own = "[ceilings]\nmax_iterations = 7\n[protect]\npaths = [\"own/\"]\n";
    own_config(&scene, own);
    scene.scratch.files(&[("ralph.toml", "[protect]\npaths = [\"project/\"]\n")]);
    let seen = resolved(&scene, &["--max-iterations", "99", "--max-cost", "1", "--protect", "flag/"]);
    assert_eq!(seen["policy"]["max_iterations"], 7);
    let warning = seen["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("run.max_iterations = 99 is above the ceiling of 7 (set by "), "{warning}");
    let protect: Vec<&str> =
        seen["protect"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
    for path in [".env", "secrets/", "own/", "project/", "flag/"] {
        assert!(protect.contains(&path), "{path}");
    }
}

#[test]
fn a_dry_run_shows_what_would_be_run_and_starts_nothing() {
    let mut scene = Scene::new();
    scene.scratch.files(&[("PROMPT.md", "Do it.\n")]);
    scene.show(&[
        "run",
        "--agent",
        "sim",
        "--max-iterations",
        "99",
        "--max-cost",
        "1",
        "--dry-run",
        "--promise",
        "<promise>DONE</promise>",
    ]);
    assert_eq!(std::fs::read_dir(scene.scratch.state()).unwrap().count(), 0);
    scene.compare("config_dry_run");
}
