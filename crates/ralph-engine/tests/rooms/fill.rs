//! Honest fills: contents, times, modes, litter, and what was rewritten meanwhile.

use super::scene::{Scene, file, files, from, link, state};
use ralph_engine::room::Source;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

#[test]
fn contents_come_from_the_store_the_workspace_or_the_caller() {
    let mut scene = Scene::new();
    scene.blobs.take_bytes(b"kept").unwrap();
    fs::create_dir(scene.workspace().join("d")).unwrap();
    fs::write(scene.workspace().join("d/work"), "agent").unwrap();
    symlink("d/work", scene.workspace().join("link")).unwrap();
    let mut wanted = files(&[("given", "bytes")]);
    wanted.insert(b"a/b/kept".to_vec(), from(Source::Blob, "kept", 0o755));
    wanted.insert(b"d/work".to_vec(), from(Source::Workspace, "agent", 0o640));
    let mut linked = from(Source::Workspace, "d/work", 0o777);
    linked.link = true;
    wanted.insert(b"link".to_vec(), linked);
    scene.fill(&wanted).unwrap();
    assert_eq!(scene.list(), ["a/b/kept", "d/work", "given", "link"]);
    assert_eq!((scene.read("a/b/kept"), scene.read("link")), ("kept".into(), "agent".into()));
    let mode = |path: &str| scene.at(path).metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("a/b/kept"), mode("d/work"), mode("given")), (0o755, 0o640, 0o644));
    assert!(scene.at("link").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_file_of_the_workspace_that_changed_since_it_was_indexed_is_an_error() {
    let mut scene = Scene::new();
    fs::write(scene.workspace().join("work"), "newer").unwrap();
    let wanted = [(b"work".to_vec(), from(Source::Workspace, "older", 0o644))].into();
    let why = scene.fill(&wanted).unwrap_err().to_string();
    assert!(why.contains("work") && why.contains("changed"), "{why}");
}

#[test]
fn a_file_with_new_content_gets_a_new_time_and_every_other_keeps_its_own() {
    let mut scene = Scene::new();
    scene.fill(&files(&[("same", "1"), ("d/changed", "1"), ("gone", "1")])).unwrap();
    let (same, changed) = (state(&scene.at("same")), state(&scene.at("d/changed")));
    let mut scene = scene.reopen();
    scene.fill(&files(&[("same", "1"), ("d/changed", "2"), ("new", "1")])).unwrap();
    assert_eq!(state(&scene.at("same")), same);
    assert!(state(&scene.at("d/changed")).1 > changed.1);
    assert_eq!(scene.list(), ["d/changed", "new", "same"]);
    assert_eq!(scene.read("d/changed"), "2");
}

#[test]
fn a_new_mode_or_kind_is_put_in_place() {
    let mut scene = Scene::new();
    scene.fill(&files(&[("tool", "x"), ("other", "tool")])).unwrap();
    let mut wanted = files(&[("tool", "x")]);
    wanted.get_mut(b"tool".as_slice()).unwrap().mode = 0o755;
    wanted.insert(b"other".to_vec(), link("tool"));
    scene.fill(&wanted).unwrap();
    assert_eq!(scene.at("tool").metadata().unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_link(scene.at("other")).unwrap().to_str(), Some("tool"));
}

#[test]
fn litter_is_removed_and_ignored_files_stay() {
    let mut scene = Scene::new();
    fs::create_dir_all(scene.workspace().join(".git/info")).unwrap();
    fs::write(scene.workspace().join(".git/HEAD"), "ref: refs/heads/main").unwrap();
    fs::write(scene.workspace().join(".git/info/exclude"), "mine\n").unwrap();
    let wanted = files(&[(".gitignore", "*.o\n/out/\n"), ("src/a.c", "int a;")]);
    scene.fill(&wanted).unwrap();
    for (path, text) in [
        ("src/a.o", "built"),
        ("out/deep/er", "built"),
        ("target/debug/x", "built"),
        ("mine", "excluded"),
        ("src/litter", "x"),
        ("new/dir/litter", "x"),
        (".git/HEAD", "ref: refs/heads/x"),
        (".git/info/exclude", "*"),
    ] {
        fs::create_dir_all(scene.at(path).parent().unwrap()).unwrap();
        fs::write(scene.at(path), text).unwrap();
    }
    scene.fill(&wanted).unwrap();
    assert_eq!(scene.list(), [".gitignore", "mine", "out/deep/er", "src/a.c", "src/a.o", "target/debug/x"]);
    assert!(!scene.at("new").exists() && !scene.at(".git").exists());
}

#[test]
fn what_is_wanted_although_it_is_ignored_is_written_and_removed_again() {
    let mut scene = Scene::new();
    let rules = (".gitignore", "*.log\ntarget/\n");
    scene.fill(&files(&[rules, ("a.log", "1"), ("target/in", "1")])).unwrap();
    assert_eq!((scene.read("a.log"), scene.read("target/in")), ("1".into(), "1".into()));
    let before = state(&scene.at("a.log"));
    scene.fill(&files(&[rules, ("a.log", "1")])).unwrap();
    assert_eq!(scene.list(), [".gitignore", "a.log"]);
    assert_eq!(state(&scene.at("a.log")), before);
}

#[test]
fn what_commands_did_to_a_file_is_undone_even_if_its_content_is_back() {
    let mut scene = Scene::new();
    let wanted =
        files(&[("tests/a", "1"), ("tests/b", "1"), ("tests/c", "1"), ("src", "1"), ("untouched", "1")]);
    scene.fill(&wanted).unwrap();
    let is_test = |path: &[u8]| path.starts_with(b"tests/") || path == b"untouched";
    assert_eq!(scene.folder.rewritten(&is_test), []);
    let times = scene.at("tests/a").metadata().unwrap().modified().unwrap();
    fs::write(scene.at("tests/a"), "0").unwrap();
    fs::write(scene.at("tests/a"), "1").unwrap();
    fs::File::options().write(true).open(scene.at("tests/a")).unwrap().set_modified(times).unwrap();
    fs::remove_file(scene.at("tests/b")).unwrap();
    fs::write(scene.at("src"), "2").unwrap();
    let touched: Vec<String> = scene.folder.rewritten(&is_test).iter().map(ToString::to_string).collect();
    assert_eq!(touched, ["tests/a", "tests/b"]);
    scene.fill(&wanted).unwrap();
    assert_eq!(scene.folder.rewritten(&|_| true), []);
    assert_eq!((scene.read("src"), scene.read("tests/b")), ("1".into(), "1".into()));
}

#[test]
fn a_python_file_is_never_dated_in_a_second_that_another_version_of_it_had() {
    let mut scene = Scene::new();
    let mut seconds = Vec::new();
    for text in ["a = 1", "a = 2", "", "a = 3"] {
        let named = [("m.py", text), ("other.txt", text)];
        scene.fill(&files(if text.is_empty() { &[] } else { &named })).unwrap();
        seconds.extend(scene.at("m.py").metadata().ok().map(|meta| meta.mtime()));
        scene = scene.reopen();
    }
    assert_eq!(seconds.len(), 3);
    assert!(seconds.is_sorted_by(|a, b| a < b), "{seconds:?}");
}

#[test]
fn names_need_not_be_text() {
    let mut scene = Scene::new();
    let name = b"d\xff/\xfe name\n".to_vec();
    let wanted = [(name.clone(), file("x"))].into();
    scene.fill(&wanted).unwrap();
    let at = scene.folder.tree().join(OsStr::from_bytes(&name));
    let before = state(&at);
    fs::write(scene.folder.tree().join(OsStr::from_bytes(b"d\xff/litter\xfd")), "x").unwrap();
    let mut scene = scene.reopen();
    scene.fill(&wanted).unwrap();
    assert_eq!((state(&at), scene.list().len()), (before, 1));
}

#[test]
fn a_folder_can_be_emptied_tidied_and_removed() {
    let mut scene = Scene::new();
    scene.fill(&files(&[("a", "1")])).unwrap();
    scene.folder.tidy().unwrap();
    assert_eq!(scene.read("a"), "1", "it is not too large");
    scene.folder.empty().unwrap();
    assert_eq!(scene.list(), [""; 0]);
    let mut scene = scene.reopen();
    scene.fill(&files(&[("a", "1")])).unwrap();
    assert_eq!(scene.read("a"), "1");
    scene.folder.remove().unwrap();
    assert!(!scene.dir.path().join("room").exists());
}

#[test]
fn only_one_process_at_a_time_has_a_folder() {
    let scene = Scene::new();
    let path = scene.dir.path().join("room");
    let other = std::thread::spawn(move || ralph_engine::room::RoomFolder::open(&path).map(|_| ()));
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(!other.is_finished());
    drop(scene.folder);
    other.join().unwrap().unwrap();
}
