//! What people do while a run is under way: signals, `ralph stop`, a second run.

use crate::bed::{Bed, Done, Live, until};
use ralph_testkit::procs_with_tag;
use rustix::process::Signal;
use std::time::Duration;

/// Works until a file `go` is there.
const WAITS: &str =
    "write started yes\nrun until [ -e go ]; do sleep 0.05; done\nwrite done.txt yes\nclaim complete";
const GREEN: [&str; 2] = ["--verify", "test -f done.txt"];

fn under_way(script: &str) -> (Bed, Live) {
    let bed = Bed::git(script);
    let live = bed.start(&GREEN);
    bed.awaits("started");
    (bed, live)
}

#[test]
fn a_signal_stops_the_agent_inspects_its_work_and_can_be_resumed() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (bed, live) = under_way(WAITS);
        live.signal(signal);
        let done = live.end();
        let result = done.ends(code, "INTERRUPTED");
        assert_eq!((&result["status"], &result["iterations"]), (&"INTERRUPTED".into(), &0.into()));
        assert_eq!(done.call()["ended_by"], "person");
        assert_eq!(done.records("inspected")[0]["changed"][0], "started");
        bed.nobody_is_left();
        bed.touch("go");
        Done::of(&mut bed.ralph(&["resume", "--json"])).ends(0, "gate_passed");
    }
}

#[test]
fn the_same_task_again_goes_on_with_the_interrupted_run() {
    let (bed, live) = under_way(WAITS);
    live.signal(Signal::INT);
    let first = live.end().ends(130, "INTERRUPTED");
    bed.touch("go");
    let again = bed.done(&GREEN);
    assert_eq!(again.ends(0, "gate_passed")["runId"], first["runId"]);
    assert!(again.err.contains("--fresh"), "{}", again.err);
}

#[test]
fn a_second_signal_ends_ralph_at_once() {
    let (bed, live) = under_way("ignore-term\nwrite started yes\nhang");
    live.signal(Signal::INT);
    live.awaits("asked");
    live.signal(Signal::INT);
    assert_eq!(live.end().code, 130);
    bed.nobody_is_left();
    // Had it waited for the agent's grace, the run would have ended as interrupted.
    let status = Done::of(&mut bed.ralph(&["status"])).out;
    assert!(status.contains("INTERRUPTED (ended by force; `ralph resume` continues it)"), "{status}");
    let list = Done::of(&mut bed.ralph(&["list"])).out;
    assert!(list.contains("INTERRUPTED") && list.contains("  ~$") && !list.contains("$0.00"), "{list}");
}

#[test]
fn stop_from_another_terminal_ends_the_agent_now() {
    let (bed, live) = under_way(WAITS);
    assert_eq!(Done::of(&mut bed.ralph(&["stop"])).code, 0);
    let done = live.end();
    done.ends(130, "INTERRUPTED");
    assert_eq!(done.call()["ended_by"], "person");
    assert_eq!(Done::of(&mut bed.ralph(&["stop"])).code, 64, "nothing runs any more");
}

#[test]
fn stop_after_lets_the_iteration_finish() {
    let (bed, live) =
        under_way("write started yes\nrun until [ -e go ]; do sleep 0.05; done\nclaim progress");
    assert_eq!(Done::of(&mut bed.ralph(&["stop", "--after"])).code, 0);
    live.awaits("asked");
    bed.touch("go");
    let done = live.end();
    assert_eq!(done.ends(130, "INTERRUPTED")["iterations"], 1);
    assert!(done.call()["ended_by"].is_null());
}

#[test]
fn a_pause_holds_before_the_next_call_and_a_hint_given_then_is_in_its_prompt() {
    let script = "write started yes\nrun until [ -e go ]; do sleep 0.05; done\nclaim progress\n\
                  [2]\nwrite done.txt yes\nclaim complete";
    let (bed, live) = under_way(&script.replacen("write", "[1]\nwrite", 1));
    assert_eq!(Done::of(&mut bed.ralph(&["pause"])).code, 0);
    bed.touch("go");
    live.awaits("verified");
    until("it is paused", || Done::of(&mut bed.ralph(&["list"])).out.contains("PAUSED").then_some(()));
    let hint = Done::of(&mut bed.ralph(&["hint", "Look at the lexer"]));
    assert_eq!(hint.code, 0, "{}", hint.err);
    let go_on = Done::of(&mut bed.ralph(&["continue"]));
    assert!(go_on.err.contains("continues"), "{}", go_on.err);
    live.end().ends(0, "gate_passed");
    let prompt = |n: &str| Done::of(&mut bed.ralph(&["explain", "--prompt", n])).out;
    assert!(prompt("2").contains("- Look at the lexer"), "{}", prompt("2"));
    assert!(!prompt("1").contains("lexer"));
}

#[test]
fn two_terminals_that_ask_at_once_are_both_heard() {
    let (bed, live) = under_way(WAITS);
    let hints: Vec<_> = (0..8)
        .map(|n| {
            bed.ralph(&["hint", &format!("hint number {n}")])
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut hint in hints {
        assert!(hint.wait().unwrap().success());
    }
    bed.touch("go");
    let asked = live.end().records("asked");
    let texts: std::collections::BTreeSet<_> =
        asked.iter().map(|a| a["request"]["text"].to_string()).collect();
    assert_eq!((asked.len(), texts.len()), (8, 8));
}

#[test]
fn a_hint_for_an_interrupted_run_waits_until_it_is_resumed() {
    let (bed, live) = under_way(WAITS);
    live.signal(Signal::INT);
    live.end().ends(130, "INTERRUPTED");
    for ask in ["pause", "continue", "stop"] {
        assert_eq!(Done::of(&mut bed.ralph(&[ask])).code, 64, "{ask}: nobody is there to ask");
    }
    assert_eq!(Done::of(&mut bed.ralph(&["hint", "Take the short way"])).code, 0);
    bed.touch("go");
    let resumed = Done::of(&mut bed.ralph(&["resume", "--json"]));
    resumed.ends(0, "gate_passed");
    assert_eq!(resumed.records("asked")[0]["request"]["text"], "Take the short way");
}

#[test]
fn ctrl_z_holds_ralph_and_its_agent() {
    let (bed, mut live) = under_way(WAITS);
    let pid = live.pid();
    live.signal(Signal::TSTP);
    until("ralph stands still", || (state_of(pid) == Some('T')).then_some(()));
    let runs = Done::of(&mut bed.ralph(&["list", "--json"]));
    let runs: serde_json::Value = serde_json::from_str(&runs.out).unwrap();
    let run = runs[0]["id"].as_str().unwrap();
    until("the agent stands still", || {
        let mut tree = procs_with_tag("RALPH_RUN", run);
        tree.retain(|pid| !is_tender(*pid));
        // A shell whose half-born child was frozen waits for it in the kernel: D, not T.
        let still = |pid: &u32| matches!(state_of(*pid), Some('T' | 'D'));
        (!tree.is_empty() && tree.iter().all(still)).then_some(())
    });
    bed.touch("go");
    std::thread::sleep(Duration::from_millis(300));
    assert!(live.is_running() && !bed.scratch.workspace().join("done.txt").exists());
    live.signal(Signal::CONT);
    live.end().ends(0, "gate_passed");
}

#[test]
fn a_second_run_is_told_who_works_here() {
    let (bed, live) = under_way(WAITS);
    let second = bed.done(&["--fresh"]);
    assert_eq!(second.code, 73, "{}", second.err);
    assert!(second.result()["runId"].is_null());
    assert!(second.err.contains(&format!("process {}", live.pid())), "{}", second.err);
    bed.touch("go");
    live.end().ends(0, "gate_passed");
}

#[test]
fn a_run_inside_a_run_is_refused() {
    let bed = Bed::git("write done.txt yes\nclaim complete");
    let done = Done::of(bed.run(&GREEN).env("RALPH_RUN", "0198f3c2-7a1b-7c3d-8e4f-0123456789ab"));
    assert_eq!(done.code, 64);
    assert!(done.err.contains("--nested"), "{}", done.err);
    let nested = Done::of(bed.run(&[&GREEN[..], &["--nested"]].concat()).env("RALPH_RUN", "outer"));
    nested.ends(0, "gate_passed");
}

/// The letter of a process's state.
fn state_of(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn is_tender(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word == b"__supervise")
}
