//! The views: what other programs find in `.ralph/`, and what happens where they cannot be written.

use super::scene::{Scene, sim};
use ralph_testkit::{Scratch, tidy};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::Duration;

const TWO: &str = "\
[1]
write src/a.txt one
commit First
claim progress
[2]
write done yes
claim complete
";

fn two(scene: &Scene) -> super::scene::Answer {
    let script = scene.scratch.root().join("agent.sim");
    std::fs::write(&script, TWO).unwrap();
    let args = ["run", "Two", "--agent", "sim", "--max-iterations", "3", "--max-cost", "1", "--verify"];
    scene.ralph(&[&args[..], &["test -f done", "--", "--script", script.to_str().unwrap()]].concat())
}

fn view(scene: &Scene, path: &str) -> Value {
    serde_json::from_str(&scene.scratch.read(path)).unwrap()
}

#[test]
fn the_views_of_a_run_have_the_contracts_shapes() {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    assert_eq!(two(&scene).code, 0);
    let mut text = String::new();
    for name in ["status", "progress", "session", "analysis"] {
        text += &format!("{name}.json\n{}\n", scene.scratch.read(&format!(".ralph/{name}.json")));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("views", tidy(&text)));
    assert_eq!(scene.scratch.read(".ralph/.gitignore"), "*\n");
    assert_eq!(scene.scratch.git(&["status", "--porcelain"]), "?? done");
    assert_eq!(view(&scene, ".ralph/session.json")["total_commits"], 1);
}

#[test]
fn a_run_that_is_taken_up_again_goes_on_with_its_views() {
    let scene = Scene::new();
    let limits = ["--max-iterations", "1", "--max-cost", "1", "--verify", "false"];
    assert_eq!(scene.sim("On", &limits, "append a.txt x; claim progress").code, 3);
    std::fs::remove_dir_all(scene.scratch.workspace().join(".ralph")).unwrap();
    assert_eq!(scene.ralph(&["resume", "--max-iterations", "3"]).code, 3);
    let session = view(&scene, ".ralph/session.json");
    let numbers: Vec<_> =
        session["iterations"].as_array().unwrap().iter().map(|i| i["number"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(view(&scene, ".ralph/status.json")["exit_reason"], "MAX_ITERATIONS");
}

#[test]
fn progress_tells_what_is_done_now() {
    let scene = Scene::new();
    let script = "write src/a.txt x; run until [ -e go ]\\; do sleep 0.05\\; done; claim complete";
    let mut command = scene.command(&sim("Slow", &["--verify", "true"], script));
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let path = scene.scratch.workspace().join(".ralph/progress.json");
    let seen = (0..1200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let now: Value = serde_json::from_slice(&std::fs::read(&path).ok()?).expect("whole at any moment");
        let does = now["last_activity"].as_str().unwrap_or_default().starts_with("Bash until");
        does.then_some(now)
    });
    std::fs::write(scene.scratch.workspace().join("go"), "").unwrap();
    assert!(run.wait().unwrap().success());
    let seen = seen.expect("the tool is named while it runs");
    assert_eq!((&seen["status"], &seen["iteration"]), (&"RUNNING".into(), &1.into()));
    assert_eq!(view(&scene, ".ralph/progress.json")["status"], "COMPLETED");
}

#[test]
fn where_views_cannot_be_written_the_run_goes_on_with_one_warning() {
    let elsewhere = tempfile::tempdir().unwrap();
    for link in [true, false] {
        let scene = Scene::new();
        let ralph = scene.scratch.workspace().join(".ralph");
        if link {
            symlink(elsewhere.path(), &ralph).unwrap();
        } else {
            std::fs::write(&ralph, "").unwrap();
        }
        let answer = two(&scene);
        assert_eq!(answer.code, 0, "{}", answer.err);
        assert_eq!(answer.err.matches("status files cannot be written").count(), 1, "{}", answer.err);
    }
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing outside the workspace");
}

#[test]
fn moved_views_are_nobodys_work() {
    let scene = Scene::new();
    let toml = "[views]\nsession = \".ralph-session.json\"\nstatus = \".claude/metrics/status.json\"\n\
        metrics = \".claude/metrics/ralph-loops.jsonl\"\nreport = \".claude/metrics\"\n";
    scene.scratch.files(&[("ralph.toml", toml)]);
    let idle = ["--max-iterations", "9", "--max-cost", "5"];
    let answer = scene.sim("Stand still", &idle, "message Nothing; claim none");
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert!(answer.err.contains("STALL") && answer.err.contains("none changed"), "{}", answer.err);
    assert_eq!(view(&scene, ".ralph-session.json")["iterations"].as_array().unwrap().len(), 4);
    let status = view(&scene, ".claude/metrics/status.json");
    assert_eq!((&status["exit_reason"], &status["breaker"]["state"]), (&"STALL".into(), &"OPEN".into()));
    assert!(scene.scratch.read(".claude/metrics/ralph-loops.jsonl").contains("\"abortReason\":\"STALL\""));
    for moved in [".ralph/session.json", ".ralph/metrics"] {
        assert!(!scene.scratch.workspace().join(moved).exists(), "{moved}");
    }
}

#[test]
fn a_view_never_lies_over_something_else() {
    let mut scene = Scene::new();
    scene.scratch.files(&[("package.json", "{}")]);
    for path in
        ["package.json", "../s.json", "/tmp/s.json", "src/main.rs", "secrets/s.json", ".ralph/status.json"]
    {
        scene.scratch.files(&[("ralph.toml", &format!("[views]\nsession = \"{path}\"\n"))]);
        let args = sim("x", &[], "claim complete");
        assert_eq!(scene.show(&args).code, 78, "{path}");
    }
    assert_eq!(scene.scratch.read("package.json"), "{}");
    scene.compare("views_mistakes");
}
