//! A whole session at the keyboard: run, help, hint, pause, go on, resize, stop.

use super::terminal::Terminal;

const WAITS: &str = "\
[1]
say Looking at the lexer
run until [ -e go1 ]; do sleep 0.02; done
spend 0.04
claim progress
[2]
run until [ -e go2 ]; do sleep 0.02; done
spend 0.08
claim progress
";

#[test]
fn a_person_at_the_keyboard_sees_asks_and_stops() {
    let mut terminal = Terminal::run(WAITS, 80, 24, &[], &[]);
    terminal.awaits("▸ ");
    terminal.awaits("Bash until [ -e go1 ]");
    terminal.awaits("calls/hour");
    terminal.compare("screen_1_runs");
    terminal.keys("?");
    terminal.awaits("Ctrl-Z  suspend");
    terminal.compare("screen_2_help");
    terminal.keys("?");
    terminal.keys("hTry the other");
    terminal.keys(" file");
    terminal.awaits("hint› Try the other file▏");
    terminal.compare("screen_3_hint");
    terminal.keys("\r");
    terminal.awaits("hint from a person: Try the other file");
    terminal.keys("p");
    terminal.awaits("a person asked to pause");
    terminal.touch("go1");
    terminal.awaits("paused before the next call");
    terminal.awaits("p continue");
    terminal.compare("screen_4_paused");
    terminal.keys("p");
    terminal.awaits("Bash until [ -e go2 ]");
    terminal.keys("s");
    terminal.awaits("a person asked to stop after this iteration");
    terminal.awaits("h hint");
    for (columns, rows, name) in [(56, 14, "small"), (20, 5, "tiny"), (100, 30, "large")] {
        terminal.resize(columns, rows);
        terminal.awaits(if name == "large" { "calls/hour" } else { "Bash" });
        if name == "small" {
            terminal.awaits("iteration 2 of 5");
        }
    }
    terminal.compare("screen_5_large_again");
    terminal.touch("go2");
    assert_eq!(terminal.end(), 130);
    terminal.awaits("why each decision was made");
    terminal.compare("screen_6_stopped");
    assert!(terminal.is_as_before() && !terminal.hides_cursor());
}

#[test]
fn a_small_and_a_tiny_terminal_say_the_most_important() {
    for (columns, rows, name) in [(56, 14, "screen_small"), (20, 5, "screen_tiny")] {
        let mut terminal = Terminal::run(WAITS, columns, rows, &[], &["--verify", "true"]);
        terminal.awaits("▸");
        terminal.awaits("Bash");
        terminal.compare(name);
        terminal.keys("hok");
        terminal.awaits("hint› ok▏");
        terminal.keys("\r");
        terminal.keys("\u{3}");
        assert_eq!(terminal.end(), 130);
    }
}

#[test]
fn a_drawing_is_one_write_and_only_what_changed() {
    let mut terminal = Terminal::run(WAITS, 80, 24, &[("NO_COLOR", "1")], &[]);
    terminal.awaits("Bash until [ -e go1 ]");
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), 130);
    let text = String::from_utf8(terminal.bytes()).unwrap();
    assert!(!text.contains("\x1b[1m") && !text.contains("\x1b[3"), "NO_COLOR: no colour at all");
    assert_eq!(text.matches("\x1b[?2026h").count(), text.matches("\x1b[?2026l").count());
    assert!(text.matches("calls/hour").count() < 12, "a line that is as it was is not drawn again");
}
