//! A client with ralph's plugin in it, and what is told to it.

use crate::cli::Cli;
use crate::clis::{CLAUDE, CODEX};
use crate::place::Place;
use crate::run::{Done, Live};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// What proves the work.
pub const VERIFY: &str = "grep -qx hello greeting.txt";

/// A place with a client that calls ralph.
pub struct Client {
    pub place: Place,
    pub cli: &'static Cli,
}

impl Client {
    /// With the plugin installed.
    pub fn with_plugin(cli: &'static Cli, scenario: &str) -> Client {
        let client = Client::new(cli, scenario);
        let done = client.ralph(&["hook", "install", cli.info.name]);
        assert_eq!(done.code, 0, "{}\n{}", done.out(), done.story());
        client
    }

    /// Without it, and with ralph on the path.
    pub fn new(cli: &'static Cli, scenario: &str) -> Client {
        let mut place = Place::new(cli, scenario);
        let bin = place.root().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_ralph"), bin.join("ralph")).unwrap();
        let path = format!("{}:{}", bin.display(), place.variable("PATH"));
        place.set("PATH", &path);
        Client { place, cli }
    }

    fn is_claude(&self) -> bool {
        self.cli.info.name == CLAUDE.info.name
    }

    /// What starts a loop in this client.
    pub fn loop_command(&self, rest: &str) -> String {
        let command = if self.is_claude() { "/ralph:loop" } else { "$ralph:loop" };
        format!("{command} Write hello into greeting.txt. {rest} --max-cost 5 --verify '{VERIFY}'")
    }

    /// The command line of a headless session.
    pub fn session(&self, prompt: &str, more: &[&str]) -> Command {
        let mut args = match self.is_claude() {
            true => vec!["-p", prompt, "--permission-mode", "acceptEdits", "--output-format", "stream-json"],
            false => vec!["exec", "--json", "--dangerously-bypass-hook-trust", "-s", "danger-full-access"],
        };
        match self.is_claude() {
            // Takes several values, so it comes last.
            true => {
                args.extend(more.iter().copied().chain(["--verbose", "--allowedTools", "Bash,Read,Task"]));
            }
            false => args.extend(more.iter().copied().chain([prompt])),
        }
        self.place.program(self.cli.info.name, &args)
    }

    /// A headless session, to its end.
    pub fn says(&self, prompt: &str) -> Done {
        self.says_with(prompt, &[])
    }

    /// The same, with more arguments.
    pub fn says_with(&self, prompt: &str, more: &[&str]) -> Done {
        Live::of(self.session(prompt, more), self.place.root()).end()
    }

    /// A command of ralph's, to its end.
    pub fn ralph(&self, args: &[&str]) -> Done {
        Live::of(self.place.ralph(args), self.place.root()).end()
    }

    /// The runs, newest first.
    pub fn runs(&self) -> Vec<Value> {
        let done = self.ralph(&["list", "--json"]);
        serde_json::from_str::<Value>(done.out()).unwrap().as_array().unwrap().clone()
    }

    /// The only run, as `ralph status` shows it.
    #[track_caller]
    pub fn only_run(&self) -> Value {
        assert_eq!(self.runs().len(), 1, "{:#?}", self.runs());
        serde_json::from_str(self.ralph(&["status", "--json"]).out()).unwrap()
    }

    /// How many requests reached the model.
    pub fn requests(&self) -> usize {
        fs::read_to_string(self.place.root().join("requests")).unwrap_or_default().lines().count()
    }
}

/// What ralph's hooks told the user of a headless Claude Code.
pub fn told(done: &Done) -> Vec<String> {
    let lines = done.out().lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let said = lines.filter_map(|line| line["content"].as_str().map(str::to_owned));
    said.filter(|said| said.contains("ralph")).collect()
}

/// The result of a headless Claude Code: its session, and what it says the session cost, in micro-dollars.
pub fn result(done: &Done) -> (String, i64) {
    let lines = done.out().lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let last = lines.rev().find(|line| line["type"] == "result").expect("a result");
    let cost = (last["total_cost_usd"].as_f64().unwrap() * 1e6).round();
    #[allow(clippy::cast_possible_truncation)] // cents
    (last["session_id"].as_str().unwrap().to_owned(), cost as i64)
}

/// Both clients.
pub fn clients() -> [&'static Cli; 2] {
    [&CLAUDE, &CODEX]
}
