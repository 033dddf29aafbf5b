//! `ralph doctor`: every row with its remedy, exit codes that say what a run would meet, nothing written.

use super::init::only_installed;
use super::scene::{Answer, Scene};
use serde_json::Value;
use std::fs;

fn rows(answer: &Answer) -> Vec<Value> {
    let value: Value = serde_json::from_str(&answer.out).unwrap();
    value["rows"].as_array().unwrap().clone()
}

fn row(answer: &Answer, name: &str) -> Value {
    rows(answer)
        .into_iter()
        .find(|row| row["name"] == name)
        .unwrap_or_else(|| panic!("no row {name}: {}", answer.out))
}

/// Facts that differ from machine to machine are left out of what is compared.
fn comparable(text: &str) -> String {
    let keep = |line: &&str| {
        !["disk", "clock", "git", "sandbox"].iter().any(|name| line.contains(&format!("  {name} ")))
    };
    text.lines().filter(keep).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_machine_in_order_is_told_so_and_nothing_is_written() {
    let mut scene = Scene::new();
    only_installed(&mut scene, &["claude"]);
    scene.set("ANTHROPIC_API_KEY", "sk-ant-very-secret");
    scene.scratch.files(&[("ralph.toml", "[run]\nmax_iterations = 3\nmax_cost_usd = 1\n")]);
    let answer = scene.ralph(&["doctor"]);
    assert_eq!(answer.code, 0, "{}", answer.out);
    assert!(answer.out.contains("credentials: ANTHROPIC_API_KEY"), "{}", answer.out);
    assert!(!answer.out.contains("very-secret"));
    let text = comparable(&answer.out);
    for wanted in
        ["ok    config", "ok    claude", "ok    state", "ok    database     none yet", "Ready to run"]
    {
        assert!(text.contains(wanted), "{wanted}: {}", answer.out);
    }
    assert_eq!(fs::read_dir(scene.scratch.state()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn what_would_stop_a_run_is_bad_with_the_code_it_would_have() {
    let mut scene = Scene::new();
    only_installed(&mut scene, &["codex"]);
    let answer = scene.ralph(&["doctor", "--json"]);
    assert_eq!((answer.code, row(&answer, "agent")["state"].as_str()), (69, Some("bad")), "{}", answer.out);
    assert!(row(&answer, "agent")["remedy"].as_str().unwrap().contains("npm install"), "{}", answer.out);
    assert!(row(&answer, "codex")["fact"].as_str().unwrap().contains("no credentials found"));
    assert_eq!(row(&answer, "config")["state"], "warn");
    scene.scratch.files(&[("ralph.toml", "[run]\nmax_iteration = 3\n")]);
    let answer = scene.ralph(&["doctor", "--json"]);
    assert_eq!((answer.code, row(&answer, "config")["state"].as_str()), (78, Some("bad")));
    for row in rows(&answer) {
        assert!(row["state"] == "ok" || row["remedy"].is_string(), "{row}");
    }
}

#[test]
fn credentials_are_looked_for_in_files_too() {
    let mut scene = Scene::new();
    only_installed(&mut scene, &["claude"]);
    let dir = scene.scratch.root().join("home/.claude");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(".credentials.json"), "secret").unwrap();
    let answer = scene.ralph(&["doctor", "--json"]);
    assert!(row(&answer, "claude")["fact"].as_str().unwrap().contains("~/.claude/.credentials.json"));
}

#[test]
fn lists_that_disagree_with_the_journal_are_made_anew() {
    let scene = Scene::new();
    assert_eq!(scene.sim("x", &["--verify", "true"], "write a hi; claim complete").code, 0);
    let before = scene.ralph(&["list", "--json"]).out;
    let status = scene.ralph(&["status", "--json"]).out;
    let database = rusqlite::Connection::open(scene.scratch.state().join("ralph/ralph.db")).unwrap();
    database.execute_batch("update run set status = 'LOST', cost_micro = 0; delete from iteration").unwrap();
    drop(database);
    let answer = scene.ralph(&["doctor", "--json"]);
    assert_eq!(row(&answer, "lists")["state"], "warn", "{}", answer.out);
    assert_ne!(scene.ralph(&["list", "--json"]).out, before);
    let repaired = scene.ralph(&["doctor", "--repair", "--json"]);
    let value: Value = serde_json::from_str(&repaired.out).unwrap();
    assert_eq!(value["repaired"].as_array().unwrap().len(), 1, "{}", repaired.out);
    assert_eq!(
        (scene.ralph(&["list", "--json"]).out, scene.ralph(&["status", "--json"]).out),
        (before, status)
    );
    assert!(scene.ralph(&["doctor", "--repair", "--full"]).out.contains("Nothing to repair."));
}

#[test]
fn a_database_that_is_none_is_bad() {
    let scene = Scene::new();
    let dir = scene.scratch.state().join("ralph");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("ralph.db"), "this is no database, but long enough to be taken for one".repeat(20))
        .unwrap();
    let answer = scene.ralph(&["doctor", "--json"]);
    assert_eq!(row(&answer, "database")["state"], "bad", "{}", answer.out);
    let nowhere =
        scene.command(&["doctor"]).env_remove("HOME").env_remove("XDG_STATE_HOME").output().unwrap();
    assert!(String::from_utf8_lossy(&nowhere.stdout).contains("neither HOME nor XDG_STATE_HOME is set"));
}

#[test]
fn a_repository_in_which_git_would_hang_is_told_with_what_to_do() {
    let scene = Scene::new();
    let git = scene.scratch.workspace().join(".git");
    for dir in ["refs", "objects"] {
        std::fs::create_dir_all(git.join(dir)).unwrap();
    }
    assert!(std::process::Command::new("mkfifo").arg(git.join("HEAD")).status().unwrap().success());
    let out = scene.ralph(&["doctor"]).out;
    assert!(out.contains("git cannot read this repository: .git/HEAD is a FIFO"), "{out}");
    assert!(out.contains("remove it or restore the original file; until then git commands hang"), "{out}");
}

/// Limits, so that nothing else is wrong with the settings.
const LIMITS: &str = "[run]\nmax_iterations = 3\nmax_cost_usd = 1\n[agent]\nname = \"sim\"\n";

#[test]
fn a_missing_verify_program_and_a_mistyped_agent_are_found() {
    let scene = Scene::new();
    scene.scratch.files(&[(
        "ralph.toml",
        &format!("{LIMITS}[verify]\ncommands = [\"CI=1 no-such-tool test\", \"true\"]\n"),
    )]);
    let answer = scene.ralph(&["doctor", "--json"]);
    let verify = row(&answer, "verify");
    assert_eq!((answer.code, verify["state"].as_str()), (78, Some("bad")), "{}", answer.out);
    assert!(
        verify["fact"].as_str().unwrap().contains("cannot run: `no-such-tool` is not installed"),
        "{verify}"
    );
    scene
        .scratch
        .files(&[("ralph.toml", &format!("{LIMITS}[verify]\ncommands = [\"$TOOL x\", \"PATH=bin x\"]\n"))]);
    assert_eq!(row(&scene.ralph(&["doctor", "--json"]), "verify")["state"], "ok");
    scene.scratch.files(&[("ralph.toml", "[agent]\nname = \"cluade\"\n")]);
    let answer = scene.ralph(&["doctor", "--json"]);
    assert_eq!(answer.code, 78, "{}", answer.out);
    assert_eq!(row(&answer, "config")["remedy"], "did you mean \"claude\"?");
    assert!(rows(&answer).iter().all(|row| row["name"] != "agent"), "it is not known which: {}", answer.out);
}

#[test]
fn a_newer_database_stops_a_run_at_once_and_is_found() {
    let scene = Scene::new();
    assert_eq!(scene.sim("x", &["--verify", "true"], "write a hi; claim complete").code, 0);
    let database = rusqlite::Connection::open(scene.scratch.state().join("ralph/ralph.db")).unwrap();
    database.execute_batch("pragma user_version = 99").unwrap();
    drop(database);
    let answer = scene.ralph(&["doctor", "--json"]);
    let found = row(&answer, "database");
    assert_eq!((answer.code, found["state"].as_str()), (74, Some("bad")), "{}", answer.out);
    assert!(found["remedy"].as_str().unwrap().starts_with("update ralph"), "{found}");
    let run = scene.sim("y", &["--verify", "true"], "write b hi; claim complete");
    assert!(
        run.code == 74 && run.err.contains("error: a newer version of ralph wrote the database"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("as the agent left it"), "{}", run.err);
    assert_eq!(scene.ralph(&["list"]).code, 0, "it can still be read");
}

#[test]
fn the_worst_of_several_problems_decides_the_exit_code() {
    let mut scene = Scene::new();
    only_installed(&mut scene, &[]);
    assert_eq!(scene.ralph(&["doctor"]).code, 69, "no agent");
    scene.set("XDG_STATE_HOME", "/dev/null");
    let answer = scene.ralph(&["doctor", "--json"]);
    assert_eq!((answer.code, row(&answer, "agent")["state"].as_str()), (74, Some("bad")), "{}", answer.out);
    assert!(row(&answer, "state")["fact"].as_str().unwrap().starts_with("cannot write to /dev/null/ralph: "));
}
