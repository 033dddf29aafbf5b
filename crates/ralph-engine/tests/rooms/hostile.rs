//! Folders that something else has written to: things in the way, links out, closed directories, a killed fill.

use super::scene::{Scene, file, files, link, state};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn whatever_is_in_the_way_is_removed() {
    let mut scene = Scene::new();
    let wanted = files(&[(".gitignore", "*.d\n"), ("a/b/c", "1"), ("x", "1"), ("y.d/z", "1")]);
    scene.fill(&wanted).unwrap();
    fs::remove_dir_all(scene.at("a")).unwrap();
    fs::write(scene.at("a"), "a file").unwrap();
    fs::remove_file(scene.at("x")).unwrap();
    fs::create_dir_all(scene.at("x/y/z")).unwrap();
    fs::remove_dir_all(scene.at("y.d")).unwrap();
    fs::write(scene.at("y.d"), "an ignored file").unwrap();
    fs::remove_file(scene.at(".gitignore")).unwrap();
    fs::create_dir(scene.at(".gitignore")).unwrap();
    scene.fill(&wanted).unwrap();
    assert_eq!(scene.list(), [".gitignore", "a/b/c", "x", "y.d/z"]);
    assert_eq!((scene.read("x"), scene.read("y.d/z")), ("1".into(), "1".into()));
}

#[test]
fn no_link_leads_out_of_the_folder() {
    let mut scene = Scene::new();
    let outside = scene.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("theirs"), "theirs").unwrap();
    let wanted = files(&[("d/theirs", "ours"), ("d/more", "ours"), ("e/f/g", "ours"), ("h", "ours")]);
    scene.fill(&wanted).unwrap();
    for dir in ["d", "e"] {
        fs::remove_dir_all(scene.at(dir)).unwrap();
        symlink(&outside, scene.at(dir)).unwrap();
    }
    fs::remove_file(scene.at("h")).unwrap();
    symlink(outside.join("theirs"), scene.at("h")).unwrap();
    symlink(&outside, scene.at("litter")).unwrap();
    assert_eq!(scene.folder.rewritten(&|path| path == b"d/theirs").len(), 1);
    scene.fill(&wanted).unwrap();
    assert_eq!(scene.list(), ["d/more", "d/theirs", "e/f/g", "h"]);
    assert_eq!(fs::read_to_string(outside.join("theirs")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_wanted_link_may_point_anywhere_and_is_not_followed() {
    let mut scene = Scene::new();
    let outside = scene.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let mut wanted = files(&[("a", "1")]);
    wanted.insert(b"out".to_vec(), link(outside.to_str().unwrap()));
    scene.fill(&wanted).unwrap();
    let before = state(&scene.at("out"));
    scene.fill(&wanted).unwrap();
    assert_eq!(state(&scene.at("out")), before);
    scene.fill(&files(&[("out/a", "1")])).unwrap();
    assert_eq!((scene.list(), fs::read_dir(&outside).unwrap().count()), (vec!["out/a".into()], 0));
}

/// Rules that a command wrote must not hide what it wrote.
#[test]
fn only_the_rules_that_were_put_there_count() {
    let mut scene = Scene::new();
    let wanted = files(&[("tests/test_a.py", "1")]);
    scene.fill(&wanted).unwrap();
    for dir in ["", "tests/", "more/"] {
        fs::create_dir_all(scene.at(dir)).unwrap();
        fs::write(scene.at(&format!("{dir}.gitignore")), "*\n").unwrap();
        fs::write(scene.at(&format!("{dir}conftest.py")), "hostile").unwrap();
    }
    scene.fill(&wanted).unwrap();
    assert_eq!(scene.list(), ["tests/test_a.py"]);
}

#[test]
fn directories_without_permissions_are_opened_again() {
    let mut scene = Scene::new();
    let wanted = files(&[("d/e/f", "1")]);
    scene.fill(&wanted).unwrap();
    fs::write(scene.at("d/e/litter"), "x").unwrap();
    for (path, mode) in [("d/e", 0o500), ("d", 0)] {
        fs::set_permissions(scene.at(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    scene.fill(&files(&[("d/e/f", "2")])).unwrap();
    assert_eq!((scene.read("d/e/f"), scene.list().len()), ("2".into(), 1));
}

#[test]
fn after_a_killed_fill_nothing_is_trusted_unread() {
    let mut scene = Scene::new();
    let whole = files(&[(".gitignore", "*.log\n"), ("a", "1"), ("b", "1"), ("c.log", "1")]);
    scene.fill(&whole).unwrap();
    let a = state(&scene.at("a"));
    // A source that cannot be had ends the fill in the middle, as a kill would.
    let mut broken = files(&[("b", "2"), ("new.log", "1")]);
    broken.insert(b"z".to_vec(), super::scene::from(ralph_engine::room::Source::Blob, "missing", 0o644));
    scene.fill(&broken).unwrap_err();
    let mut scene = scene.reopen();
    fs::write(scene.at("b"), "3").unwrap();
    scene.fill(&whole).unwrap();
    assert_eq!(scene.list(), [".gitignore", "a", "b", "c.log"]);
    assert_eq!((scene.read("a"), scene.read("b")), ("1".into(), "1".into()));
    assert_ne!(state(&scene.at("a")), a, "the broken fill removed it");
    let (a, b) = (state(&scene.at("a")), state(&scene.at("b")));
    fs::remove_file(scene.dir.path().join("room/manifest")).unwrap();
    let mut scene = scene.reopen();
    scene.fill(&whole).unwrap();
    assert_eq!((state(&scene.at("a")), state(&scene.at("b"))), (a, b), "the same content keeps its time");
}

#[test]
fn paths_that_cannot_be_are_refused_or_left_out() {
    let mut scene = Scene::new();
    for path in ["../out", "a/../../out", "", ".", "a/"] {
        scene.fill(&[(path.into(), file("x"))].into()).unwrap_err();
    }
    let why = scene.fill(&files(&[("a", "1"), ("a-b", "1"), ("a/b", "1")])).unwrap_err().to_string();
    assert!(why.contains("both a file and a directory"), "{why}");
    scene.fill(&files(&[(".git", "gitdir: x"), ("sub/.git/config", "x"), ("a", "1")])).unwrap();
    assert_eq!(scene.list(), ["a"]);
    assert!(!scene.dir.path().join("out").exists());
}

#[test]
fn pipes_left_by_commands_do_not_block() {
    let mut scene = Scene::new();
    let wanted = files(&[("a", "1"), ("d/b", "1")]);
    scene.fill(&wanted).unwrap();
    fs::remove_file(scene.at("a")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(scene.at("a")).arg(scene.at("d/pipe")).status();
    assert!(made.unwrap().success());
    scene.fill(&wanted).unwrap();
    assert_eq!(scene.read("a"), "1");
}
