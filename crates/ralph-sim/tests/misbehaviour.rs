//! What the simulator does wrong, done right.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{call, command, play};
use ralph_testkit::{Scratch, procs_with_tag};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout};

/// A running simulator that is killed when the test ends, however it ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn start(scratch: &Scratch, script: &str) -> (Running, BufReader<ChildStdout>) {
        let mut child = command(scratch, &["--do", script]).spawn().unwrap();
        drop(child.stdin.take());
        let stdout = BufReader::new(child.stdout.take().unwrap());
        (Running(child), stdout)
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn code(&mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

/// Reads lines until one contains this.
fn until(out: &mut BufReader<ChildStdout>, words: &str) {
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended before {words}");
    }
}

#[test]
fn it_hangs_until_it_is_ended_with_claudes_exit_codes() {
    let scratch = Scratch::new();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 0), (Signal::HUP, 129)] {
        let (mut sim, mut out) = Running::start(&scratch, "say Looking; raw READY; hang");
        until(&mut out, "READY");
        assert!(sim.0.try_wait().unwrap().is_none());
        sim.send(signal);
        assert_eq!(sim.code(), Some(code));
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "no result");
    }
}

#[test]
fn it_ignores_term_but_not_kill() {
    let (mut sim, mut out) =
        Running::start(&Scratch::new(), "ignore-term; raw READY; sleep 300ms; raw ALIVE; hang");
    until(&mut out, "READY");
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        sim.send(signal);
    }
    until(&mut out, "ALIVE");
    sim.send(Signal::KILL);
    assert_eq!(sim.code(), None);
}

#[test]
fn it_lingers_after_its_result() {
    let (mut sim, mut out) = Running::start(&Scratch::new(), "linger 60s; claim complete");
    until(&mut out, "\"type\":\"result\"");
    assert!(sim.0.try_wait().unwrap().is_none());
    sim.send(Signal::TERM);
    assert_eq!(sim.code(), Some(143));
}

#[test]
fn it_ends_without_a_result() {
    let scratch = Scratch::new();
    for (script, code) in [("say a; cut; say b", Some(0)), ("exit 3", Some(3)), ("say a; crash", None)] {
        let heard = play(&scratch, script);
        assert_eq!(heard.code, code, "{script}");
        assert!(heard.of_type("result").is_empty(), "{script}");
        assert!(!heard.text().contains("\"b\""));
    }
    let mut child = command(&scratch, &["--do", "crash"]).spawn().unwrap();
    drop(child.stdin.take());
    assert_eq!(child.wait_with_output().unwrap().status.signal(), Some(9));
    let coded = play(&scratch, "exit-code 7; claim complete");
    assert_eq!((coded.code, coded.result()["is_error"].clone()), (Some(7), false.into()));
}

#[test]
fn a_flood_has_its_size_and_every_line_is_an_event() {
    let scratch = Scratch::new();
    let heard = play(&scratch, "flood 3MB");
    assert!((3_000_000..3_100_000).contains(&heard.bytes.len()), "{}", heard.bytes.len());
    let lines = heard.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    assert!(lines.map(serde_json::from_slice::<Value>).all(|event| event.is_ok()));
    assert_eq!(heard.result()["subtype"], "success");
    let text = call(&scratch, &["--format", "text", "--do", "flood 1MB; message end; claim none"]);
    assert!(text.bytes.len() > 1_000_000 && text.text().ends_with("\nend\n"));
}

#[test]
fn a_long_line_is_one_event() {
    let heard = play(&Scratch::new(), "longline 2MiB");
    let content = heard.tool_result()["content"].as_str().unwrap().len();
    assert_eq!(content, 2 << 20);
    heard.result();
}

#[test]
fn garbled_lines_stand_between_good_ones() {
    let heard = play(&Scratch::new(), "say before; garble; claim complete");
    let lines: Vec<&[u8]> = heard.bytes.split(|byte| *byte == b'\n').collect();
    let broken = lines.iter().filter(|line| serde_json::from_slice::<Value>(line).is_err()).count();
    assert!(broken >= 7, "{broken}");
    assert!(heard.bytes.contains(&0) && std::str::from_utf8(&heard.bytes).is_err());
    assert_eq!(heard.tool_result()["content"], "a café, cut in the middle of its é");
    assert_eq!(heard.result()["is_error"], false);
}

#[test]
fn a_lie_claims_everything_and_does_nothing() {
    let scratch = Scratch::new();
    let heard = play(&scratch, "lie");
    let text = heard.result()["result"].as_str().unwrap().to_owned();
    for words in ["All tests pass", "STATUS: COMPLETE", "TESTS_STATUS: PASSING", "EXIT_SIGNAL: true"] {
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(std::fs::read_dir(scratch.workspace()).unwrap().count(), 0);
}

#[test]
fn secrets_stderr_and_raw_lines_are_printed() {
    let scratch = Scratch::new();
    let heard = play(&scratch, "secret HOME NOT_THERE; stderr oh no; raw {\"half\":");
    let shown = heard.tool_result()["content"].as_str().unwrap().to_owned();
    assert_eq!(shown, format!("HOME={}\nNOT_THERE is not set", scratch.root().join("home").display()));
    assert_eq!(heard.stderr, "oh no\n");
    assert!(heard.text().contains("\n{\"half\":\n"));
}

#[test]
fn it_may_never_read_its_prompt() {
    let mut child = command(&Scratch::new(), &["--do", "ignore-stdin; claim complete"]).spawn().unwrap();
    let held_open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && !output.stdout.is_empty());
    drop(held_open);
}

/// Starts a script under a tag of its own and returns the simulator's id, and what is left after it ended.
fn leftovers(script: &str, tag: &str) -> (u32, Vec<u32>, BufReader<ChildStdout>) {
    let tag = format!("{tag}-{}", std::process::id());
    let mut command = command(&Scratch::new(), &["--do", script]);
    let mut child = command.current_dir("/").env("AGENT_SIM_TAG", &tag).spawn().unwrap();
    drop(child.stdin.take());
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let id = child.id();
    assert!(child.wait().unwrap().success());
    (id, procs_with_tag("AGENT_SIM_TAG", &tag), stdout)
}

fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(id).unwrap())
}

/// 0 if the session's leader lives outside this process namespace, as a test's own may.
fn session_of(id: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    after_name.split_ascii_whitespace().nth(3).unwrap().parse().unwrap()
}

#[test]
fn a_daemon_has_no_parent_its_own_session_and_holds_stdout() {
    let (sim, left, mut out) = leftovers("daemonise exec sleep 60; claim complete", "daemon");
    let daemon = left[0];
    let stat = std::fs::read_to_string(format!("/proc/{daemon}/status")).unwrap();
    let parent = stat.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().to_owned();
    let session = session_of(daemon);
    let holds = std::fs::read_link(format!("/proc/{daemon}/fd/1")).unwrap();
    until(&mut out, "\"type\":\"result\"");
    kill_process(pid(daemon).unwrap(), Signal::KILL).unwrap();
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();

    assert_eq!(left.len(), 1, "one daemon, no helper");
    assert_ne!(parent, sim.to_string());
    assert_ne!(parent, std::process::id().to_string());
    assert_ne!(session, session_of(std::process::id()));
    assert_ne!(session, daemon, "it leads no session");
    assert!(holds.to_string_lossy().starts_with("pipe:"), "{holds:?}");
    assert!(rest.is_empty());
}

#[test]
fn a_child_in_its_own_session_survives_and_lets_go_of_stdout() {
    let (_, left, mut out) = leftovers("setsid-child exec sleep 60; claim complete", "session");
    let sessions: Vec<_> = left.iter().map(|id| session_of(*id)).collect();
    let mut all = Vec::new();
    out.read_to_end(&mut all).unwrap();
    for id in &left {
        kill_process(pid(*id).unwrap(), Signal::KILL).unwrap();
    }
    assert!(!left.is_empty());
    for session in sessions {
        assert_ne!(session, session_of(std::process::id()));
    }
}
