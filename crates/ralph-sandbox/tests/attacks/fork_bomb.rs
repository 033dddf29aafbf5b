//! A program that forks as often as it can. Bounded: it stops after 400, twice the plan's limit.

use crate::attack::Who;
use crate::contained::{Contained, as_each, count, said, wait_for_file};
use crate::play::bwrap;
use crate::scene::Scene;
use ralph_sandbox::Backend;
use std::fs;

const LIMIT: u64 = 200;

const BOMB: &str = r#"
import os, sys, time
counted = "counted"
def stay():
    # Until the test has counted, and never for long.
    for _ in range(600):
        if os.path.exists(counted): os._exit(0)
        time.sleep(0.05)
    os._exit(0)
made = 0
for _ in range(400):
    try:
        if os.fork() == 0: stay()
        made += 1
    except OSError:
        pass
with open("made.new", "w") as file: file.write(str(made))
os.rename("made.new", "made")
stay()
"#;

fn held(backend: &Backend, who: Who) {
    let scene = Scene::new(who);
    let plan = ralph_sandbox::Plan { processes: LIMIT, ..scene.plan(backend.clone()) };
    let mut contained = Contained::start(&scene, &plan, &["python3", "-c", BOMB]);
    wait_for_file(&scene, &scene.workspace().join("made"));
    let there = count(&scene);
    fs::write(scene.workspace().join("counted"), "").unwrap();
    crate::play::wait(&mut contained.runner, crate::contained::A_MINUTE);
    // The runner, the box and the first process are not the program's; bubblewrap adds two.
    let most = usize::try_from(LIMIT).unwrap() + 5;
    assert!(there <= most, "{backend:?} {who:?}: {there} processes, {LIMIT} allowed: {}", said(&scene));
    assert!(there > 100, "{backend:?} {who:?}: only {there} processes could be made: {}", said(&scene));
}

#[test]
fn a_fork_bomb_ends_at_the_limit() {
    for backend in [Backend::Namespaces, bwrap()] {
        as_each(&[Who::User, Who::Root, Who::RootForUser], |who| held(&backend, who));
    }
}

#[test]
fn a_fork_bomb_without_a_limit_goes_further() {
    let scene = Scene::new(Who::User);
    let plan = ralph_sandbox::Plan { processes: 0, ..scene.plan(Backend::Namespaces) };
    let _contained = Contained::start(&scene, &plan, &["python3", "-c", BOMB]);
    wait_for_file(&scene, &scene.workspace().join("made"));
    assert!(count(&scene) > 400, "{} processes: {}", count(&scene), said(&scene));
    fs::write(scene.workspace().join("counted"), "").unwrap();
}
