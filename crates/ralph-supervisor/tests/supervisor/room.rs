//! A directory at the path of another one: what the program sees, and what is left of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ralph_supervisor::{NotStarted, RoomLayer, RoomMount};
use ralph_testkit::skip;

use crate::common::{run, shell};

struct Scene {
    _dir: tempfile::TempDir,
    room: RoomMount,
}

impl Scene {
    /// A workspace with a dependency folder, and a room for it; the names would upset a list of options.
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let (over, room) = (at("work, a:b"), at("room"));
        fs::write(over.join("file"), "agent").unwrap();
        fs::create_dir(over.join("deps")).unwrap();
        fs::write(over.join("deps/lib"), "installed").unwrap();
        fs::write(room.join("file"), "chosen").unwrap();
        fs::create_dir(room.join("deps")).unwrap();
        let (from, upper, work) = (over.join("deps"), at("upper, c:d"), at("work2"));
        let layer = RoomLayer { from, at: PathBuf::from("deps"), upper, work };
        Scene { _dir: dir, room: RoomMount { room, over, layers: vec![layer] } }
    }

    /// The same where this user may mount, as `unshare` and `mount` say; otherwise the test is skipped.
    #[track_caller]
    fn permitted() -> Option<Scene> {
        if let Some(fallback) = ralph_os::missing().iter().find(|one| one.what.contains("private view")) {
            skip(fallback.what);
            return None;
        }
        let scene = Scene::new();
        let user = rustix::process::getuid();
        let as_root: &[&str] = if user.is_root() { &[] } else { &["--user", "--map-root-user"] };
        let mut probe = Command::new("unshare");
        probe.args(as_root).args(["--mount", "mount", "--bind"]).arg(&scene.room.room).arg(&scene.room.over);
        let output = probe.output().unwrap();
        if output.status.success() {
            return Some(scene);
        }
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        skip(&format!("nothing can be mounted: {}", why.lines().next().unwrap_or_default()));
        None
    }

    fn play(&self, script: &str) -> String {
        let mut launch = shell(script);
        launch.cwd.clone_from(&self.room.over);
        launch.room = Some(self.room.clone());
        let (exit, kept) = run(launch);
        assert_eq!(exit.code, Some(0), "{exit:?} {}", String::from_utf8_lossy(&kept.stderr));
        kept.text()
    }

    fn over(&self) -> &Path {
        &self.room.over
    }
}

#[test]
fn only_the_program_sees_the_room_and_the_layers_in_it() {
    let Some(scene) = Scene::permitted() else { return };
    let told = scene.play("pwd; cat file deps/lib; echo new > written; id -u");
    let user = rustix::process::getuid().as_raw();
    assert_eq!(told, format!("{}\nchoseninstalled{user}\n", scene.over().display()));
    assert_eq!(fs::read_to_string(scene.over().join("file")).unwrap(), "agent");
    assert!(!scene.over().join("written").exists());
    assert_eq!(fs::read_to_string(scene.room.room.join("written")).unwrap(), "new\n");
    assert_eq!(fs::read_dir(scene.room.room.join("deps")).unwrap().count(), 0);
}

#[test]
fn what_is_written_to_a_dependency_folder_does_not_reach_it() {
    let Some(scene) = Scene::permitted() else { return };
    scene.play("echo changed > deps/lib || true; echo more > deps/more || true");
    assert_eq!(fs::read_to_string(scene.over().join("deps/lib")).unwrap(), "installed");
    assert!(!scene.over().join("deps/more").exists());
}

/// Without an empty directory for its own use no overlay can be mounted over it.
#[test]
fn a_dependency_folder_is_read_only_where_no_overlay_can_be_had() {
    let Some(mut scene) = Scene::permitted() else { return };
    let layer = &mut scene.room.layers[0];
    layer.work = layer.upper.clone();
    let told = scene.play("cat deps/lib; if echo x 2>/dev/null > deps/lib; then echo written; fi");
    assert_eq!(told, "installed");
    assert_eq!(fs::read_to_string(scene.over().join("deps/lib")).unwrap(), "installed");
}

#[test]
fn a_room_that_cannot_be_shown_is_told() {
    let Some(scene) = Scene::permitted() else { return };
    fs::remove_dir_all(&scene.room.room).unwrap();
    let mut launch = shell("echo never");
    launch.room = Some(scene.room);
    let (exit, kept) = run(launch);
    assert!(matches!(exit.not_started, Some(NotStarted::Room { .. })), "{exit:?}");
    assert_eq!(kept.text(), "");
}
