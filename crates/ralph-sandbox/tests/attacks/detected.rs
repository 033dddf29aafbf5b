//! What the sandbox does not hold and does not claim to: the inspection after the call finds it and restores what was
//! protected. If one of these tests fails, the sandbox holds more than it says, and documentation and detection can follow.

use crate::attack::Who;
use crate::contained::{Contained, as_each, said};
use crate::play::bwrap;
use crate::scene::Scene;
use ralph_sandbox::{Backend, Mount};

/// Runs a script in the workspace; it must succeed.
fn works(scene: &Scene, backend: &Backend, script: &str) {
    let mut plan = scene.plan(backend.clone());
    // Protected, but not there: no placeholder is made for it.
    plan.mounts.push(Mount::Protect(scene.workspace().join("migrations")));
    plan.mounts.push(Mount::Protect(scene.workspace().join("src/payments/card.rs")));
    let status = Contained::run(scene, &plan, &["sh", "-c", script]);
    assert!(status.is_some_and(|status| status.success()), "{backend:?}: {script}: {}", said(scene));
}

#[test]
fn a_new_protected_path_is_left_to_detection() {
    for backend in [Backend::Namespaces, bwrap()] {
        as_each(&[Who::Root, Who::User], |who| {
            let scene = Scene::new(who);
            works(
                &scene,
                &backend,
                "mkdir migrations src/payments; echo x > migrations/1.sql; echo x > src/payments/card.rs",
            );
            assert!(scene.workspace().join("migrations/1.sql").exists());
            assert!(scene.workspace().join("src/payments/card.rs").exists());
        });
    }
}

#[test]
fn a_protected_path_that_is_missing_leaves_no_placeholder() {
    for backend in [Backend::Namespaces, bwrap()] {
        let scene = Scene::new(Who::User);
        works(&scene, &backend, "true");
        assert!(!scene.workspace().join("migrations").exists());
        assert!(!scene.workspace().join("src/payments").exists());
    }
}

/// Git itself deletes objects when it packs them, so their directories are writable.
#[test]
fn deleted_git_objects_are_left_to_detection() {
    for backend in [Backend::Namespaces, bwrap()] {
        as_each(&[Who::Root, Who::User], |who| {
            let scene = Scene::new(who);
            let is_readable = || {
                let mut git = scene.command("git");
                git.args(["cat-file", "-p", "HEAD"]).output().unwrap().status.success()
            };
            works(&scene, &backend, "git add README.md && git commit -qm one");
            assert!(is_readable(), "{backend:?}: {}", said(&scene));
            works(&scene, &backend, "rm -rf .git/objects/??");
            assert!(!is_readable(), "{backend:?}");
        });
    }
}

#[test]
fn protected_paths_are_left_to_detection_under_landlock() {
    let scene = Scene::new(Who::User);
    works(&scene, &Backend::Landlock, "echo KEY=attacked > .env; mv src src2");
    assert_eq!(std::fs::read_to_string(scene.workspace().join(".env")).unwrap(), "KEY=attacked\n");
}
