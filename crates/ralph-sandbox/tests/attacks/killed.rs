//! Whoever is killed, nobody is left: the runner, which stands for ralph and its supervisor, the box, the first process
//! inside, or the program. The time is measured by a benchmark; here a loaded machine has ten seconds.

use crate::attack::Who;
use crate::contained::{A_MINUTE, Contained, as_each, count, said, wait_for_file, wait_until};
use crate::play::bwrap;
use crate::scene::Scene;
use ralph_sandbox::Backend;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::time::Duration;

/// Leaves processes of every kind: in sessions of their own, orphaned, deaf to signals, stopped.
const MANY: &str = r#"
import os, signal, sys, time
for number in (1, 2, 3, 15): signal.signal(number, signal.SIG_IGN)
for way in range(12):
    if os.fork() == 0:
        if way % 2: os.setsid()
        if way % 3 == 0 and os.fork(): os._exit(0)
        if way == 7: os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(100); os._exit(0)
open("ready", "w").close()
time.sleep(100)
"#;

/// The children of a process.
fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The processes from the runner down to the program's own, in the order of their generations.
fn chain(runner: u32) -> Vec<u32> {
    let mut chain = vec![runner];
    while let Some(next) = chain.last().and_then(|pid| children(*pid).first().copied()) {
        chain.push(next);
        if chain.len() > 8 {
            break;
        }
    }
    chain
}

/// Kills one of the chain by this signal; whether everybody is gone soon after.
fn nobody_left(backend: &Backend, who: Who, generation: usize, signal: Signal) {
    let scene = Scene::new(who);
    let mut contained = Contained::start(&scene, &scene.plan(backend.clone()), &["python3", "-c", MANY]);
    wait_for_file(&scene, &scene.workspace().join("ready"));
    let chain = chain(contained.runner.id());
    let what = format!("{backend:?} {who:?}: process {generation} of {chain:?} by {signal:?}");
    let Some(pid) = chain.get(generation) else { panic!("{what}: there is none: {}", said(&scene)) };
    kill_process(Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap(), signal).unwrap();
    // A dead runner waits for its parent, this test; the others are looked for.
    let gone = wait_until(Duration::from_secs(10), || {
        let _ = contained.runner.try_wait();
        count(&scene) == 0
    });
    assert!(gone, "{what}: {} processes are left: {}", count(&scene), said(&scene));
    let _ = contained.runner.try_wait();
}

/// Whoever kills the program and what is below it must not count the box's own processes, so the box says how many stand
/// above the program.
#[test]
fn the_report_tells_how_many_stand_above_the_program() {
    let wait = "open('ready', 'w').close(); import time; time.sleep(100)";
    for backend in [Backend::Namespaces, bwrap(), Backend::Landlock] {
        as_each(&[Who::Root, Who::User, Who::RootForUser], |who| {
            if who == Who::RootForUser && backend == Backend::Landlock {
                return;
            }
            let scene = Scene::new(who);
            let contained = Contained::start(&scene, &scene.plan(backend.clone()), &["python3", "-c", wait]);
            wait_for_file(&scene, &scene.workspace().join("ready"));
            // Without the runner and the program.
            let above = chain(contained.runner.id()).len() - 2;
            let told = format!("report: started {above}\n");
            assert!(wait_until(A_MINUTE, || said(&scene).contains("report: started")), "{}", said(&scene));
            assert!(said(&scene).contains(&told), "{backend:?} {who:?}: {above} in {}", said(&scene));
        });
    }
}

fn killed(backend: &Backend) {
    as_each(&[Who::Root, Who::User, Who::RootForUser], |who| {
        // The runner, the box, the first process, the program. bubblewrap has one more.
        for generation in 0..4 {
            nobody_left(backend, who, generation, Signal::KILL);
        }
    });
}

#[test]
fn nobody_is_left_when_one_is_killed_in_namespaces() {
    killed(&Backend::Namespaces);
}

#[test]
fn nobody_is_left_when_one_is_killed_in_bwrap() {
    killed(&bwrap());
}

/// Landlock makes no pid namespace: only what the runner's death reaches by itself is promised, which is the program.
#[test]
fn the_program_ends_with_the_runner_under_landlock() {
    as_each(&[Who::Root, Who::User], |who| {
        let scene = Scene::new(who);
        let wait = "open('ready', 'w').close(); import time; time.sleep(100)";
        let mut contained =
            Contained::start(&scene, &scene.plan(Backend::Landlock), &["python3", "-c", wait]);
        wait_for_file(&scene, &scene.workspace().join("ready"));
        contained.runner.kill().unwrap();
        contained.runner.wait().unwrap();
        let gone = wait_until(Duration::from_secs(10), || count(&scene) == 0);
        assert!(gone, "{who:?}: {} processes are left: {}", count(&scene), said(&scene));
    });
}
