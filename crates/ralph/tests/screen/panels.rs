//! The panel, its help and its pages in three sizes, as snapshots.

use super::ends::until;
use super::terminal::{Terminal, run_args};
use ralph_testkit::Scratch;

/// A task with a heading, an agent that says more than fits on a line, a tool that is done and one that runs.
pub const WORKS: &str = "\
say The failing case is a quote inside of a string: the lexer closes the string there, although it is escaped
write src/lexer.rs <<END
fn lex() {
    todo!()
}
END
run until [ -e go ]; do sleep 0.02; done
claim progress
";

#[test]
fn panels_and_pages_in_three_sizes() {
    for (columns, rows) in [(40, 20), (80, 24), (120, 40)] {
        let name = |what: &str| format!("panel_{columns}x{rows}{what}");
        let mut terminal = Terminal::run(WORKS, columns, rows, &[], &[]);
        terminal.awaits("Bash until");
        terminal.awaits("? help");
        terminal.compare(&name(""));
        terminal.keys("?");
        terminal.awaits("close this help");
        terminal.compare(&name("_help"));
        terminal.keys("?o");
        terminal.awaits("Agent output");
        terminal.awaits("▸ Bash until");
        terminal.compare(&name("_output"));
        terminal.keys("d");
        terminal.awaits("+fn lex() {");
        terminal.compare(&name("_diff"));
        terminal.keys("d");
        terminal.awaits("? help");
        terminal.keys("\u{3}");
        assert_eq!(terminal.end(), 130);
        until("the terminal is as before", || terminal.is_as_before() && !terminal.hides_cursor());
    }
}

#[test]
fn a_finished_tool_does_not_look_running() {
    let script = "write a.txt x\nsleep 600s\nclaim progress\n";
    let mut terminal = Terminal::run(script, 80, 24, &[], &[]);
    terminal.awaits("thinking, after Write a.txt");
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), 130);
}

#[test]
fn a_wait_shows_when_it_ends_and_the_iteration_is_the_one_under_way() {
    let scratch = Scratch::new();
    scratch.files(&[("ralph.toml", "[run]\npause_between = \"1h\"\n")]);
    let args = run_args(&scratch, "claim progress\n", &[]);
    let mut terminal = Terminal::ralph(scratch, &args, (80, 24), &[]);
    terminal.awaits("◷");
    terminal.awaits("1 of 5");
    terminal.awaits_that("a clock time after `waiting until`", |seen| {
        let line = seen.lines().find(|line| line.starts_with('◷'))?;
        let (_, until) = line.split_once("waiting until ")?;
        let clock: Vec<&str> = until.get(..8)?.split(':').collect();
        (clock.len() == 3 && clock.iter().all(|part| part.parse::<u8>().is_ok())).then_some(())
    });
    let status = terminal.asks(&["status"]);
    assert!(status.contains("status     WAITING (until "), "{status}");
    terminal.keys("c");
    terminal.awaits("2 of 5");
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), 130);
}

#[test]
fn status_says_verifying_while_the_checks_run() {
    let mut terminal = Terminal::run("claim progress\n", 80, 24, &[], &["--verify", "sleep 600"]);
    terminal.awaits("verifying before the first iteration");
    let status = terminal.asks(&["status"]);
    assert!(status.contains("status     VERIFYING"), "{status}");
    terminal.keys("\u{3}");
    terminal.awaits("Stopping after the verification is ended");
    assert_eq!(terminal.end(), 130);
}

#[test]
fn lines_that_stay_break_at_spaces() {
    let mut terminal = Terminal::run("claim progress\n", 60, 40, &[], &[]);
    terminal.end();
    terminal.awaits("ralph explain");
    let seen = terminal.seen();
    let told = seen.lines().skip_while(|line| !line.starts_with("  → continuing: ")).skip(1);
    let more: Vec<&str> = told.take_while(|line| !line.is_empty()).collect();
    assert!(!more.is_empty() && more.iter().all(|line| line.starts_with("    ")), "{seen}");
}
