//! What an agent or a repository says never moves the cursor, and a closed or full stdout harms nobody.

use super::scene::{Scene, sim};
use std::fs::OpenOptions;
use std::process::Stdio;

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let scene = Scene::new();
    let script = "say \x1b]0;title\x07 \x1b[2J; run touch \"$(printf 'evil\\033[31m\\nname')\"; message \x1b[31mred; claim blocked";
    let task = "task \x1b[31mred\u{202e}\x07";
    let run = scene.sim(task, &["-v", "--verify", "echo '\x1b[32m'; false"], script);
    let mut seen = run.err + &run.out;
    for args in
        [&["list", "--all"][..], &["status"], &["explain"], &["replay"], &["resume"], &["circuit", "status"]]
    {
        let answer = scene.ralph(args);
        seen.push_str(&answer.out);
        seen.push_str(&answer.err);
    }
    let json = scene.ralph(&["status", "--json"]).out + &scene.ralph(&["explain", "--json"]).out;
    for c in ['\x1b', '\x07', '\u{202e}'] {
        assert!(!seen.contains(c), "{c:?} in:\n{seen}");
    }
    assert!(!json.contains(['\x1b', '\x07']));
    assert!(seen.contains("task \\u{1b}[31mred\\u{202e}\\u{7}"), "{seen}");
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let mut scene = Scene::new();
    let args = |color: &'static str| {
        sim("x", &["--fresh", "--verify", "true", "--color", color], "write a x; claim complete")
    };
    assert!(scene.ralph(&args("always")).err.contains("\x1b[33mCOMPLETED, unbroken only\x1b[0m"));
    assert!(!scene.ralph(&args("auto")).err.contains('\x1b'));
    scene.set("NO_COLOR", "1");
    scene.set("TERM", "xterm-256color");
    assert!(!scene.ralph(&args("auto")).err.contains('\x1b'));
}

#[test]
fn a_reader_that_goes_away_does_not_stop_a_run() {
    let scene = Scene::new();
    let args = [&sim("x", &["--json", "--verify", "true"], "write a x; claim complete")[..]].concat();
    let mut child = scene.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn data_that_does_not_reach_its_file_is_a_failure() {
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
        return ralph_testkit::skip("there is no /dev/full here");
    };
    let scene = Scene::new();
    scene.sim("x", &["--verify", "true"], "write a x; claim complete");
    let output = scene.command(&["list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(74));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdout could not be written"));
}

#[test]
fn a_path_that_is_no_text_is_refused_before_anything_is_spent() {
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::new();
    let dir = scene.scratch.root().join(std::ffi::OsStr::from_bytes(b"bad\xff"));
    std::fs::create_dir(&dir).unwrap();
    let output = scene.command(&sim("x", &[], "claim complete")).current_dir(&dir).output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not UTF-8 text"));
}
