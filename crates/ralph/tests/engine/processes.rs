//! Agents that do not end as they should. Whatever they do, the call closes, the iteration counts, and nobody is left.

use crate::bed::{Bed, Done};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const ONE: [&str; 2] = ["--max-iterations", "1"];

#[test]
fn a_silent_agent_is_ended_and_its_work_is_kept() {
    let bed = Bed::git("write half.txt half\nhang");
    let done = bed.done(&["--max-iterations", "1", "--idle-timeout", "4s"]);
    assert_eq!(done.ends(3, "MAX_ITERATIONS")["iterations"], 1);
    assert_eq!(done.call()["ended_by"], "silence");
    assert_eq!(done.call()["failure"]["class"], "aborted");
    assert_eq!(bed.scratch.read("half.txt"), "half\n");
    bed.nobody_is_left();
}

#[test]
fn a_call_past_its_time_is_ended() {
    let bed = Bed::git("hang");
    let done = bed.done(&["--max-iterations", "1", "--timeout", "500ms"]);
    assert_eq!(done.ends(3, "MAX_ITERATIONS")["iterations"], 1);
    assert_eq!(done.call()["ended_by"], "deadline");
    bed.nobody_is_left();
}

#[test]
fn a_run_past_its_time_ends() {
    let bed = Bed::git("hang");
    let done = bed.done(&["--max-time", "2s"]);
    done.ends(3, "TIME_LIMIT");
    assert_eq!(done.call()["ended_by"], "time");
    bed.nobody_is_left();
}

#[test]
fn an_agent_that_ignores_term_is_killed() {
    let bed = Bed::git("ignore-term\nhang");
    let done = bed.done(&["--max-iterations", "1", "--timeout", "3s"]);
    done.ends(3, "MAX_ITERATIONS");
    assert_eq!(done.call()["signal"], 9);
    bed.nobody_is_left();
}

#[test]
fn a_result_counts_though_its_agent_lingers() {
    let bed = Bed::git("write done.txt yes\nclaim complete\nlinger 10m");
    let since = Instant::now();
    let done = bed.done(&["--verify", "test -f done.txt"]);
    assert_eq!(done.ends(0, "gate_passed")["iterations"], 1);
    assert!(since.elapsed() >= Duration::from_secs(10), "it was given its grace");
    assert!(done.call()["failure"].is_null());
    bed.nobody_is_left();
}

#[test]
fn processes_that_left_the_tree_are_ended_with_the_call() {
    let bed = Bed::git("daemonise sleep 600\nsetsid-child sleep 600\nwrite done.txt yes\nclaim complete");
    let done = bed.done(&["--verify", "test -f done.txt"]);
    done.ends(0, "gate_passed");
    assert!(done.call()["outlived"].as_u64() >= Some(2), "{}", done.call());
    bed.nobody_is_left();
}

#[test]
fn an_agent_that_never_reads_its_prompt_holds_nothing_up() {
    let bed = Bed::git("ignore-stdin\nwrite done.txt yes\nclaim complete");
    let task = bed.scratch.root().join("long.md");
    std::fs::write(&task, "Do all of this. ".repeat(50_000)).unwrap();
    let mut run =
        bed.run_without_task(&["--prompt", &task.to_string_lossy(), "--verify", "test -f done.txt"]);
    Done::of(&mut run).ends(0, "gate_passed");
}

#[test]
fn a_crash_is_an_iteration_and_three_running_end_the_run() {
    let bed = Bed::git("crash");
    let done = bed.done(&[]);
    assert_eq!(done.ends(69, "AGENT_UNAVAILABLE")["iterations"], 3);
    assert!(done.records("call_ended").iter().all(|call| call["failure"]["class"] == "aborted"));
}

#[test]
fn an_answer_without_a_result_is_no_claim() {
    let bed = Bed::git("say all done\nwrite done.txt yes\nclaim complete\ncut");
    let done = bed.done(&[&ONE[..], &["--verify", "test -f done.txt"]].concat());
    done.ends(3, "MAX_ITERATIONS");
    assert_eq!(done.call()["failure"]["class"], "aborted");
    let booked = (&done.call()["charged"], &done.call()["price"]);
    assert_eq!(booked, (&3_015.into(), &"seen".into()), "the tokens seen have a price; more may be missing");
}

#[test]
fn a_killed_ralph_takes_its_agent_along_and_can_go_on() {
    let bed = Bed::git(
        "[1]\nsetsid-child sleep 600\nwrite started yes\nhang\n[*]\nwrite done.txt yes\nclaim complete",
    );
    let live = bed.start(&["--verify", "test -f done.txt"]);
    bed.awaits("started");
    let since = Instant::now();
    live.signal(Signal::KILL);
    assert_eq!(live.end().code, 137);
    bed.nobody_is_left();
    assert!(since.elapsed() < Duration::from_secs(120), "its agent's child sleeps for 600 s");
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json"]));
    assert_eq!(resumed.ends(0, "gate_passed")["iterations"], 2);
    assert_eq!(resumed.records("call_lost").len(), 1);
    assert_eq!(Done::of(&mut bed.ralph(&["replay"])).code, 0);
}
