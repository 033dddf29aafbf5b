//! `ralph logs`: what was said, done and changed, of runs that are over, under way, or were left.

use super::scene::{Answer, Scene, sim};
use std::process::{Child, Stdio};
use std::time::Duration;

const STORY: &str = "\
[1]
say Looking at the code
write src/a.txt \"one\\ntwo\\n\"
run printf '\\033[31mred\\n'; false
stderr a warning
message First line\\nsecond line
claim complete
[2]
replace src/a.txt two three
write done yes
claim complete
";

fn told() -> Scene {
    let scene = Scene::new();
    let script = scene.scratch.root().join("agent.sim");
    std::fs::write(&script, STORY).unwrap();
    let args = ["run", "Tell", "--agent", "sim", "--max-iterations", "3", "--max-cost", "1", "--verify"];
    let rest = ["echo checking; test -f done", "--", "--script", script.to_str().unwrap()];
    let answer = scene.ralph(&[&args[..], &rest[..]].concat());
    assert_eq!(answer.code, 0, "{}", answer.err);
    scene
}

#[test]
fn a_run_is_told_whole_and_by_iteration() {
    let mut scene = told();
    for args in [
        &["logs"][..],
        &["logs", "--iteration", "1", "--tools"],
        &["logs", "--iteration", "2", "--diff"],
        &["logs", "--diff"],
    ] {
        assert_eq!(scene.show(args).code, 0);
    }
    for args in [
        &["logs", "nowhere"][..],
        &["logs", "--iteration", "9"],
        &["logs", "--iteration", "0"],
        &["logs", "--iteration", "9", "--diff"],
        &["logs", "--raw", "--json"],
        &["logs", "--diff", "--follow"],
    ] {
        assert_eq!(scene.show(args).code, 64);
    }
    scene.compare("logs_told");
}

#[test]
fn raw_is_what_the_agent_printed_and_json_what_run_prints() {
    let scene = told();
    let raw = scene.command(&["logs", "--raw", "--iteration", "1"]).output().unwrap().stdout;
    let folder =
        std::fs::read_dir(scene.scratch.state().join("ralph/runs")).unwrap().next().unwrap().unwrap();
    assert_eq!(raw, std::fs::read(folder.path().join("001.a1.out.jsonl")).unwrap());
    let lines: Vec<serde_json::Value> = scene
        .ralph(&["logs", "--json"])
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["kind"], "run_started");
    assert_eq!(lines.last().unwrap()["type"], "result");
    let tool = lines.iter().find(|line| line["activity"]["what"] == "tool").unwrap();
    assert_eq!((&tool["iteration"], &tool["attempt"]), (&1.into(), &1.into()));
}

#[test]
fn nothing_an_agent_printed_moves_the_cursor() {
    let scene = Scene::new();
    let script = "say \u{1b}[2Jgone\u{7}\u{9b}31m; write a \u{1b}]0\\;title\u{7}; claim none";
    scene.sim("x", &["--max-iterations", "1", "--max-cost", "1"], script);
    for args in [&["logs"][..], &["logs", "--tools"], &["logs", "--diff"]] {
        let out = scene.ralph(args).out;
        assert!(out.contains("gone") || out.contains("title"), "{out}");
        assert!(!out.chars().any(|c| c.is_control() && c != '\n'), "{args:?}: {out:?}");
    }
}

#[test]
fn plain_text_is_told_to_its_last_line_and_a_reader_that_leaves_ends_it() {
    let scene = Scene::new();
    let args = ["run", "x", "--agent", "command", "--max-iterations", "1", "--max-cost", "1", "--"];
    let answer = scene.ralph(&[&args[..], &["sh", "-c", "seq 1 20000"]].concat());
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert!(scene.ralph(&["logs"]).out.contains("\n  20000\n"));
    let mut reader = scene.command(&["logs"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(reader.stdout.take());
    let left = Answer::from(reader.wait_with_output().unwrap());
    assert_eq!((left.code, left.err.as_str()), (0, ""));
}

const SLOW: &str =
    "say Begun; write a.txt x; run until [ -e go ]\\; do sleep 0.05\\; done; say Ended; claim complete";

/// Starts a run and waits until the agent has said something for this many times, and ralph has kept it.
fn begin(scene: &Scene, args: &[&str], times: usize) -> Child {
    let child = scene.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let kept = || scene.ralph(&["logs"]).out.matches("  Begun\n").count();
        scene.scratch.workspace().join("a.txt").exists() && kept() == times
    });
    assert!(begun, "the agent never began");
    child
}

#[test]
fn a_follower_goes_on_to_the_end_also_of_a_run_that_was_taken_up_again() {
    let scene = Scene::new();
    scene.scratch.files(&[("ralph.toml", "[gate]\nask_for_test = 0\n")]);
    let task = sim("Slow", &["--verify", "true"], SLOW);
    let mut first = begin(&scene, &task, 1);
    first.kill().unwrap();
    first.wait().unwrap();
    let left = scene.ralph(&["logs", "--follow"]);
    assert!(left.out.contains("  Begun\n") && left.err.contains("its process is gone"), "{}", left.err);
    std::fs::remove_file(scene.scratch.workspace().join("a.txt")).unwrap();
    let mut again = begin(&scene, &["resume"], 2);
    let follower =
        scene.command(&["logs", "-f"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::fs::write(scene.scratch.workspace().join("go"), "").unwrap();
    assert_eq!(again.wait().unwrap().code(), Some(0));
    let told = Answer::from(follower.wait_with_output().unwrap());
    assert_eq!((told.code, told.out.matches("  Begun\n").count()), (0, 2), "{}", told.out);
    assert!(told.out.contains("  Ended\n") && told.out.contains("end: gate_passed"), "{}", told.out);
}
