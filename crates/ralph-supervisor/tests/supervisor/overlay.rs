//! An overlay over a directory: what the program sees, what is left of it, and that the directory is as it was.

use std::fs;
use std::process::Command;

use ralph_supervisor::{NotStarted, Overlay};
use ralph_testkit::skip;

use crate::common::{run, shell};

/// A directory with files in it and an overlay that replaces one of them; its name would upset a list of options.
fn place() -> (tempfile::TempDir, Overlay) {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (over, upper, work) = (at("over, a:b"), at("upper"), at("work"));
    for dir in [&over, &upper, &work] {
        fs::create_dir(dir).unwrap();
    }
    fs::write(over.join("kept"), "kept").unwrap();
    fs::write(over.join("changed"), "agent").unwrap();
    fs::write(upper.join("changed"), "baseline").unwrap();
    (dir, Overlay { over, upper, work })
}

/// A place where this user may mount an overlay, as `unshare` and `mount` say; otherwise the test is skipped. Whether the
/// product can is what is tested, so the product is not asked.
#[track_caller]
fn permitted() -> Option<(tempfile::TempDir, Overlay)> {
    if let Some(fallback) = ralph_os::missing().iter().find(|missing| missing.what.contains("private view")) {
        skip(fallback.what);
        return None;
    }
    let (dir, overlay) = place();
    let user = rustix::process::getuid();
    let as_root: &[&str] = if user.is_root() { &[] } else { &["--user", "--map-root-user"] };
    // The names are simple here: `mount` splits its options at commas.
    let script = "mkdir o u w && mount -t overlay probe -o lowerdir=o,upperdir=u,workdir=w o";
    let mut probe = Command::new("unshare");
    probe.args(as_root).args(["--mount", "sh", "-c", script]).current_dir(dir.path());
    let output = probe.output().unwrap();
    if output.status.success() {
        return Some((dir, overlay));
    }
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    skip(&format!("no overlay can be mounted: {}", why.lines().next().unwrap_or_default()));
    None
}

#[test]
fn only_the_program_sees_the_layer() {
    let Some((_dir, overlay)) = permitted() else { return };
    let mut launch = shell("pwd; cat kept changed; echo new > written; rm kept; id -u");
    launch.cwd.clone_from(&overlay.over);
    launch.overlay = Some(overlay.clone());
    let (exit, kept) = run(launch);
    assert_eq!(exit.code, Some(0), "{exit:?} {}", String::from_utf8_lossy(&kept.stderr));
    let user = rustix::process::getuid().as_raw();
    assert_eq!(kept.text(), format!("{}\nkeptbaseline{user}\n", overlay.over.display()));
    assert_eq!(fs::read_to_string(overlay.over.join("changed")).unwrap(), "agent");
    assert_eq!(fs::read_dir(&overlay.over).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(overlay.upper.join("written")).unwrap(), "new\n");
}

#[test]
fn a_layer_can_be_had_again_with_what_was_written() {
    let Some((_dir, overlay)) = permitted() else { return };
    for (script, expected) in [("echo one > a", ""), ("cat a", "one\n")] {
        let mut launch = shell(script);
        launch.cwd.clone_from(&overlay.over);
        launch.overlay = Some(overlay.clone());
        let (exit, kept) = run(launch);
        assert_eq!((exit.code, kept.text().as_str()), (Some(0), expected), "{exit:?}");
    }
}

#[test]
fn a_layer_that_cannot_be_laid_is_told() {
    let Some((_dir, overlay)) = permitted() else { return };
    fs::remove_dir(&overlay.work).unwrap();
    let mut launch = shell("echo never");
    launch.overlay = Some(overlay);
    let (exit, kept) = run(launch);
    assert!(matches!(exit.not_started, Some(NotStarted::Overlay { .. })), "{exit:?}");
    assert_eq!(kept.text(), "");
}
