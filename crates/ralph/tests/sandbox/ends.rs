//! However a contained run ends, nobody and nothing of it is left.

use crate::place::{Place, everybody, until};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;

#[test]
fn killing_ralph_leaves_nobody() {
    for who in everybody() {
        let place = Place::new(who);
        let script = "echo on > started.txt; (setsid sleep 300 &) ; sleep 300";
        let mut child = place.run(script, &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the agent has started", || {
            place.scratch.workspace().join("started.txt").exists().then_some(())
        });
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        place.nobody_is_left();
    }
}

#[test]
fn a_stopped_run_ends_its_agent_inside() {
    let place = Place::new(everybody()[0]);
    let script =
        "trap 'echo told > told.txt; exit 0' TERM; echo on > started.txt; while :; do sleep 0.1; done";
    let mut child = place.run(script, &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the agent has started", || place.scratch.workspace().join("started.txt").exists().then_some(()));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
    assert_eq!(place.scratch.read("told.txt"), "told\n");
    place.nobody_is_left();
}

#[test]
fn what_an_agent_leaves_running_is_ended_and_counted() {
    for who in everybody() {
        let place = Place::new(who);
        let done = place.done("echo work > done.txt; setsid sleep 300 >/dev/null 2>&1 & sleep 0.2", &[]);
        place.nobody_is_left();
        assert_eq!(done.result["iterations"], 1, "{}", done.result);
        let output = place.ralph(&["explain"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("1 leftover process stopped"), "{text}");
    }
}

#[test]
fn the_directories_of_a_sandbox_are_deleted() {
    for who in everybody() {
        let place = Place::new(who);
        // A layer shows where it is kept.
        let script = "echo work > done.txt; echo x > ~/.x; mkdir -p /tmp/a/b; chmod 000 /tmp/a/b; \
             grep -o '/[^ ,=]*/ralph-sandbox-[^/]*' /proc/self/mountinfo | sort -u | sed 's/^/kept-in: /'";
        let done = place.done(script, &[]);
        assert_eq!(done.result["iterations"], 1, "{}", done.result);
        let kept =
            done.agent.lines().filter_map(|line| line.split_once("kept-in: ").map(|(_, dir)| dir.trim()));
        let kept: Vec<&str> = kept.collect();
        assert!(!kept.is_empty(), "{who:?}: {}", done.agent);
        assert!(kept.iter().all(|dir| !std::path::Path::new(dir).exists()), "{who:?}: {kept:?} is left");
    }
}

/// What an agent leaves for other programs to run is named; what was there before is not.
#[test]
fn settings_that_other_programs_obey_are_named() {
    let place = Place::new(everybody()[0]);
    place.scratch.files(&[(".idea/old.xml", "x\n")]);
    let script =
        "mkdir -p app/.vscode; echo x > app/.vscode/tasks.json; echo x > .envrc; echo work > done.txt";
    let done = place.done(script, &[]);
    assert_eq!(done.result["iterations"], 1, "{}", done.result);
    let named = serde_json::json!([".envrc", "app/.vscode/tasks.json"]);
    assert_eq!(done.result["details"]["obeyed"], named, "{}", done.result);
}
