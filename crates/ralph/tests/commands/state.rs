//! Where the truth lives: what happens when it cannot be used. Nothing is ever overwritten.

use super::scene::{Scene, sim};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A scene with one run behind it, and its database.
fn after_a_run() -> (Scene, PathBuf) {
    let scene = Scene::new();
    assert_eq!(scene.sim("x", &["--verify", "true"], "write a x; claim complete").code, 0);
    let database = scene.scratch.state().join("ralph/ralph.db");
    (scene, database)
}

/// Both a reading and a writing command refuse, and the file stays as it was.
fn refused(scene: &Scene, database: &PathBuf, words: &str, reads: bool) {
    let before = std::fs::read(database).unwrap();
    let list = scene.ralph(&["list"]);
    assert_eq!(list.code, if reads { 0 } else { 74 }, "{}", list.err);
    let run = scene.sim("y", &[], "claim complete");
    assert_eq!(run.code, 74, "{}", run.err);
    assert!(run.err.contains(words), "{}", run.err);
    assert!(!run.err.contains("ralph resume"), "{}", run.err);
    assert_eq!(std::fs::read(database).unwrap(), before);
}

#[test]
fn a_damaged_database_is_refused_and_a_copy_kept() {
    let (scene, database) = after_a_run();
    std::fs::write(&database, "not a database at all".repeat(500)).unwrap();
    refused(&scene, &database, "A copy was kept", false);
    assert!(database.with_file_name("ralph.db.corrupt-1").exists());
}

#[test]
fn a_newer_database_can_be_read_not_written() {
    let (scene, database) = after_a_run();
    let file = std::fs::OpenOptions::new().write(true).open(&database).unwrap();
    file.write_all_at(&99_u32.to_be_bytes(), 60).unwrap();
    refused(&scene, &database, "Update ralph", true);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let (scene, database) = after_a_run();
    let file = std::fs::OpenOptions::new().write(true).open(&database).unwrap();
    file.write_all_at(&0xdead_beef_u32.to_be_bytes(), 68).unwrap();
    refused(&scene, &database, "is not ralph's database", false);
}

#[test]
fn there_must_be_a_place_for_state() {
    let mut scene = Scene::new();
    let mut command = scene.command(&["list"]);
    let output = command.env_remove("HOME").env_remove("XDG_STATE_HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(73));
    assert!(String::from_utf8_lossy(&output.stderr).contains("set XDG_STATE_HOME"));
    scene.scratch.files(&[("file", "")]);
    let file = scene.scratch.workspace().join("file");
    scene.set("XDG_STATE_HOME", file.to_str().unwrap());
    assert_eq!(scene.show(&["list"]).code, 0);
    assert_eq!(scene.show(&sim("x", &[], "claim complete")).code, 74);
    scene.compare("state_nowhere");
}

#[test]
fn a_pipe_in_the_state_directory_holds_nothing_up() {
    for (name, code) in [
        ("ralph.db", 74),
        ("ralph.db-wal", 74),
        ("ralph.gate", 0),
        ("ralph.ballast", 0),
        ("metrics.lock", 0),
        ("locks/another.lock", 0),
    ] {
        let (scene, database) = after_a_run();
        let place = database.with_file_name(name);
        let _ = std::fs::remove_file(&place);
        assert!(scene.scratch.command("mkfifo").arg(&place).status().unwrap().success());
        for args in [vec!["list"], sim("y", &["--verify", "true"], "write b x; claim complete")] {
            let typed = scene.command(&args);
            let mut limited = scene.scratch.command("timeout");
            limited.arg("30").arg(typed.get_program()).args(typed.get_args());
            let output = limited.stdin(std::process::Stdio::null()).output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{name}, {args:?}: {err}");
            assert!(code == 0 || err.contains("is not a regular file"), "{name}: {err}");
        }
    }
}
