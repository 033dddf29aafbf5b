//! What happens before the first call: where ralph works, what the task is, and what a dry run shows.

use super::scene::{Answer, LIMITS, Scene, sim};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

/// A script that would complete the run.
const WORK: &str = "write done.txt x; claim complete";

fn git_init(scene: &Scene) {
    assert!(scene.scratch.command("git").args(["init", "-q"]).status().unwrap().success());
}

/// A repository with a ralph.toml at its root and a directory deep inside.
fn repository() -> (Scene, PathBuf) {
    let scene = Scene::new();
    git_init(&scene);
    let deep = scene.scratch.workspace().join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let config =
        "[run]\nmax_iterations = 3\nmax_cost_usd = 1.0\n[verify]\ncommands = [\"test -f done.txt\"]\n";
    std::fs::write(scene.scratch.workspace().join("ralph.toml"), config).unwrap();
    (scene, deep)
}

fn typed_in(scene: &Scene, dir: &PathBuf, args: &[&str]) -> Answer {
    scene.command(args).current_dir(dir).output().unwrap().into()
}

fn fed(scene: &Scene, args: &[&str], input: &str) -> Answer {
    let mut command = scene.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_ralph_toml_is_found_from_any_directory_of_the_repository() {
    let (scene, deep) = repository();
    let root = scene.scratch.workspace().canonicalize().unwrap();
    let run = ["run", "Work", "--agent", "sim", "--", "--do", WORK];
    let answer = typed_in(&scene, &deep, &run);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.err.starts_with(&format!("Working in {} ", root.display())), "{}", answer.err);
    assert!(root.join("done.txt").exists() && !deep.join("done.txt").exists());
    for command in
        [&["list", "--json"][..], &["status", "--json"], &["logs"], &["explain"], &["undo", "--dry-run"]]
    {
        let there = typed_in(&scene, &deep, command);
        assert_eq!((there.code, there.out), (0, scene.ralph(command).out), "{command:?}: {}", there.err);
    }
    let exact = typed_in(&scene, &deep, &["list", "--json", "-C", "."]);
    assert_eq!(exact.out.trim(), "[]", "-C names the directory itself");
}

#[test]
fn runs_of_an_enclosing_workspace_are_found_without_a_config() {
    let scene = Scene::new();
    let deep = scene.scratch.workspace().join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    assert_eq!(scene.sim("Work", &["--verify", "test -f done.txt"], WORK).code, 0);
    assert_eq!(typed_in(&scene, &deep, &["status"]).out, scene.ralph(&["status"]).out);
    let run = sim("Here", &["--verify", "test -f done.txt"], WORK);
    assert_eq!(typed_in(&scene, &deep, &run).code, 0);
    assert!(deep.join("done.txt").exists(), "without a ralph.toml a run works where it is typed");
}

#[test]
fn files_are_named_relative_to_where_they_are_typed() {
    let (scene, deep) = repository();
    std::fs::write(deep.join("task.md"), "The task of b\n").unwrap();
    let run = ["run", "--prompt", "task.md", "--agent", "sim", "--", "--do", WORK];
    let answer = typed_in(&scene, &deep, &run);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let runs: Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
    assert_eq!(runs[0]["task"], "The task of b");
}

#[test]
fn init_says_where_it_writes() {
    let (scene, deep) = repository();
    let answer = typed_in(&scene, &deep, &["init", "--yes"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let root = scene.scratch.workspace().canonicalize().unwrap();
    let said =
        format!("Setting up {}, a part of the repository {}", root.join("a/b").display(), root.display());
    assert!(answer.err.contains(&said), "{}", answer.err);
    assert!(answer.err.contains("ralph.toml exists. A ralph.toml here replaces it"), "{}", answer.err);
    assert!(deep.join("ralph.toml").exists());
}

#[test]
fn the_task_can_come_from_stdin() {
    let task = "Fix the parser\n\nIt loses comments.\n".to_owned() + &"More to read.\n".repeat(200);
    for typed in [&["run", "-"][..], &["run", "--prompt", "-"]] {
        let scene = Scene::new();
        let args = [typed, &LIMITS, &["--agent", "sim", "--verify", "test -f done.txt", "--", "--do", WORK]]
            .concat();
        let answer = fed(&scene, &args, &task);
        assert_eq!(answer.code, 0, "{}", answer.err);
        assert!(!answer.err.contains("More to read"), "a long task is not printed");
        let runs: Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
        assert_eq!(runs[0]["task"], "Fix the parser");
        let explained = scene.ralph(&["explain", "--prompt"]);
        assert!(explained.out.contains("It loses comments."), "{}", explained.out);
    }
    let scene = Scene::new();
    let empty = fed(&scene, &[&["run", "-"][..], &LIMITS, &["--agent", "sim"]].concat(), " \n");
    assert_eq!(empty.code, 64);
    assert!(empty.err.starts_with("error: the task from stdin is empty"), "{}", empty.err);
}

#[test]
fn a_task_from_stdin_reaches_a_run_in_the_background() {
    let scene = Scene::new();
    let args = [&["run", "-", "--detach"][..], &LIMITS, &["--agent", "sim", "--", "--do", WORK]].concat();
    let answer = fed(&scene, &args, "Fix the parser\n");
    assert_eq!(answer.code, 0, "{}", answer.err);
    let runs: Value = serde_json::from_str(&scene.ralph(&["list", "--json"]).out).unwrap();
    assert_eq!(runs[0]["task"], "Fix the parser");
    let ended = (0..1200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let status: Value = serde_json::from_str(&scene.ralph(&["status", "--json"]).out).unwrap();
        !status["result"].is_null()
    });
    assert!(ended, "the run ends");
}

#[test]
fn a_dry_run_shows_the_agents_whole_command_line() {
    let scene = Scene::new();
    let args = sim("Work", &["--verify", "true", "--max-time", "2h", "--dry-run"], WORK);
    let text = scene.ralph(&args).out;
    for words in [
        &format!("agent-sim --do '{WORK}' < PROMPT")[..],
        "permissions     what its script says",
        "sandbox         none",
        "time limits     2 h per run, 15 min per call, 5 min without output, 10 min per verify command",
        "rate limit      100 calls per hour",
        "estimate        unknown (no earlier run here); $0.50 is reserved per call, $1.00 is the most",
    ] {
        assert!(text.contains(words), "{words} is not in:\n{text}");
    }
    assert_eq!(scene.sim("Work", &["--verify", "test -f done.txt"], WORK).code, 0);
    let text = scene.ralph(&args).out;
    assert!(text.contains("estimate        about $") && text.contains("(from 1 run)"), "{text}");
}

#[test]
fn checks_that_already_pass_are_warned_of() {
    let scene = Scene::new();
    let answer = scene.sim("Work", &["--verify", "true"], WORK);
    assert!(answer.err.contains("  ! your checks already pass"), "{}", answer.err);
}

#[test]
fn the_scripted_agent_plays_the_demo_without_a_script() {
    let scene = Scene::new();
    let args = [&["run", "Work", "--agent", "sim", "--verify", "false"][..], &LIMITS].concat();
    let answer = scene.ralph(&args);
    assert_eq!(answer.code, 3, "{}", answer.err);
    let logs = scene.ralph(&["logs"]);
    assert!(logs.out.contains("Titles have capital letters"), "{}", logs.out);
}
