//! Nobody is left when somebody outside is killed.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::kit::{Scene, everywhere};

/// Starts a tree of processes, all with the tag in their arguments, and waits until it stands.
fn start(scene: &Scene, tag: &str) -> Child {
    let script = format!("setsid sleep {tag} & (setsid setsid sleep {tag} &) & sleep {tag}; true");
    let mut command = scene.shell_command(&script);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while tagged(&format!("sleep\0{tag}")).len() < 3 {
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}: it did not start", scene.plan.backend);
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Processes with this in their arguments.
fn tagged(tag: &str) -> Vec<i32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has_tag = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|it| String::from_utf8_lossy(&it).contains(tag))
    };
    pids.filter(has_tag).collect()
}

fn kill(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

fn children_of(pid: u32) -> Vec<i32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[track_caller]
fn assert_gone(tag: &str) {
    let began = Instant::now();
    while !tagged(tag).is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20), "left: {:?}", tagged(tag));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A number of seconds that only this test sleeps.
fn tag(name: &str) -> String {
    let digits: String = name.bytes().map(|byte| (byte % 10).to_string()).collect();
    format!("1000.{}{digits}", std::process::id())
}

#[test]
fn when_the_supervisor_is_killed() {
    everywhere(|scene| {
        let tag = tag("supervisor");
        let mut child = start(scene, &tag);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_gone(&tag);
    });
}

#[test]
fn when_the_box_is_killed() {
    everywhere(|scene| {
        let tag = tag("box");
        let mut child = start(scene, &tag);
        let boxes = children_of(child.id());
        assert_eq!(boxes.len(), 1);
        kill(boxes[0], rustix::process::Signal::KILL);
        assert_eq!(child.wait().unwrap().code(), Some(125), "no end was reported");
        assert_gone(&tag);
    });
}

#[test]
fn signals_to_the_box_from_outside_do_not_end_it() {
    use rustix::process::Signal;
    everywhere(|scene| {
        let tag = tag("signals");
        let mut child = start(scene, &tag);
        let mut outer = children_of(child.id());
        // With bubblewrap, that too.
        outer.extend(outer.clone().iter().flat_map(|pid| children_of(u32::try_from(*pid).unwrap())));
        for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
            outer.iter().for_each(|pid| kill(*pid, signal));
        }
        std::thread::sleep(Duration::from_millis(100));
        assert!(tagged(&format!("sleep\0{tag}")).len() == 3 && child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_gone(&tag);
    });
}
