//! A layer over a directory: what the program sees, what is left of it, and that the directory is as it was.

use std::fs;

use ralph_supervisor::{Layer, NotStarted};

use crate::common::{run, shell};

/// A directory with files in it and a layer that replaces one of them; its name would upset a list of options.
fn place() -> (tempfile::TempDir, Layer) {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (over, upper, work) = (at("over, a:b"), at("upper"), at("work"));
    for dir in [&over, &upper, &work] {
        fs::create_dir(dir).unwrap();
    }
    fs::write(over.join("kept"), "kept").unwrap();
    fs::write(over.join("changed"), "agent").unwrap();
    fs::write(upper.join("changed"), "baseline").unwrap();
    (dir, Layer { over, upper, work })
}

#[test]
fn only_the_program_sees_the_layer() {
    let (_dir, layer) = place();
    let mut launch = shell("pwd; cat kept changed; echo new > written; rm kept; id -u");
    launch.cwd.clone_from(&layer.over);
    launch.layer = Some(layer.clone());
    let (exit, kept) = run(launch);
    if matches!(exit.not_started, Some(NotStarted::Layer { .. })) {
        // A machine that lets nobody have a view of their own says so, and nothing was run.
        assert_eq!(kept.text(), "");
        return;
    }
    assert_eq!(exit.code, Some(0), "{}", String::from_utf8_lossy(&kept.stderr));
    let user = rustix::process::getuid().as_raw();
    assert_eq!(kept.text(), format!("{}\nkeptbaseline{user}\n", layer.over.display()));
    assert_eq!(fs::read_to_string(layer.over.join("changed")).unwrap(), "agent");
    assert_eq!(fs::read_dir(&layer.over).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(layer.upper.join("written")).unwrap(), "new\n");
}

#[test]
fn a_layer_can_be_had_again_with_what_was_written() {
    let (_dir, layer) = place();
    for (script, expected) in [("echo one > a", ""), ("cat a", "one\n")] {
        let mut launch = shell(script);
        launch.cwd.clone_from(&layer.over);
        launch.layer = Some(layer.clone());
        let (exit, kept) = run(launch);
        if exit.not_started.is_none() {
            assert_eq!((exit.code, kept.text().as_str()), (Some(0), expected));
        }
    }
}

#[test]
fn a_layer_that_cannot_be_laid_is_told() {
    let (_dir, layer) = place();
    fs::remove_dir(&layer.work).unwrap();
    let mut launch = shell("echo never");
    launch.layer = Some(layer);
    let (exit, kept) = run(launch);
    assert!(matches!(exit.not_started, Some(NotStarted::Layer { .. })), "{exit:?}");
    assert_eq!(kept.text(), "");
}
