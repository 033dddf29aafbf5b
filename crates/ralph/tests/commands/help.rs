//! `--help` of every command, which starts with examples.

use super::scene::Scene;

const COMMANDS: [&str; 16] = [
    "run",
    "demo",
    "resume",
    "list",
    "status",
    "logs",
    "explain",
    "replay",
    "stop",
    "pause",
    "continue",
    "hint",
    "circuit",
    "analyze",
    "block",
    "agent-sim",
];

#[test]
fn every_help_starts_with_examples_and_looks_so() {
    let mut scene = Scene::new();
    assert!(scene.show(&["--help"]).out.starts_with("Examples:\n"));
    for command in COMMANDS {
        let help = scene.show(&["help", command]);
        assert!(help.out.starts_with("Examples:\n  "), "{command}");
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{command}");
        if command != "agent-sim" {
            assert_eq!(scene.ralph(&[command, "--help"]).out, help.out, "{command}");
            assert_eq!(scene.ralph(&[command, "-h"]).out, help.out, "{command}");
        }
    }
    scene.compare("help");
}

#[test]
fn the_version_is_one_line() {
    let answer = Scene::new().ralph(&["--version"]);
    assert_eq!((answer.code, answer.out), (0, format!("ralph {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn nothing_typed_is_a_usage_error_with_the_help_on_stderr() {
    let answer = Scene::new().ralph::<&str>(&[]);
    assert_eq!((answer.code, answer.out.as_str()), (64, ""));
    assert!(answer.err.starts_with("Examples:\n"));
}

#[test]
fn the_scripted_agent_tells_its_own_language() {
    let answer = Scene::new().ralph(&["agent-sim", "--help"]);
    assert_eq!(answer.code, 0);
    assert!(answer.out.contains("claim KIND"));
}
