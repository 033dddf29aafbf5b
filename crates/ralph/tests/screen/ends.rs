//! However a run ends or is held, the terminal is given back as it was.

use super::terminal::Terminal;
use rustix::process::Signal;
use std::time::Duration;

/// Nothing of it ends when it is asked to.
const HANGS: &str = "ignore-term\nsay Begun\nrun trap '' TERM; sleep 600\nclaim progress\n";

pub fn until(what: &str, mut look: impl FnMut() -> bool) {
    let found = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        look()
    });
    assert!(found, "{what}");
}

fn begun(env: &[(&str, &str)]) -> Terminal {
    let terminal = Terminal::run(HANGS, 80, 24, env, &[]);
    terminal.awaits("Bash trap '' TERM; sleep 600");
    terminal
}

#[test]
fn a_signal_gives_the_terminal_back() {
    // Only Ctrl-C is a person's stop; the others may be a shutdown's, and what they cut off needs somebody.
    let signals =
        [(Signal::TERM, 143, "CRASHED"), (Signal::HUP, 129, "CRASHED"), (Signal::INT, 130, "INTERRUPTED")];
    for (signal, code, state) in signals {
        let mut terminal = begun(&[]);
        assert!(!terminal.is_as_before() && terminal.hides_cursor());
        terminal.signal(signal);
        terminal.awaits("Stopping after the agent is ended (Ctrl-C again to force)");
        // At once: the agent has five seconds to end, and is killed then.
        terminal.signal(signal);
        assert_eq!(terminal.end(), code);
        terminal.awaits("Ending at once: the agent is killed, its last work is not inspected.");
        let list = terminal.asks(&["list"]);
        assert!(list.contains(state) && list.contains("  ~$") && !list.contains("$0.00"), "{list}");
        until("the cursor is back", || terminal.is_as_before() && !terminal.hides_cursor());
    }
}

#[test]
fn ctrl_z_gives_it_back_and_going_on_takes_it_again() {
    let mut terminal = begun(&[]);
    terminal.keys("\u{1a}");
    until("it stands still", || terminal.state() == 'T');
    until("the terminal is as before", || terminal.is_as_before() && !terminal.hides_cursor());
    assert!(!terminal.seen().contains("calls/hour"), "{}", terminal.seen());
    terminal.signal(Signal::CONT);
    terminal.awaits("calls/hour");
    until("keys come one by one again", || !terminal.is_as_before() && terminal.hides_cursor());
    terminal.keys("o");
    terminal.awaits("Agent output");
    terminal.keys("\u{1a}");
    until("it stands still", || terminal.state() == 'T');
    until("a page is left, too", || !terminal.seen().contains("Agent output"));
    terminal.signal(Signal::CONT);
    terminal.awaits("Agent output");
    terminal.keys("q\u{3}");
    terminal.awaits("Stopping after the agent is ended");
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), 130);
    until("the terminal is as before", || terminal.is_as_before());
}

#[test]
fn a_dumb_terminal_gets_lines_that_stay_and_quiet_gets_only_the_receipt() {
    for (env, more) in [(&[("TERM", "dumb")][..], &[][..]), (&[], &["--quiet"])] {
        let script = "write done yes\nclaim complete\n";
        let mut terminal = Terminal::run(script, 80, 24, env, more);
        assert_eq!(terminal.end(), 0);
        terminal.awaits("why each decision was made");
        let text = String::from_utf8(terminal.bytes()).unwrap();
        assert!(!text.contains("\x1b[?") && !text.contains("\x1b[J"), "{text:?}");
        assert_eq!(text.contains("Iteration 1"), more.is_empty());
    }
}
