//! `ralph shell-lib`, `ralph circuit record` and `--get`: the same script in every shell that loop scripts are written for.

use super::scene::{Scene, sim};
use ralph_testkit::skip;
use serde_json::Value;
use std::process::{Command, Stdio};

const EVERY_FUNCTION: &str = include_str!("shell_lib/every_function.sh");

/// The functions of the three seeds that loop scripts call.
const NAMES: &[&str] = &[
    "ra_init",
    "ra_parse_json",
    "ra_parse_text",
    "ra_extract_status",
    "ra_detect_format",
    "ra_should_exit",
    "ra_detect_stuck_loop",
    "ra_get_work_type",
    "cb_init",
    "cb_get_state",
    "cb_record_success",
    "cb_record_failure",
    "cb_check_progression",
    "cb_evaluate",
    "cb_reset",
    "cb_get_stats",
    "init_circuit_breaker",
    "record_loop_result",
    "should_halt_execution",
    "reset_circuit_breaker",
    "show_circuit_status",
    "analyze_response",
    "update_exit_signals",
    "detect_stuck_loop",
    "log_analysis_summary",
];

/// Runs the script in a workspace that has the library.
fn in_shell(shell: &[&str], script: &str) -> (Option<i32>, String, String) {
    let scene = Scene::new();
    let place = scene.scratch.workspace();
    std::fs::write(place.join("ralph.sh"), scene.ralph(&["shell-lib"]).out).unwrap();
    std::fs::write(place.join("script.sh"), script).unwrap();
    // The environment of a real command, so that state and settings are the scene's own.
    let ralph = scene.command::<&str>(&[]);
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).arg("script.sh").current_dir(&place).stdin(Stdio::null());
    command.env_clear();
    for (name, value) in ralph.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("ralph_program", ralph.get_program());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn every_function_in(shell: &[&str]) {
    let there = Command::new(shell[0]).arg("--help").stderr(Stdio::null()).stdout(Stdio::null()).status();
    if there.is_err() {
        return skip(&format!("{} is not installed", shell[0]));
    }
    let (code, out, err) = in_shell(shell, EVERY_FUNCTION);
    assert_eq!((code, out.lines().last()), (Some(0), Some("every function was called")), "{out}{err}");
}

#[test]
fn every_function_works_in_dash() {
    every_function_in(&["dash"]);
}

#[test]
fn every_function_works_in_bash() {
    every_function_in(&["bash"]);
}

#[test]
fn every_function_works_in_busybox() {
    every_function_in(&["busybox", "sh"]);
}

#[test]
fn every_name_of_the_seeds_is_defined_and_called() {
    let library = Scene::new().ralph(&["shell-lib"]).out;
    for name in NAMES {
        assert!(library.contains(&format!("\n{name}() {{")), "{name} is not defined");
        assert!(EVERY_FUNCTION.contains(name), "{name} is not called");
    }
}

#[test]
fn a_missing_ralph_is_an_error_of_the_function() {
    let script = "set -u\n. ./ralph.sh\nralph_program=/nowhere/ralph\ncb_init 2>/dev/null; echo $?\n\
                  should_halt_execution 2>/dev/null; echo $?\n";
    let (code, out, _) = in_shell(&["sh"], script);
    assert_eq!((code, out.as_str()), (Some(0), "127\n2\n"));
}

#[test]
fn one_value_is_printed_for_scripts() {
    let scene = Scene::new();
    std::fs::write(scene.scratch.workspace().join("a.txt"), "Nothing yet.\n").unwrap();
    for (key, printed) in [
        ("exit_decision", "continue\n"),
        ("ralph_status.status", "\n"),
        ("ralph_status.found", "false\n"),
        ("text", "Nothing yet.\n"),
        ("lints.0.code", "no_block\n"),
        ("failure.class", "\n"),
    ] {
        let answer = scene.ralph(&["analyze", "a.txt", "--get", key]);
        assert_eq!((answer.code, answer.out.as_str()), (0, printed), "{key}: {}", answer.err);
    }
    let answer = scene.ralph(&["analyze", "a.txt", "--get", "exit_decison"]);
    assert_eq!((answer.code, answer.out.as_str()), (64, ""), "{}", answer.err);
    assert!(answer.err.contains("did you mean `exit_decision`?"), "{}", answer.err);
}

#[test]
fn an_open_breaker_of_a_script_keeps_runs_from_starting_until_it_is_reset() {
    let scene = Scene::new();
    for _ in 0..4 {
        let answer = scene.ralph(&["circuit", "record", "--files", "0", "--error", "error: no such file"]);
        assert_eq!(answer.code, 0, "{}", answer.err);
    }
    let refused = scene.sim("Write it", &["--verify", "true"], "write a hi; claim complete");
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(
        refused.err.contains("ralph circuit record") && refused.err.contains("no such file"),
        "{}",
        refused.err
    );
    let status: Value = serde_json::from_str(&scene.ralph(&["circuit", "status", "--json"]).out).unwrap();
    assert_eq!((&status["state"], &status["open"]["run"]), (&"OPEN".into(), &Value::Null));
    assert_eq!(status["loops"]["withoutProgress"], 4);
    assert_eq!(scene.ralph(&["circuit", "reset"]).code, 0);
    let done = scene.ralph(&sim("Write it", &["--verify", "true"], "write a hi; claim complete"));
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn two_scripts_that_record_at_once_lose_nothing() {
    let scene = Scene::new();
    scene.ralph(&["circuit", "record", "--files", "1"]);
    let record =
        || scene.command(&["circuit", "record", "--files", "1"]).stdout(Stdio::null()).spawn().unwrap();
    let all: Vec<_> = (0..6).map(|_| record()).collect();
    for mut one in all {
        assert!(one.wait().unwrap().success());
    }
    assert_eq!(scene.ralph(&["circuit", "status", "--get", "loops.recorded"]).out, "7\n");
}
