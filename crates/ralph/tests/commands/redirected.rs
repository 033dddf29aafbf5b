//! The output of a run that is kept in its own workspace changes the files all the time.

use super::scene::{LIMITS, Scene};
use std::process::Stdio;

/// Runs in a shell, with the output of ralph going where `to` says.
fn run(scene: &Scene, flags: &str, to: &str) -> (i32, String) {
    let script = "write done.txt x; claim complete";
    let limits = LIMITS.join(" ");
    let line = format!(
        "set -o pipefail; \"$RALPH\" run Work --agent sim {limits} {flags} --verify 'test -f done.txt' -- --do '{script}' {to}"
    );
    let mut shell = scene.scratch.command("bash");
    shell.args(["-c", &line]).env("RALPH", env!("CARGO_BIN_EXE_ralph")).stdin(Stdio::null());
    let done = shell.output().unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
}

#[test]
fn a_file_that_ralph_itself_writes_to_is_not_compared() {
    let scene = Scene::new();
    let (code, err) = run(&scene, "--json", "> run.jsonl");
    let records = scene.scratch.read("run.jsonl");
    assert_eq!(code, 0, "{err}\n{records}");
    assert!(records.contains("\"proof\":\"proven\""), "{records}");
    let (code, _) = run(&scene, "", "2> run.txt");
    assert_eq!(code, 0, "{}", scene.scratch.read("run.txt"));
}

#[test]
fn a_log_that_another_program_writes_ends_the_run_too() {
    let scene = Scene::new();
    let (code, err) = run(&scene, "--json", "2>&1 | tee run.log >&2");
    assert!((1..=4).contains(&err.matches("\"kind\":\"compared\"").count()), "{err}");
    // Whether the log grows between a verification and its proof depends on when the other program is let run.
    let named = err.contains("files keep changing while they are verified: run.log; stop");
    assert!(code == 0 || code == 2 && named, "{code}: {err}");
}
