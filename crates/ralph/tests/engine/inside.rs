//! Commands that only people may use, typed inside a run.

use crate::bed::{Bed, Done};
use std::fs;

const FOR_PEOPLE: [&str; 15] = [
    "attach",
    "watch",
    "hint 'stop testing'",
    "stop",
    "pause",
    "continue",
    "undo --yes",
    "accept",
    "reject --yes",
    "circuit reset",
    "config edit",
    "prune --yes",
    "redact",
    "doctor --restore",
    "doctor --repair",
];

/// Runs each command inside a run and returns its exit code and what it printed to stderr.
fn typed_inside(bed: &Bed, prefix: &str, commands: &[&str]) -> Vec<(String, String)> {
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let mut script = String::new();
    for (n, command) in commands.iter().enumerate() {
        script +=
            &format!("run w=$PWD; {prefix} {ralph} {command} 2>$w/err{n} >/dev/null; echo $? >$w/code{n}\n");
    }
    bed.script(&format!("{script}write done.txt yes\nclaim complete"));
    bed.done(&["--verify", "test -f done.txt"]).ends(0, "gate_passed");
    let read = |name: String| bed.scratch.read(&name);
    (0..commands.len()).map(|n| (read(format!("code{n}")), read(format!("err{n}")))).collect()
}

fn without_mark(bed: &Bed) -> String {
    let state = bed.scratch.state();
    format!("env -i PATH=$PATH EDITOR=true XDG_STATE_HOME={} XDG_CONFIG_HOME=$PWD", state.display())
}

#[test]
fn they_refuse_with_one_line_whether_or_not_the_mark_was_dropped() {
    let bed = Bed::git("");
    for prefix in ["env EDITOR=true".to_string(), without_mark(&bed)] {
        for (command, (code, err)) in FOR_PEOPLE.iter().zip(typed_inside(&bed, &prefix, &FOR_PEOPLE)) {
            assert_eq!(code, "64\n", "{command}: {err}");
            assert!(err.contains("cannot be used inside a run"), "{command}: {err}");
            assert_eq!(err.lines().count(), 1, "{command}: {err}");
        }
        fs::remove_file(bed.scratch.workspace().join("done.txt")).unwrap();
    }
}

#[test]
fn commands_that_only_look_answer() {
    let bed = Bed::git("");
    let looking =
        ["status", "list", "logs", "explain", "config show", "circuit status", "doctor", "help safety"];
    for (command, (code, err)) in looking.iter().zip(typed_inside(&bed, "", &looking)) {
        assert!(!err.contains("inside a run") && code != "64\n", "{command}: {code}{err}");
    }
}

#[test]
fn a_state_directory_of_its_own_is_another_matter() {
    let bed = Bed::git("");
    let own = "mkdir -p ../own/work; cd ../own/work; env -u RALPH_RUN XDG_STATE_HOME=$PWD/../state";
    let run = "run Work --agent sim --max-iterations 1 --max-cost 1 --verify true -- --do 'claim progress'";
    let answers = typed_inside(&bed, own, &[run, "stop", "prune --yes"]);
    assert!(answers.iter().all(|(_, err)| !err.contains("inside a run")), "{answers:?}");
    let codes: Vec<&str> = answers.iter().map(|(code, _)| code.trim()).collect();
    assert_eq!(codes, ["3", "64", "0"], "{answers:?}");
    assert_eq!(Done::of(&mut bed.ralph(&["prune", "--yes"])).code, 0, "a person's terminal");
}
