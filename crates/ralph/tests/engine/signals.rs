//! Signals in the first moments of a command, before anything of it has begun.

use crate::bed::{Bed, Done, until};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SIGNALS: [(Signal, i32); 3] = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];

/// Whether a process has a handler for the signal.
fn catches(child: &Child, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
    let bit = 1 << (signal.as_raw() - 1);
    u64::from_str_radix(mask, 16).unwrap_or(0) & bit != 0
}

fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_command_that_waits_for_its_input_ends_with_the_signals_code() {
    let bed = Bed::plain("");
    for (signal, code) in SIGNALS {
        let mut child = start(&mut bed.ralph(&["analyze"]));
        until("it has a handler", || catches(&child, signal).then_some(()));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(code), None));
    }
}

/// Sent at every stage of the start, from the first handler on to the run's own.
#[test]
fn a_run_never_dies_of_a_signals_own_action() {
    for (signal, code) in SIGNALS {
        for wait in [0, 2, 5, 10, 20, 40, 80] {
            let bed = Bed::git("write started yes\nhang");
            let mut child = start(&mut bed.run(&["--verify", "true"]));
            until("it has a handler", || catches(&child, signal).then_some(()));
            std::thread::sleep(Duration::from_millis(wait));
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = child.wait().unwrap();
            assert_eq!((status.code(), status.signal()), (Some(code), None), "after {wait} ms");
            bed.nobody_is_left();
        }
    }
}

#[test]
fn an_ignored_hang_up_stays_ignored() {
    let bed = Bed::plain("");
    let script = format!("trap '' HUP; exec {} analyze", env!("CARGO_BIN_EXE_ralph"));
    let mut child = start(bed.scratch.command("sh").args(["-c", &script]));
    until("it has a handler", || catches(&child, Signal::INT).then_some(()));
    kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    drop(child.stdin.take());
    let status = child.wait().unwrap();
    assert!(status.signal().is_none() && status.code() != Some(129), "{status}");
}

#[test]
fn what_was_seen_of_an_interrupted_call_is_booked_and_no_more() {
    let bed = Bed::git("say working\nwrite started yes\nhang");
    let live = bed.start(&["--verify", "true"]);
    bed.awaits("started");
    live.signal(Signal::INT);
    let done = live.end();
    let result = done.ends(130, "INTERRUPTED");
    let call = done.call();
    assert_eq!(call["price"], "seen", "{call}");
    let charged = call["charged"].as_i64().unwrap();
    assert!(charged > 0 && charged < 500_000, "less than the reservation: {charged}");
    assert_eq!(result["costIsComplete"], false);
    assert!(Done::of(&mut bed.ralph(&["explain"])).out.contains("~$0.0"), "marked as not exact");
}
