//! When the process panics while the monitor has the terminal, the terminal is given back before the message is printed.
//! This test starts itself in a pseudo-terminal; there it takes the terminal and panics.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use ralph_engine::home::Home;
use ralph_monitor::terminal::Terminal;
use ralph_monitor::{Texts, WatchError, WatchSettings, watch};
use ralph_view::board::{Board, BoardSettings};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
#[ignore = "started by the test below"]
fn child_that_panics() {
    let guard = Terminal::take();
    guard.terminal().draw("something drawn").unwrap();
    panic!("this is the message");
}

#[test]
#[ignore = "started by the test below"]
fn child_with_a_thread_that_panics() {
    // Before the monitor has the terminal a panic is nothing to it: there is one after the other until it is left.
    let panics = || loop {
        let _ = std::thread::spawn(|| panic!("this is the message")).join();
        std::thread::sleep(Duration::from_millis(20));
    };
    let dir = tempfile::tempdir().unwrap();
    let board = Board::new(&Home::at(dir.path()), BoardSettings::default());
    let texts = Texts { diff: Box::new(|_| Vec::new()), redact: Box::new(|_, text| text.to_owned()) };
    std::thread::spawn(panics);
    let left = watch(WatchSettings { board, colours: false, run: None, texts });
    assert!(matches!(left, Err(WatchError::Panicked)), "{left:?}");
}

/// Starts a test of this file in a terminal of its own: whether it passed, and all that it wrote.
fn in_a_terminal(test: &str) -> (bool, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let tty = || File::options().read(true).write(true).open(&name).unwrap();
    let held = tty();
    let mut command = Command::new("setsid");
    command.args(["--wait", "--ctty"]).arg(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture"]);
    command.stdin(Stdio::from(tty())).stdout(Stdio::from(tty())).stderr(Stdio::from(tty()));
    let mut child = command.spawn().unwrap();
    drop(command);
    let reading = std::thread::spawn(move || {
        let (mut master, mut all, mut piece) = (File::from(master), Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = master.read(&mut piece) {
            all.extend_from_slice(&piece[..n]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    let passed = child.wait().unwrap().success();
    let modes = tcgetattr(&held).unwrap().local_modes;
    assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO));
    drop(held);
    (passed, reading.join().unwrap())
}

#[test]
fn a_panic_in_another_thread_ends_the_monitor() {
    let (passed, text) = in_a_terminal("child_with_a_thread_that_panics");
    assert!(passed, "{text:?}");
    // Where the first panic came before the terminal was taken, there is nothing to give back.
    assert_eq!(text.matches("\x1b[?1049h").count(), text.matches("\x1b[?1049l").count(), "{text:?}");
}

#[test]
fn a_panic_gives_the_terminal_back_and_then_prints() {
    let (passed, text) = in_a_terminal("child_that_panics");
    assert!(!passed);
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("`{what}` in {text:?}"));
    let taken = place("\x1b[?1049h");
    let given_back = place("\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l");
    assert!(taken < place("something drawn") && place("something drawn") < given_back);
    assert!(given_back < place("this is the message"), "the message is on the first screen");
    assert_eq!(text.matches("\x1b[?1049l").count(), 1, "it is given back once");
}
