//! The panel in tmux, which people use: what it makes of the sequences, also on its other screen and when it is resized.

use super::panels::WORKS;
use super::terminal::run_args;
use ralph_testkit::{Scratch, skip_outside_ci};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A tmux server of its own with a run in it.
pub struct Tmux {
    pub scratch: Scratch,
    config: PathBuf,
}

impl Tmux {
    fn run(script: &str, (columns, rows): (u16, u16)) -> Tmux {
        let scratch = Scratch::new();
        let mut command = vec![env!("CARGO_BIN_EXE_ralph").to_owned()];
        command.extend(run_args(&scratch, script, &[]));
        Tmux::start(scratch, &command, (columns, rows))
    }

    /// With this command in it.
    pub fn start(scratch: Scratch, args: &[String], (columns, rows): (u16, u16)) -> Tmux {
        let config = scratch.root().join("tmux.conf");
        std::fs::write(&config, "set -g remain-on-exit on\nset -g status off\n").unwrap();
        let tmux = Tmux { scratch, config };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut start = tmux.command(&["new-session", "-d", "-x", &columns, "-y", &rows, "--"]);
        assert!(start.args(args).status().unwrap().success());
        tmux
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.scratch.command("tmux");
        command.env("TERM", "xterm-256color").arg("-S").arg(self.scratch.root().join("tmux.sock"));
        command.arg("-f").arg(&self.config).args(args);
        command
    }

    pub fn keys(&self, keys: &str) {
        assert!(self.command(&["send-keys", keys]).status().unwrap().success());
    }

    pub fn seen(&self) -> String {
        String::from_utf8(self.command(&["capture-pane", "-p"]).output().unwrap().stdout).unwrap()
    }

    #[track_caller]
    pub fn awaits(&self, words: &str) {
        let since = Instant::now();
        while !self.seen().contains(words) {
            assert!(since.elapsed() < PATIENCE, "`{words}` was never seen:\n{}", self.seen());
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).status();
    }
}

/// Whether there is a tmux; if not, the test is skipped.
pub fn is_there() -> bool {
    let there = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    if !there {
        skip_outside_ci("tmux is not installed");
    }
    there
}

#[test]
fn tmux_shows_the_panel_its_pages_and_the_end() {
    if !is_there() {
        return;
    }
    for size in [(40, 20), (80, 24), (120, 40)] {
        let tmux = Tmux::run(WORKS, size);
        tmux.awaits("── Mend the parser ─");
        tmux.awaits("Bash until");
        tmux.keys("?");
        tmux.awaits("close this help");
        tmux.keys("?");
        tmux.keys("o");
        tmux.awaits("Agent output, lines ");
        tmux.keys("d");
        tmux.awaits("+fn lex() {");
        tmux.keys("q");
        tmux.awaits("── Mend the parser ─");
        assert!(!tmux.seen().contains("Diff of this run"), "{}", tmux.seen());
        tmux.command(&["resize-window", "-x", "60", "-y", "22"]).status().unwrap();
        tmux.awaits("iteration   ");
        tmux.keys("h");
        tmux.keys("Look");
        tmux.awaits("hint› Look▏");
        tmux.keys("Enter");
        tmux.awaits("hint from a person: Look");
        tmux.keys("C-c");
        tmux.awaits("stop requested");
        tmux.awaits("ralph explain");
        assert!(!tmux.seen().contains("? help"), "the panel is gone:\n{}", tmux.seen());
    }
}
