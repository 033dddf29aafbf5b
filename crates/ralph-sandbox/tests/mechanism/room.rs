//! A box inside the view of the file system that a supervisor has made before it.

use std::fs;
use std::path::Path;
use std::process::Command;

use ralph_sandbox::{Backend, LayerFallback, Mount};

use crate::kit::{Ran, Scene, Who, everybody};

/// Runs a script in a box, below a process that shows `room` at the workspace.
fn in_room(scene: &Scene, room: &Path, script: &str) -> Ran {
    let inner = scene.shell_command(script);
    let mut words: Vec<&std::ffi::OsStr> =
        std::iter::once(inner.get_program()).chain(inner.get_args()).collect();
    // An ordinary user makes the room in a user namespace, in which the box begins as that user, with the capabilities that
    // the supervisor passes on.
    let mount = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
    let mut command = if scene.who == Who::User {
        let setpriv =
            if rustix::process::getuid().is_root() { words.drain(..6).collect() } else { Vec::new() };
        let mut first: Vec<&std::ffi::OsStr> = setpriv;
        first.extend(
            ["unshare", "--map-current-user", "--keep-caps", "--mount", "sh", "-c"].map(std::ffi::OsStr::new),
        );
        let mut command = Command::new(first[0]);
        command.args(&first[1..]).arg(mount);
        command
    } else {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c"]).arg(mount);
        command
    };
    command.arg(room).arg(&scene.plan.workspace).args(words);
    command.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    Ran::of(command.output().unwrap())
}

#[test]
fn the_room_is_what_is_seen_and_protected() {
    for who in everybody() {
        for backend in crate::kit::contained() {
            let mut scene = Scene::new(who, backend);
            scene.make_file("workspace/src/file", "workspace");
            scene.make_file("room/src/file", "room");
            let path = scene.path("workspace/src/file");
            scene.mount(Mount::Protect(path));
            let ran = in_room(
                &scene,
                &scene.path("room"),
                "cat src/file; echo x > made; echo x > src/file; mv src away; ls",
            );
            assert_eq!(ran.stdout, "roommade\nsrc\n", "{ran:?}");
            assert!(scene.path("room/made").exists() && !scene.path("workspace/made").exists());
            assert_eq!(fs::read_to_string(scene.path("room/src/file")).unwrap(), "room");
        }
    }
}

#[test]
fn a_home_around_the_room_has_its_layer() {
    for who in everybody() {
        let mut scene = Scene::new(who, Backend::Namespaces);
        scene.make_dir("home/workspace");
        scene.make_file("room/file", "room");
        scene.plan.workspace = scene.path("home/workspace");
        let [upper, work] = ["upper", "work"].map(|part| scene.make_dir(&format!("layer/{part}")));
        let at = scene.path("home");
        scene.mount(Mount::Layer { at, upper, work, fallback: LayerFallback::ReadOnly });
        let ran = in_room(&scene, &scene.path("room"), "cat file; echo x > made; echo x > $HOME/new; true");
        assert_eq!(ran.stdout, "room", "{ran:?}");
        assert!(scene.path("room/made").exists() && !scene.path("home/new").exists());
        assert!(ran.notes().is_empty() && scene.path("layer/upper/new").exists(), "{who:?}: {ran:?}");
    }
}
