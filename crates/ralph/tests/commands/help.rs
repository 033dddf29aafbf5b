//! `--help` of every command, which starts with examples.

use super::scene::Scene;

/// The commands that `ralph --help` lists.
fn commands(help: &str) -> Vec<String> {
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let heads = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    heads.filter_map(|line| line.split_whitespace().next()).map(ToString::to_string).collect()
}

#[test]
fn every_help_starts_with_examples_and_looks_so() {
    let mut scene = Scene::new();
    let whole = scene.show(&["--help"]).out;
    assert!(whole.starts_with("Examples:\n"));
    let commands = commands(&whole);
    assert!(commands.len() >= 20, "{commands:?}");
    for command in commands.iter().map(String::as_str) {
        let help = scene.show(&["help", command]);
        assert!(help.out.starts_with("Examples:\n  "), "{command}");
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{command}");
        if command != "agent-sim" {
            assert_eq!(scene.ralph(&[command, "--help"]).out, help.out, "{command}");
            assert_eq!(scene.ralph(&[command, "-h"]).out, help.out, "{command}");
        }
    }
    for command in commands.iter().map(String::as_str).filter(|command| *command != "agent-sim") {
        for inner in
            self::commands(&scene.ralph(&["help", command]).out).iter().filter(|inner| *inner != "help")
        {
            let help = scene.show(&[command, inner, "--help"]);
            assert!(help.out.starts_with("Examples:\n  ") && help.code == 0, "{command} {inner}");
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
