//! The panel of a run in another process: the same keys, and leaving it does not stop the run.

use super::ends::until;
use super::panels::WORKS;
use super::terminal::{Terminal, run_args};
use ralph_testkit::Scratch;
use std::process::Stdio;

/// A run in the background.
pub fn detached() -> Scratch {
    let scratch = Scratch::new();
    let mut args = run_args(&scratch, WORKS, &[]);
    args.insert(1, "--detach".into());
    let mut command = scratch.command(env!("CARGO_BIN_EXE_ralph"));
    let output = command.args(&args).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("Watch it with `ralph attach "), "{told}");
    scratch
}

fn attach(scratch: Scratch) -> Terminal {
    Terminal::ralph(scratch, &["attach".into()], (80, 24), &[])
}

#[test]
fn a_run_in_the_background_is_watched_left_and_steered() {
    let mut terminal = attach(detached());
    terminal.awaits("Bash until [ -e go ]");
    terminal.awaits("q leave");
    // What the call has spent so far comes from its transcript.
    terminal.awaits("$0.0060 of $10.00");
    terminal.compare("attach_1_panel");
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
    terminal.awaits("continues in the background");
    until("the terminal is as before", || terminal.is_as_before() && !terminal.hides_cursor());
    assert!(terminal.asks(&["status"]).contains("status     RUNNING"), "leaving does not stop it");

    let mut terminal = terminal.again(&["attach"]);
    terminal.awaits("Bash until [ -e go ]");
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), 130);
    assert!(terminal.asks(&["status"]).contains("status     RUNNING"), "nor does Ctrl-C");

    let mut terminal = terminal.again(&["attach"]);
    terminal.awaits("Bash until [ -e go ]");
    terminal.keys("d");
    terminal.awaits("+fn lex() {");
    terminal.keys("qhTry the other file\r");
    terminal.awaits("hint from a person: Try the other file");
    terminal.keys("s");
    terminal.awaits("a person asked to stop after this iteration");
    terminal.touch("go");
    assert_eq!(terminal.end(), 130, "the run's own exit code");
    terminal.awaits("why each decision was made");

    let terminal = terminal.again(&["attach"]);
    terminal.awaits("is not active (status: INTERRUPTED)");
}

#[test]
fn an_interrupted_run_is_resumed_in_the_background() {
    let mut terminal = Terminal::run(WORKS, 80, 24, &[], &[]);
    terminal.awaits("Bash until [ -e go ]");
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), 130);
    let id = terminal.asks(&["resume", "--detach"]);
    assert!(terminal.asks(&["status", id.trim()]).contains(id.trim()), "it prints the id");
    let mut terminal = terminal.again(&["attach"]);
    terminal.awaits("Bash until [ -e go ]");
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
    terminal.asks(&["stop"]);
}
