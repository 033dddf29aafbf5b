//! What the sandbox itself leaves behind: nothing. And what a terminal shows that the user started ralph in.

use crate::attack::Who;
use crate::contained::{Contained, as_each, said, wait_until};
use crate::look::{Tree, differences, look};
use crate::play::{bwrap, write_plan};
use crate::scene::{Scene, runner};
use ralph_sandbox::{Backend, Mount};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const GROUPS: &str = "/sys/fs/cgroup";

/// Everything of the scene but the plan and our notes, the workspace included.
fn everything(scene: &Scene) -> Tree {
    let mut tree = Tree::new();
    look(scene.base(), &[scene.base().join("notes"), scene.base().join("plan.json")], &mut tree);
    tree
}

/// Where boxes of this process may make their control groups. Elsewhere others run sandboxes, which may have been killed.
fn own_groups() -> Vec<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let place = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let trees = if controllers.is_empty() { ["", "unified"] } else { [controllers, controllers] };
        Some(trees.map(|tree| Path::new(GROUPS).join(tree).join(path)))
    };
    own.lines().filter_map(place).flatten().collect()
}

/// The control groups that boxes have made and not removed, of boxes that are gone.
fn abandoned_groups(dir: PathBuf, own: &[PathBuf], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let gone = |pid: &str| !Path::new("/proc").join(pid).exists();
        if name.strip_prefix("ralph-box-").is_some_and(gone)
            && own.iter().any(|own| path.parent() == Some(own))
        {
            found.push(path.clone());
        }
        abandoned_groups(path, own, found);
    }
}

#[test]
fn nothing_is_left_in_the_workspace_or_home() {
    for backend in [Backend::Namespaces, bwrap(), Backend::Landlock] {
        as_each(&[Who::Root, Who::User, Who::RootForUser], |who| {
            if who == Who::RootForUser && backend == Backend::Landlock {
                return;
            }
            let scene = Scene::new(who);
            let mut plan = scene.plan(backend.clone());
            // Nothing of these is there, and nothing may be made for them.
            plan.mounts.insert(0, Mount::Hide(scene.home().join(".kube/config")));
            plan.mounts.insert(0, Mount::Show(scene.home().join(".missing/tool")));
            plan.mounts.push(Mount::Protect(scene.workspace().join("missing/deep/file")));
            write_plan(&scene, &plan);
            let before = everything(&scene);
            let status = Contained::run(&scene, &plan, &["true"]);
            assert!(status.is_some_and(|status| status.success()), "{backend:?} {who:?}: {}", said(&scene));
            assert_eq!(
                differences(&before, &everything(&scene)),
                Vec::<String>::new(),
                "{backend:?} {who:?}"
            );
            let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
            assert!(!mounts.contains(scene.base().to_str().unwrap()), "{backend:?} {who:?}: {mounts}");
        });
    }
}

#[test]
fn no_control_group_is_left() {
    for backend in [Backend::Namespaces, bwrap()] {
        as_each(&[Who::Root, Who::User], |who| {
            let scene = Scene::new(who);
            let status = Contained::run(
                &scene,
                &scene.plan(backend.clone()),
                &["sh", "-c", "setsid sleep 60 & exit 0"],
            );
            assert!(status.is_some_and(|status| status.success()), "{backend:?} {who:?}: {}", said(&scene));
        });
    }
    // Those of other tests that run now are passed over; one whose box was killed is removed by the next box.
    let (own, mut found) = (own_groups(), Vec::new());
    wait_until(Duration::from_secs(20), || {
        found.clear();
        abandoned_groups(GROUPS.into(), &own, &mut found);
        found.is_empty()
    });
    assert!(found.is_empty(), "{found:?}");
}

/// What is shown in a terminal in which this command runs, without stdin, stdout and stderr of the terminal.
fn shown_by(scene: &Scene, line: &str) -> String {
    let line = format!("{line} </dev/null >/dev/null 2>notes");
    let mut command = scene.command("script");
    command.args(["-qefc", &line, "typescript"]).stdin(Stdio::null()).stdout(Stdio::null());
    crate::play::wait(&mut command.spawn().unwrap(), crate::contained::A_MINUTE);
    let read = |name: &str| fs::read_to_string(scene.workspace().join(name)).unwrap_or_default();
    assert!(scene.workspace().join("tried").exists(), "{}", read("notes"));
    read("typescript")
}

/// Started from a terminal, a program could write to it, read what is typed and type into it.
#[test]
fn the_users_terminal_is_out_of_reach() {
    let attack = "sh -c 'exec 2>tried; echo attacked > /dev/tty'";
    for backend in [Backend::Namespaces, bwrap(), Backend::Landlock] {
        as_each(&[Who::Root, Who::User], |who| {
            let scene = Scene::new(who);
            let plan = write_plan(&scene, &scene.plan(backend.clone()));
            let (runner, workspace) = (runner().display(), scene.workspace());
            let line = format!("{runner} run {} {} {attack}", plan.display(), workspace.display());
            let shown = shown_by(&scene, &line);
            assert!(!shown.contains("\nattacked"), "{backend:?} {who:?}: {shown}");
        });
    }
    let shown = shown_by(&Scene::new(Who::User), attack);
    assert!(shown.contains("\nattacked"), "it does nothing without a sandbox: {shown}");
}
