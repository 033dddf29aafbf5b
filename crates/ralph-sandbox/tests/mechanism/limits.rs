//! Processes and memory.

use ralph_sandbox::Backend;

use crate::kit::{Scene, everybody, everywhere};

#[test]
fn processes_are_limited() {
    everywhere(|scene| {
        scene.plan.processes = 30;
        let ran = scene.shell("i=0; while [ $i -lt 800 ]; do sleep 30 & i=$((i+1)); done; echo all");
        let limited = ran.code != 0 && ran.stdout.is_empty();
        assert!(limited, "{ran:?}");
        assert!((10..400).contains(&ran.outlived()), "{ran:?}");
        scene.plan.processes = 4096;
        scene.shell("for it in 1 2 3 4 5 6 7 8 9 10; do sleep 30 & done; echo all").assert(0, "all\n");
    });
}

#[test]
fn the_limit_of_a_namespace_changes_nothing_outside() {
    let file = "/proc/sys/kernel/pid_max";
    let before = std::fs::read_to_string(file).unwrap();
    for who in everybody() {
        let mut scene = Scene::new(who, Backend::Namespaces);
        scene.plan.processes = 50;
        scene.shell("true").assert(0, "");
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), before);
}

#[test]
fn memory_is_limited_or_said_not_to_be() {
    everywhere(|scene| {
        scene.plan.memory = 64 << 20;
        let ran = scene.shell("head -c 300000000 /dev/zero | tail -c 300000000 > /dev/null; echo $?");
        let said = ran.notes().iter().any(|note| note.starts_with("memory: not limited"));
        assert!(said || ran.stdout != "0\n", "{ran:?}");
        scene.plan.memory = 4 << 30;
        scene.shell("echo enough").assert(0, "enough\n");
    });
}

#[test]
fn no_core_is_dumped() {
    everywhere(|scene| {
        let ran = scene.shell("ulimit -c; ulimit -Hc");
        // In blocks of 512 bytes: less than one.
        ran.assert(0, "0\n0\n");
    });
}
