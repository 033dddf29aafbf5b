//! Ignored files from before the agent worked: which are listed, and which a room shows.

use super::scene::{Scene, files};
use ralph_engine::room::{DependencyFolder, IgnoredFiles};
use ralph_tree::{Protect, Tree};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

fn write(scene: &Scene, path: &str, text: &str) {
    let at = scene.workspace().join(path);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

fn record(scene: &Scene) -> IgnoredFiles {
    let tree = Tree::new(scene.workspace(), Protect::new(Protect::DEFAULTS).unwrap());
    let installed = [DependencyFolder { path: b"env".as_slice().into() }];
    let is_own = |path: &[u8]| path == b"ralph.own";
    IgnoredFiles::record(&scene.workspace(), &tree.walk(None).unwrap(), &installed, &is_own).unwrap()
}

const RULES: (&str, &str) = (".gitignore", ".env\n*.so\n_version.py\nenv/\nralph.own\ndata/\n.gen/\n");

/// A workspace with ignored files, and a room with what is not ignored.
fn scene() -> Scene {
    let mut scene = Scene::new();
    for (path, text) in [
        RULES,
        ("pkg/mod.py", "1"),
        (".env", "SECRET=1"),
        ("pkg/_version.py", "v = 1"),
        ("pkg/fast.so", "built"),
        ("env/lib/x.py", "installed"),
        ("target/debug/x", "built"),
        ("pkg/__pycache__/x.pyc", "built"),
        ("ralph.own", "notes"),
        (".gen/deep/a", "1"),
    ] {
        write(&scene, path, text);
    }
    fs::set_permissions(scene.workspace().join(".env"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("deep/a", scene.workspace().join(".gen/link")).unwrap();
    scene.fill(&files(&[RULES, ("pkg/mod.py", "1")])).unwrap();
    scene
}

const SEEDED: [&str; 5] = [".env", ".gen/deep/a", ".gen/link", "pkg/_version.py", "pkg/fast.so"];

#[test]
fn untouched_files_are_shown_and_survive_the_next_fill() {
    let mut scene = scene();
    let ignored = record(&scene);
    let at = scene.dir.path().join("ignored");
    ignored.save(&at).unwrap();
    let ignored = IgnoredFiles::load(&at).filter(|loaded| *loaded == ignored).unwrap();
    assert_eq!(ignored.seed(&scene.folder, &scene.workspace()).unwrap().copied, SEEDED.len());
    let mut all: Vec<&str> = SEEDED.iter().copied().chain([".gitignore", "pkg/mod.py"]).collect();
    all.sort_unstable();
    assert_eq!(scene.list(), all);
    assert_eq!(scene.at(".env").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let (copy, source) =
        (scene.at("pkg/fast.so").metadata().unwrap(), scene.at("pkg/mod.py").metadata().unwrap());
    assert!(copy.mtime() < source.mtime(), "a build must not take it for up to date");
    scene.fill(&files(&[RULES, ("pkg/mod.py", "1")])).unwrap();
    assert_eq!(scene.list(), all);
    assert_eq!(ignored.seed(&scene.folder, &scene.workspace()).unwrap().copied, 0);
}

#[test]
fn what_the_agent_touched_is_not_shown() {
    let scene = scene();
    let ignored = record(&scene);
    ignored.seed(&scene.folder, &scene.workspace()).unwrap();
    write(&scene, ".env", "SECRET=2");
    write(&scene, "pkg/fast.so", "built");
    fs::remove_file(scene.workspace().join(".gen/deep/a")).unwrap();
    write(&scene, "pkg/new.so", "built by the agent");
    let done = ignored.seed(&scene.folder, &scene.workspace()).unwrap();
    let changed: Vec<String> = done.changed.iter().map(ToString::to_string).collect();
    assert_eq!(changed, [".env", ".gen/deep/a", "pkg/fast.so"]);
    for (path, there) in
        [(".env", false), (".gen/deep/a", false), ("pkg/fast.so", false), ("pkg/new.so", false)]
    {
        assert_eq!(scene.at(path).exists(), there, "{path}");
    }
    assert!(scene.at("pkg/_version.py").exists());
    // A new baseline with the person's own change shows it.
    let again = record(&scene).seed(&scene.folder, &scene.workspace()).unwrap();
    assert_eq!((again.copied, scene.read(".env")), (3, "SECRET=2".into()));
}

#[test]
fn a_file_that_the_room_made_stays_and_a_copy_that_it_changed_is_made_anew() {
    let scene = scene();
    fs::write(scene.at("pkg/fast.so"), "built in the room").unwrap();
    let ignored = record(&scene);
    ignored.seed(&scene.folder, &scene.workspace()).unwrap();
    assert_eq!(scene.read("pkg/fast.so"), "built in the room");
    fs::write(scene.at(".env"), "SECRET=9").unwrap();
    ignored.seed(&scene.folder, &scene.workspace()).unwrap();
    assert_eq!(
        (scene.read(".env"), scene.read("pkg/fast.so")),
        ("SECRET=1".into(), "built in the room".into())
    );
}

#[test]
fn what_commands_left_outside_build_directories_can_be_removed() {
    let scene = scene();
    record(&scene).seed(&scene.folder, &scene.workspace()).unwrap();
    let kept = ["build/lib/x.py", "target/debug/x", "pkg/mod.o", "node_modules/a/index.js"];
    let loose = ["evil.egg-info/entry_points.txt", "pkg/evil.so", ".env"];
    for path in kept.iter().chain(&loose) {
        fs::create_dir_all(scene.at(path).parent().unwrap()).unwrap();
        fs::write(scene.at(path), "by a command").unwrap();
    }
    let mut removed: Vec<String> =
        scene.folder.remove_loose().unwrap().iter().map(ToString::to_string).collect();
    removed.sort();
    assert_eq!(removed, [".env", "evil.egg-info/entry_points.txt", "pkg/evil.so"]);
    assert!(!scene.at("evil.egg-info").exists());
    let all: Vec<&str> = SEEDED.into_iter().chain(kept).chain([".gitignore", "pkg/mod.py"]).collect();
    assert!(all.iter().all(|path| scene.at(path).exists() == (*path != ".env")), "{:?}", scene.list());
}

#[test]
fn too_much_is_left_out_and_named() {
    let scene = scene();
    fs::create_dir_all(scene.workspace().join("data")).unwrap();
    let large = fs::File::create(scene.workspace().join("data/set")).unwrap();
    large.set_len(300 << 20).unwrap();
    for number in 0..20_001 {
        write(&scene, &format!(".gen/many/{}/{number}", number % 10), "");
    }
    let ignored = record(&scene);
    let mut left_out: Vec<String> = ignored.left_out().iter().map(ToString::to_string).collect();
    left_out.sort();
    assert_eq!((left_out, ignored.len()), (vec![".gen".to_owned(), "data".to_owned()], 3));
}
