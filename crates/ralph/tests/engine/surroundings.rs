//! Where ralph runs: screens that go away, directories that cannot be used, verification that never ends.

use crate::bed::{Bed, Done};
use std::process::Stdio;

const WORKS: &str = "write done.txt yes\nclaim complete";
const GREEN: [&str; 2] = ["--verify", "test -f done.txt"];

#[test]
fn a_closed_screen_never_ends_a_run() {
    let bed = Bed::git(WORKS);
    let mut child =
        bed.run(&GREEN).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(Done::of(&mut bed.ralph(&["status"])).out.contains("COMPLETED"));
}

#[test]
fn a_state_directory_that_cannot_be_made_is_a_plain_word() {
    let bed = Bed::git(WORKS);
    let taken = bed.scratch.root().join("taken");
    std::fs::write(&taken, "a file").unwrap();
    let done = Done::of(bed.run(&GREEN).env("XDG_STATE_HOME", &taken));
    assert!([73, 74].contains(&done.code), "{} {}", done.code, done.err);
    assert!(done.err.contains(&*taken.to_string_lossy()) && done.err.contains("because"), "{}", done.err);
    assert!(done.result()["runId"].is_null());
}

#[test]
fn a_read_only_state_directory_is_a_plain_word() {
    let bed = Bed::git(WORKS);
    // Also root cannot make anything there.
    let done = Done::of(bed.run(&GREEN).env("XDG_STATE_HOME", "/proc/ralph"));
    assert!([73, 74].contains(&done.code), "{} {}", done.code, done.err);
    assert!(done.err.contains("/proc/ralph"), "{}", done.err);
}

#[test]
fn a_baseline_that_never_ends_is_a_wrong_configuration() {
    let bed = Bed::git(WORKS);
    bed.scratch.files(&[("ralph.toml", "[verify]\ntimeout = \"2s\"\n")]);
    let done = bed.done(&["--verify", "sleep 600"]);
    assert_eq!(done.code, 78, "{}", done.err);
    assert!(done.err.contains("sleep 600"), "{}", done.err);
    assert!(done.records("call_ended").is_empty(), "no agent was called");
    bed.nobody_is_left();
}

#[test]
fn a_verification_that_the_agent_made_endless_has_failed() {
    let bed =
        Bed::git("[1]\nwrite slow yes\nwrite done.txt yes\nclaim complete\n[*]\ndelete slow\nclaim complete");
    bed.scratch.files(&[("ralph.toml", "[verify]\ntimeout = \"2s\"\n")]);
    let done = bed.done(&["--verify", "if [ -e slow ]; then sleep 600; fi; test -f done.txt"]);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    let in_workspace = |v: &&serde_json::Value| v["room"].is_null();
    let verified = done.records("verified");
    let how: Vec<_> = verified.iter().filter(in_workspace).map(|v| v["results"][0]["how"].clone()).collect();
    assert_eq!(how, ["failed", "timed_out", "passed"]);
    bed.nobody_is_left();
}

#[test]
fn every_command_is_run_and_all_must_pass() {
    let bed = Bed::git("[1]\nwrite one yes\nclaim complete\n[*]\nwrite two yes\nclaim complete");
    let done = bed.done(&["--verify", "test -f two", "--verify", "test -f one"]);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 2);
    let how = |n: usize| {
        let results = done.records("verified")[n]["results"].clone();
        results.as_array().unwrap().iter().map(|r| r["how"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (how(0), how(1), how(2)),
        (row("failed", "failed"), row("failed", "passed"), row("passed", "passed"))
    );
}

fn row(one: &str, two: &str) -> Vec<String> {
    vec![one.into(), two.into()]
}

#[test]
fn a_directory_without_git_works_too() {
    let bed = Bed::plain(WORKS);
    let done = bed.done(&GREEN);
    done.ends(0, "gate_passed");
    assert!(done.records("inspected")[0]["head"].is_null());
}

#[test]
fn the_task_may_lie_in_prompt_md() {
    let bed = Bed::git(WORKS);
    bed.scratch.files(&[("PROMPT.md", "Make done.txt\n")]);
    let done = Done::of(&mut bed.run_without_task(&GREEN));
    done.ends(0, "gate_passed");
    assert_eq!(done.records("run_started")[0]["prompt"], "Make done.txt\n");
}

#[test]
fn a_workspace_that_the_agent_deleted_is_seen() {
    let bed = Bed::git("[1]\ndelete kept.txt\nclaim progress\n[*]\nwrite done.txt yes\nclaim complete");
    bed.scratch.files(&[("kept.txt", "here\n")]);
    let done = bed.done(&GREEN);
    done.ends(0, "gate_passed");
    assert_eq!(done.records("inspected")[0]["changed"][0], "kept.txt");
}
