//! The monitor: what it shows of runs in other processes, that its keys reach them, and that the terminal is given back.

use super::attached::detached;
use super::ends::until;
use super::panels::WORKS;
use super::terminal::Terminal;
use super::tmux::{self, Tmux};
use ralph_testkit::Scratch;
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Output, Stdio};
use std::time::Duration;

fn watch(scratch: Scratch, size: (u16, u16)) -> Terminal {
    let terminal = Terminal::ralph(scratch, &["watch".into()], size, &[]);
    terminal.awaits("Mend the parser");
    terminal.awaits("1 working");
    terminal
}

fn ralph(scratch: &Scratch, args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_ralph"));
    command.args(args).envs(env.iter().copied()).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn all_runs_are_watched_and_one_is_steered() {
    let mut terminal = watch(detached(), (120, 40));
    terminal.awaits("WORKING");
    terminal.awaits("iteration 1 of 5");
    terminal.awaits("WHAT IT TAKES TO BE PROVEN");
    terminal.keys("\r");
    terminal.awaits("Esc runs");
    terminal.keys("d");
    terminal.awaits("+fn lex() {");
    terminal.keys("q");
    terminal.awaits("Esc runs");
    terminal.keys("o");
    terminal.awaits("Agent output, iteration 1");
    terminal.awaits("Bash until [ -e go ]");
    terminal.keys("/quote\r");
    terminal.awaits("1 found");
    terminal.keys("\u{1b}");
    terminal.awaits("Esc runs");
    terminal.keys("i");
    terminal.awaits("Prompt, iteration 1");
    terminal.awaits("It loses quotes.");
    terminal.keys("qe");
    terminal.awaits("Explanation");
    terminal.keys("q\u{1b}");
    terminal.awaits("Enter whole screen");
    terminal.keys("/nowhere");
    terminal.awaits("No run has “nowhere”.");
    terminal.keys("\u{1b}");
    terminal.awaits("WORKING");
    terminal.keys("p");
    terminal.awaits("will pause before its next call.");
    assert!(terminal.asks(&["explain"]).contains("a person asked to pause"), "it is in the journal");
    terminal.keys("c");
    terminal.awaits(" continues.");
    terminal.keys("hTry the other 日本 file\r");
    terminal.awaits("will include the hint in its next prompt.");
    assert!(terminal.asks(&["explain"]).contains("hint from a person: Try the other 日本 file"));
    terminal.keys("s");
    terminal.awaits("after this iteration? y stops it");
    terminal.keys("n");
    terminal.awaits("Enter whole screen");
    terminal.keys("sy");
    terminal.awaits("will stop after this iteration.");
    terminal.touch("go");
    terminal.awaits("Stopped after 1 iteration");
    terminal.awaits("All quiet.");
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
    until("the terminal is as before", || terminal.is_as_before() && !terminal.hides_cursor());
    assert!(!terminal.seen().contains("ralph"), "the first screen is as it was:\n{}", terminal.seen());
}

#[test]
fn a_database_that_is_locked_at_the_start_is_said_and_shown_once_it_is_free() {
    let scratch = detached();
    ralph(&scratch, &["stop"], &[]);
    // Keeps everybody else out, readers too.
    let shell = rusqlite::Connection::open(scratch.state().join("ralph/ralph.db")).unwrap();
    let keep = "pragma locking_mode = exclusive; begin exclusive; commit";
    until("the run's process is gone", || shell.execute_batch(keep).is_ok());
    let mut terminal = Terminal::ralph(scratch, &["watch".into()], (80, 24), &[]);
    terminal.awaits_that("the database is locked", |seen| {
        let words = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        words.contains("is locked by another process").then_some(())
    });
    drop(shell);
    terminal.awaits("Mend the parser");
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn the_monitor_follows_the_size_of_its_terminal() {
    let mut terminal = watch(detached(), (120, 40));
    for (size, words) in [
        ((80, 24), "Enter open"),
        ((22, 3), "1/5"),
        ((1, 1), "●"),
        ((3, 2), "●"),
        ((100, 30), "WHAT IT TAKES TO BE PROVEN"),
    ] {
        terminal.resize(size.0, size.1);
        terminal.awaits(words);
    }
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
    assert!(terminal.asks(&["status"]).contains("status     RUNNING"), "leaving does not stop it");
    terminal.asks(&["stop"]);
}

#[test]
fn a_run_is_started_watched_left_and_watched_to_its_end() {
    let mut terminal = Terminal::run(WORKS, 100, 30, &[], &["--watch"]);
    terminal.awaits("Mend the parser");
    terminal.awaits("iteration 1 of 5");
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
    terminal.awaits("continues in the background; `ralph watch ");
    let seen = terminal.seen();
    let id = seen.split("`ralph watch ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    let mut terminal = terminal.again(&["watch", &id]);
    terminal.awaits("iteration 1 of 5");
    terminal.asks(&["stop"]);
    terminal.awaits("Stopped");
    terminal.keys("q");
    assert_eq!(terminal.end(), 130, "the run's own exit code");
    terminal.awaits("why each decision was made");

    let mut terminal = terminal.again(&["resume", "--watch"]);
    terminal.awaits("Mend the parser");
    terminal.awaits("iteration");
    terminal.keys("\u{3}");
    assert_eq!(terminal.end(), 130);
    terminal.awaits("continues in the background");
    terminal.asks(&["stop"]);

    let mut terminal = terminal.again(&["watch", "nowhere"]);
    terminal.awaits("there is no run `nowhere`");
    assert_eq!(terminal.end(), 64);
}

#[test]
fn a_signal_gives_the_terminal_back_and_stops_no_run() {
    let mut scratch = detached();
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut terminal = watch(scratch, (80, 24));
        assert!(!terminal.is_as_before() && terminal.hides_cursor());
        terminal.signal(signal);
        assert_eq!(terminal.end(), code);
        until("the terminal is as before", || terminal.is_as_before() && !terminal.hides_cursor());
        until("the first screen is back", || !terminal.seen().contains("Mend the parser"));
        assert!(terminal.asks(&["status"]).contains("status     RUNNING"));
        scratch = std::mem::replace(&mut terminal.scratch, Scratch::new());
    }
    ralph(&scratch, &["stop"], &[]);
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let mut terminal = watch(detached(), (80, 24));
    for _ in 0..2 {
        terminal.keys("\u{1a}");
        until("it stands still", || terminal.state() == 'T');
        until("the terminal is as before", || terminal.is_as_before() && !terminal.hides_cursor());
        assert!(!terminal.seen().contains("Mend the parser"), "{}", terminal.seen());
        terminal.signal(Signal::CONT);
        terminal.awaits("Mend the parser");
        until("it is taken again", || !terminal.is_as_before() && terminal.hides_cursor());
    }
    terminal.keys("?");
    terminal.awaits("suspend the monitor");
    terminal.keys("qq");
    assert_eq!(terminal.end(), 0);
    assert!(terminal.is_as_before());
    terminal.asks(&["stop"]);
}

#[test]
fn a_run_whose_process_is_killed_is_shown_as_crashed() {
    let mut terminal = watch(detached(), (100, 30));
    let list = terminal.asks(&["list", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&list).unwrap();
    let pid = rows[0]["pid"].as_i64().unwrap();
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
    terminal.awaits("1 needs you");
    terminal.awaits("Crashed");
    terminal.awaits("ralph resume");
    terminal.keys("a");
    terminal.awaits("Put away");
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_database_that_goes_away_is_said_and_the_monitor_stays() {
    let mut terminal = watch(detached(), (80, 24));
    terminal.asks(&["stop"]);
    terminal.awaits("All quiet.");
    let state = terminal.scratch.state().join("ralph");
    let aside = terminal.scratch.root().join("aside");
    std::fs::rename(&state, &aside).unwrap();
    terminal.awaits("as of ");
    std::thread::sleep(Duration::from_millis(300));
    assert!(terminal.seen().contains("Mend the parser"), "what was seen stays:\n{}", terminal.seen());
    std::fs::rename(&aside, &state).unwrap();
    terminal.awaits_that("the trouble is over", |seen| (!seen.contains("as of ")).then_some(()));
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn without_runs_there_is_a_sentence_and_without_a_terminal_an_error() {
    let mut terminal = Terminal::ralph(Scratch::new(), &["watch".into()], (80, 24), &[("NO_COLOR", "1")]);
    terminal.awaits("Nothing has run yet.");
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
    let text = String::from_utf8(terminal.bytes()).unwrap();
    assert!(!text.contains("\x1b[0;"), "NO_COLOR: no colour at all: {text:?}");
    let scratch = Scratch::new();
    for args in [&["watch"][..], &["run", "x", "--watch", "--agent", "sim", "--verify", "true"]] {
        let output = ralph(&scratch, args, &[("TERM", "xterm")]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(64), "{said}");
        assert!(said.contains("needs a terminal") && said.contains("ralph logs -f"), "{said}");
    }
    assert!(!scratch.state().join("ralph/runs").exists(), "nothing was started");
    let mut terminal = Terminal::ralph(Scratch::new(), &["watch".into()], (80, 24), &[("TERM", "dumb")]);
    terminal.awaits("`ralph logs -f`");
    assert_eq!(terminal.end(), 64);
    assert!(!String::from_utf8(terminal.bytes()).unwrap().contains('\x1b'));
}

#[test]
fn the_diff_of_a_run_that_is_over_is_what_the_run_did() {
    let scratch = Scratch::new();
    let script = "write done.txt of the run; claim complete";
    let run = ["run", "Write it", "--agent", "sim", "--max-iterations", "2", "--max-cost", "1"];
    let run = [&run[..], &["--verify", "test -f done.txt", "--", "--do", script]].concat();
    assert!(ralph(&scratch, &run, &[]).status.success());
    scratch.files(&[("mine.txt", "of the person\n"), ("done.txt", "of the person\n")]);
    let mut terminal = Terminal::ralph(scratch, &["watch".into()], (100, 30), &[]);
    terminal.awaits("Write it");
    terminal.keys("d");
    terminal.awaits("+of the run");
    assert!(!terminal.seen().contains("of the person"), "{}", terminal.seen());
    terminal.keys("q");
    terminal.asks(&["prune", "--yes", "--keep", "1ms"]);
    terminal.keys("d");
    terminal.awaits("snapshots were pruned");
    terminal.keys("qq");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn tmux_shows_the_monitor_and_everything_is_as_before() {
    if !tmux::is_there() {
        return;
    }
    for size in [(120, 40), (80, 24)] {
        let scratch = detached();
        let ralph = env!("CARGO_BIN_EXE_ralph");
        let script = format!(
            "trap : INT; echo before; stty -a > ../before; {ralph} watch; echo code $?; stty -a > ../after; sleep 600"
        );
        let tmux = Tmux::start(scratch, &["sh".into(), "-c".into(), script], size);
        tmux.awaits("1 working");
        tmux.keys("Enter");
        tmux.awaits("Esc runs");
        tmux.keys("Tab");
        tmux.awaits("ITERATIONS");
        tmux.keys("Enter");
        tmux.awaits("Agent output, iteration 1");
        tmux.keys("Escape");
        tmux.keys("d");
        tmux.awaits("+fn lex() {");
        tmux.command(&["resize-window", "-x", "60", "-y", "20"]).status().unwrap();
        tmux.awaits("Diff of this run");
        tmux.keys("q");
        tmux.keys("h");
        tmux.keys("Look");
        tmux.awaits("hint› Look▏");
        tmux.keys("Enter");
        tmux.awaits("will include the hint");
        tmux.command(&["resize-window", "-x", "22", "-y", "3"]).status().unwrap();
        tmux.awaits("1/5");
        tmux.command(&["resize-window", "-x", "80", "-y", "24"]).status().unwrap();
        tmux.keys("C-c");
        tmux.awaits("code 130");
        let seen = tmux.seen();
        assert!(seen.starts_with("before\n") && !seen.contains("Mend the parser"), "{seen}");
        // Beside the workspace: they are no change of the run.
        let beside = tmux.scratch.workspace().join("..");
        let modes = |name: &str| std::fs::read_to_string(beside.join(name)).unwrap_or_default();
        until("the modes are written", || !modes("after").is_empty());
        // The first line has the size, which was changed.
        let rest = |name: &str| modes(name).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rest("after"), rest("before"));
        let mut stop = tmux.scratch.command(ralph);
        assert!(stop.arg("stop").output().unwrap().status.success(), "the run continued");
    }
}

#[test]
fn a_terminal_of_another_session_is_drawn_on_until_it_is_closed() {
    if !tmux::is_there() {
        return;
    }
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let script = format!("trap '' HUP; setsid --wait {ralph} watch; echo $? > ../left");
    let tmux = Tmux::start(detached(), &["sh".into(), "-c".into(), script], (80, 24));
    tmux.awaits("1 working");
    let left = tmux.scratch.workspace().join("../left");
    assert!(!left.exists());
    tmux.command(&["kill-server"]).status().unwrap();
    until("the monitor is left", || std::fs::read_to_string(&left).is_ok_and(|code| code == "74\n"));
    let mut stop = tmux.scratch.command(ralph);
    assert!(stop.arg("stop").output().unwrap().status.success(), "the run continued");
}

#[test]
fn a_damaged_database_is_not_taken_for_one_without_runs() {
    let scratch = Scratch::new();
    let state = scratch.state().join("ralph");
    std::fs::create_dir_all(&state).unwrap();
    let damaged = [&b"SQLite format 3\0"[..], &[0xa5; 8_000]].concat();
    std::fs::write(state.join(ralph_store::DATABASE), damaged).unwrap();
    let mut terminal = Terminal::ralph(scratch, &["watch".into()], (120, 40), &[("NO_COLOR", "1")]);
    terminal.awaits("The runs cannot be read");
    std::thread::sleep(Duration::from_millis(1_500));
    let seen = terminal.seen();
    let words = seen.replace(['│', '\n'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("is damaged") && words.contains("ralph doctor --restore"), "{seen}");
    assert!(!seen.contains("Nothing has run yet"), "{seen}");
    terminal.keys("q");
    assert_eq!(terminal.end(), 0);
}
