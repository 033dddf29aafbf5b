//! Files outside the workspace that runners obey.

use ralph_engine::room::{OutsideFiles, OutsidePlaces};
use std::fs;
use std::path::{Path, PathBuf};

struct World {
    dir: tempfile::TempDir,
    path: std::ffi::OsString,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["home/project/work", "first", "second", "home/.local/lib/python3.12/site-packages"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("second/pytest"), "#!/bin/sh").unwrap();
        fs::write(at("home/.npmrc"), "a=1").unwrap();
        let path = std::env::join_paths([at("home/project/work/bin"), at("first"), at("second")]).unwrap();
        World { dir, path }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn record(&self) -> OutsideFiles {
        let home = self.at("home");
        let places = OutsidePlaces { home: Some(&home), config_home: None, path: Some(&self.path) };
        OutsideFiles::record(&self.at("home/project/work"), places)
    }

    fn write(&self, path: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), "changed").unwrap();
    }
}

fn names(root: &Path, paths: Vec<String>) -> Vec<String> {
    let lead = format!("{}/", root.display());
    paths.into_iter().map(|path| path.strip_prefix(&lead).unwrap_or(&path).to_owned()).collect()
}

#[test]
fn what_changes_outside_is_named() {
    for (path, named) in [
        ("home/.npmrc", true),
        ("home/.cargo/config.toml", true),
        ("home/.config/pip/pip.conf", true),
        ("home/.config/go/env", true),
        ("home/.config/ralph/config.toml", true),
        ("home/project/conftest.py", true),
        ("home/pytest.ini", true),
        ("home/.local/lib/python3.12/site-packages/x.pth", true),
        ("home/.local/lib/python3.12/site-packages/usercustomize.py", true),
        ("home/.local/lib/python3.12/site-packages/requests.py", false),
        ("second/pytest", true),
        ("second/other", false),
        ("home/project/notes.txt", false),
        ("home/project/work/pytest.ini", false),
        ("home/project/work/bin/pytest", false),
    ] {
        let world = World::new();
        let before = world.record();
        world.write(path);
        let expected: &[&str] = if named { &[path] } else { &[] };
        assert_eq!(names(world.dir.path(), before.changed(&world.record())), expected);
    }
}

#[test]
fn of_git_s_own_configs_only_what_counts_is_named() {
    for (path, before, after, expected) in [
        ("home/.gitconfig", "", "[user]\n\tname = Bot\n", None),
        (
            "home/.gitconfig",
            "[core]\n\teditor = vi\n",
            "[core]\n\teditor = vi\n[safe]\n\tdirectory = /x\n",
            None,
        ),
        ("home/.config/git/config", "", "[maintenance]\n\trepo = /x\n", None),
        ("home/.gitconfig", "", "[core]\n\thooksPath = /tmp\n", Some("home/.gitconfig (core.hookspath)")),
        (
            "home/.config/git/config",
            "[core]\n\teditor = vi\n",
            "",
            Some("home/.config/git/config (core.editor)"),
        ),
        ("home/.npmrc", "", "[user]\n\tname = Bot\n", Some("home/.npmrc")),
    ] {
        let world = World::new();
        let write = |text: &str| {
            fs::create_dir_all(world.at(path).parent().unwrap()).unwrap();
            fs::write(world.at(path), text).unwrap();
        };
        if !before.is_empty() {
            write(before);
        }
        let recorded = world.record();
        write(after);
        let changed = names(world.dir.path(), recorded.changed(&world.record()));
        assert_eq!(changed.first().map(String::as_str), expected, "{path}: {after}");
        assert!(changed.len() <= 1);
    }
}

#[test]
fn a_program_that_comes_first_on_the_path_is_named() {
    let world = World::new();
    let before = world.record();
    world.write("first/pytest");
    let changed = names(world.dir.path(), before.changed(&world.record()));
    assert_eq!(changed, ["first/pytest", "second/pytest"]);
}

#[test]
fn a_package_in_a_directory_above_is_named_by_its_folder() {
    let world = World::new();
    world.write("home/project/node_modules/a/index.js");
    let before = world.record();
    world.write("home/project/node_modules/jest/index.js");
    assert_eq!(names(world.dir.path(), before.changed(&world.record())), ["home/project/node_modules"]);
}

#[test]
fn a_record_survives() {
    let world = World::new();
    let (recorded, at) = (world.record(), world.at("saved"));
    recorded.save(&at).unwrap();
    assert_eq!(OutsideFiles::load(&at), Some(recorded));
    fs::write(&at, "{}").unwrap();
    assert_eq!(OutsideFiles::load(&at), None);
}
