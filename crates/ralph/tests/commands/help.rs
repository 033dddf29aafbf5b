//! `--help` of every command: what it does, then examples.

use super::scene::Scene;

/// The groups of `ralph --help`, or the single list of a command with subcommands.
const LISTS: [&str; 7] = ["Run:", "Look:", "Control:", "Prove:", "Settings:", "Other:", "Commands:"];

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let mut listed = false;
    let lines = help.lines().filter(|line| {
        listed = if line.starts_with(' ') { listed } else { LISTS.contains(line) };
        listed && line.starts_with("  ") && !line.starts_with("   ")
    });
    lines.filter_map(|line| line.split_whitespace().next()).map(ToString::to_string).collect()
}

/// One line says what the command does; examples follow.
fn starts_well(help: &str) -> bool {
    let mut lines = help.lines();
    let about = lines.next().unwrap_or_default();
    about.starts_with(char::is_uppercase) && lines.next() == Some("") && lines.next() == Some("Examples:")
}

#[test]
fn every_help_says_what_it_is_about_and_shows_examples() {
    let mut scene = Scene::new();
    let whole = scene.show(&["--help"]).out;
    assert!(starts_well(&whole), "{whole}");
    let commands = commands(&whole);
    assert!(commands.len() >= 30, "{commands:?}");
    for command in commands.iter().map(String::as_str) {
        let help = scene.show(&["help", command]);
        assert!(starts_well(&help.out), "{command}");
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
            assert!(starts_well(&help.out) && help.code == 0, "{command} {inner}");
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
    assert!(starts_well(&answer.err), "{}", answer.err);
}

#[test]
fn the_scripted_agent_tells_its_own_language() {
    let answer = Scene::new().ralph(&["agent-sim", "--help"]);
    assert_eq!(answer.code, 0);
    assert!(answer.out.contains("claim KIND"));
}
