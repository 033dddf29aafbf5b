//! Ralph killed with kill -9: everything it ran is dead soon after.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{NO_ORPHANS, SUPERVISOR, TAG, alive, eventually, mark, marked, tag};
use ralph_testkit::skip;
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn the_whole_tree_goes_when_ralph_is_killed() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let tag = tag();
    let script = "sleep 300 & setsid sleep 300 & setsid -f sh -c 'trap \"\" TERM; sleep 300; :'
        nohup sleep 300 >/dev/null 2>&1 & echo ready; sleep 300";
    let kill_ralph = drive(&tag, script);
    eventually("all run", || alive(&tag).len() >= 8);
    kill_ralph();
    eventually("all dead", || alive(&tag).is_empty());
}

#[test]
fn a_stopped_supervisor_does_its_work_when_ralph_is_killed() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let (tag, unmarked) = (tag(), mark());
    let script = format!("env -i setsid sleep {unmarked} & kill -STOP $PPID; echo ready; sleep 300");
    let kill_ralph = drive(&tag, &script);
    eventually("all run", || !marked(&unmarked).is_empty());
    kill_ralph();
    eventually("all dead", || alive(&tag).is_empty() && marked(&unmarked).is_empty());
}

/// Supervises a script until it has said `ready`, in a process that the result kills. What is left then does not come
/// to this test, which would end it.
fn drive(tag: &str, script: &str) -> impl FnOnce() {
    let mut keeper = Command::new(SUPERVISOR)
        .args(["adopt", "env", &format!("{TAG}={tag}"), SUPERVISOR, "drive", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(keeper.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    move || {
        let [ralph] = ralph_os::children(Pid::from_child(&keeper))[..] else { panic!("one ralph") };
        kill_process(ralph.pid, Signal::KILL).unwrap();
        // It stays until nobody is left.
        keeper.wait().unwrap();
    }
}

#[test]
fn a_frozen_tree_goes_too() {
    let tag = tag();
    let mut ralph = Command::new(SUPERVISOR)
        .args(["drive", "echo $$; sleep 300"])
        .env(TAG, &tag)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    BufReader::new(ralph.stdout.as_mut().unwrap()).read_line(&mut pid).unwrap();
    Command::new("kill").args(["-STOP", pid.trim()]).status().unwrap();
    ralph.kill().unwrap();
    ralph.wait().unwrap();
    eventually("all dead", || alive(&tag).is_empty());
}
