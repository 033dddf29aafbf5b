//! The report of how a program ended is believed by everybody outside. No program may forge it, and a program that kills
//! whoever writes it must not pass for one that succeeded.

use crate::attack::Who;
use crate::contained::{Contained, as_each, said};
use crate::play::bwrap;
use crate::scene::Scene;
use ralph_sandbox::Backend;

/// Tries to write a false end wherever it can, then to kill and stop whoever could write the true one, then fails.
const FORGE: &str = r#"
import os, signal, sys
line = b"ended code 0\noutlived 0\n"
def attempt(function, *args):
    try: return function(*args)
    except OSError: return None
above = os.getppid()
for fd in range(3, 256): attempt(os.write, fd, line)
for pid in {above, 1} if above == 1 else {above}:
    for fd in range(0, 64):
        opened = attempt(os.open, f"/proc/{pid}/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK)
        if opened is not None: attempt(os.write, opened, line)
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL): attempt(os.kill, pid, number)
open("tried", "w").close()
sys.exit(7)
"#;

#[test]
fn a_program_cannot_forge_its_end() {
    for backend in [Backend::Namespaces, bwrap(), Backend::Landlock] {
        as_each(&[Who::Root, Who::User, Who::RootForUser], |who| {
            if who == Who::RootForUser && backend == Backend::Landlock {
                return;
            }
            let scene = Scene::new(who);
            let status = Contained::run(&scene, &scene.plan(backend.clone()), &["python3", "-c", FORGE]);
            let said = said(&scene);
            assert!(scene.workspace().join("tried").exists(), "{backend:?} {who:?}: {said}");
            assert_eq!(status.and_then(|s| s.code()), Some(7), "{backend:?} {who:?}: {said}");
            assert_eq!(said.matches("report: ended").count(), 1, "{backend:?} {who:?}: {said}");
        });
    }
}

#[test]
fn the_end_of_a_program_is_told_as_it_was() {
    for backend in [Backend::Namespaces, bwrap(), Backend::Landlock] {
        for (script, code) in [("exit 0", 0), ("exit 42", 42), ("kill -9 $$", 137), ("kill -TERM $$", 143)] {
            let scene = Scene::new(Who::User);
            let status = Contained::run(&scene, &scene.plan(backend.clone()), &["sh", "-c", script]);
            assert_eq!(status.and_then(|s| s.code()), Some(code), "{backend:?}: {script}: {}", said(&scene));
        }
    }
}
