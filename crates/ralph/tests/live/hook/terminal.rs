//! Sessions on a terminal, as people have them, in tmux: a loop, Esc while ralph verifies, and the trust that Codex asks for.

use super::client::{Client, VERIFY};
use crate::clis::{CLAUDE, CODEX};
use crate::run::until;
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

/// A client in a tmux server of its own.
struct Terminal<'a> {
    client: &'a Client,
}

impl<'a> Terminal<'a> {
    fn start(client: &'a Client, words: &[&str]) -> Terminal<'a> {
        let terminal = Terminal { client };
        fs::write(client.place.root().join("tmux.conf"), "set -g remain-on-exit on\nset -g status off\n")
            .unwrap();
        let program = client.place.program(words[0], &words[1..]);
        let mut start = terminal.tmux(&["new-session", "-d", "-x", "150", "-y", "50", "--"]);
        start.arg(program.get_program()).args(program.get_args());
        assert!(start.status().unwrap().success());
        terminal
    }

    fn tmux(&self, args: &[&str]) -> Command {
        let root = self.client.place.root();
        let mut command = self.client.place.program("tmux", &[]);
        command.env("TERM", "xterm-256color").arg("-S").arg(root.join("tmux.sock"));
        command.arg("-f").arg(root.join("tmux.conf")).args(args);
        command
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).output().unwrap().stdout).into_owned()
    }

    fn awaits(&self, words: &str) {
        until(words, || {
            let seen = self.seen();
            assert!(!seen.contains("Pane is dead"), "it ended:\n{seen}");
            // Wide lines are wrapped, also within the words.
            let flat = seen.split_whitespace().collect::<Vec<_>>().join(" ");
            flat.contains(words).then_some(())
        });
    }

    fn key(&self, key: &str) {
        assert!(self.tmux(&["send-keys", key]).status().unwrap().success());
    }

    fn types(&self, words: &str) {
        assert!(self.tmux(&["send-keys", "-l", words]).status().unwrap().success());
        let last = words.split_whitespace().last().unwrap();
        self.awaits(last);
        self.key("Enter");
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).status();
    }
}

/// Claude Code as somebody has it who has used it before, here, with this key.
fn claude(scenario: &str) -> Client {
    let client = Client::with_plugin(&CLAUDE, scenario);
    let workspace = client.place.file("").canonicalize().unwrap();
    let path = client.place.root().join("home/.claude.json");
    let text = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let mut known = text.unwrap_or_else(|| json!({}));
    known["hasCompletedOnboarding"] = true.into();
    known["theme"] = "dark".into();
    known["customApiKeyResponses"] = json!({"approved": ["test-key-0123456789"], "rejected": []});
    known["projects"][workspace.to_str().unwrap()] = json!({"hasTrustDialogAccepted": true});
    fs::write(path, known.to_string()).unwrap();
    client
}

const CLAUDE_LINE: &[&str] = &["claude", "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Read"];

fn state(client: &Client) -> Value {
    let runs = client.runs();
    runs.first().map(|run| run["status"].clone()).unwrap_or_default()
}

#[test]
fn claude_on_a_terminal_proves_its_work() {
    let client = claude("work");
    let terminal = Terminal::start(&client, CLAUDE_LINE);
    terminal.awaits("accept edits on");
    terminal.types(&client.loop_command("--max-iterations 4"));
    terminal.awaits("completed (proven) after 2 iterations");
    assert_eq!(client.only_run()["result"]["proof"], "proven");
}

/// `--mode hook` on a terminal is a session that a person sits in; when they leave it, the work is verified again.
#[test]
fn a_session_for_one_task_is_interactive_on_a_terminal() {
    let client = claude("work");
    let start = ["ralph", "run", "Write hello into greeting.txt.", "--mode", "hook", "--agent", "claude"];
    let limits = ["--max-iterations", "4", "--max-cost", "5", "--verify", VERIFY];
    let terminal = Terminal::start(&client, &[&start[..], &limits].concat());
    terminal.awaits("completed (proven) after 2 iterations");
    terminal.awaits("accept edits on");
    terminal.types("/exit");
    until("the second verification", || {
        terminal.seen().contains("no process of the session left: passed").then_some(())
    });
    assert_eq!(client.only_run()["result"]["proof"], "proven");
}

/// Esc while ralph verifies ends the verification, not the run: the next stop continues.
#[test]
fn esc_ends_the_verification_and_the_next_stop_continues() {
    let client = claude("ok");
    let gate = client.place.root().join("gate");
    let terminal = Terminal::start(&client, CLAUDE_LINE);
    terminal.awaits("accept edits on");
    // Before the work it fails at once, after it it waits at the gate.
    let wait = format!("while test ! -e {}; do sleep 0.1; done", gate.display());
    let check = format!("test -e greeting.txt || exit 1; {wait}; {VERIFY}");
    let start = format!("/ralph:loop Write hello. --max-iterations 4 --max-cost 5 --verify '{check}'");
    terminal.types(&start);
    terminal.awaits("checking the work");
    until("the verification", || (state(&client) == "VERIFYING").then_some(()));
    terminal.key("Escape");
    terminal.awaits("Interrupted");
    until("the end of the verification", || (state(&client) == "IN_SESSION").then_some(()));
    fs::write(&gate, "").unwrap();
    terminal.types("continue please");
    terminal.awaits("completed (proven)");
    client.place.replays();
}

/// Codex skips the hooks in silence until its user trusts them; `hook status` tells, before and after.
#[test]
fn codex_runs_the_hooks_once_they_are_trusted() {
    let client = Client::new(&CODEX, "work");
    let config = client.place.root().join("home/.codex/config.toml");
    let workspace = client.place.file("").canonicalize().unwrap();
    let before = fs::read_to_string(&config).unwrap();
    let trusted = format!(
        "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n{before}\n[projects.\"{}\"]\ntrust_level = \
         \"trusted\"\n",
        workspace.display()
    );
    fs::write(&config, trusted).unwrap();
    let standing = || {
        let status: Value = serde_json::from_str(client.ralph(&["hook", "status", "--json"]).out()).unwrap();
        status["clients"][1]["state"].clone()
    };
    assert_eq!(standing(), "not_installed");
    assert_eq!(client.ralph(&["hook", "install", "codex"]).code, 0);
    assert_eq!(standing(), "untrusted");
    let terminal = Terminal::start(&client, &["codex"]);
    terminal.awaits("Hooks need review");
    // A key that comes before the client reads is lost.
    until("the choice", || {
        terminal.key("2");
        terminal.seen().contains("› 2. Trust all and continue").then_some(())
    });
    terminal.key("Enter");
    until("the trust", || (standing() == "installed").then_some(()));
    terminal.awaits("Ask Codex to do anything");
    terminal.types(&client.loop_command("--max-iterations 4"));
    until("the end of the run", || (state(&client) == "COMPLETED").then_some(()));
    assert_eq!(client.only_run()["result"]["iterations"], 2);
}
