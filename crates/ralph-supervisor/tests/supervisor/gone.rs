//! Ralph killed with kill -9: everything it ran is dead soon after.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{NO_ORPHANS, SUPERVISOR, TAG, alive, eventually, tag};
use ralph_testkit::skip;

#[test]
fn the_whole_tree_goes_when_ralph_is_killed() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let tag = tag();
    let script = "sleep 300 & setsid sleep 300 & setsid -f sh -c 'trap \"\" TERM; sleep 300; :'
        nohup sleep 300 >/dev/null 2>&1 & echo ready; sleep 300";
    let mut ralph = Command::new(SUPERVISOR)
        .args(["drive", script])
        .env(TAG, &tag)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(ralph.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    eventually("all run", || alive(&tag).len() >= 8);
    ralph.kill().unwrap();
    ralph.wait().unwrap();
    eventually("all dead", || alive(&tag).is_empty());
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
