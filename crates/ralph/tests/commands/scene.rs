//! A workspace with its own state, in which commands are typed and their transcript is kept.

use ralph_testkit::{Scratch, tidy};
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

/// The limits every run needs.
pub const LIMITS: [&str; 4] = ["--max-iterations", "3", "--max-cost", "1"];

/// The place and what was typed in it.
pub struct Scene {
    pub scratch: Scratch,
    transcript: String,
    env: Vec<(&'static str, String)>,
}

/// What a command answered.
pub struct Answer {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Scene {
    /// An empty workspace.
    pub fn new() -> Scene {
        Scene { scratch: Scratch::new(), transcript: String::new(), env: Vec::new() }
    }

    /// The same with a variable set from here on.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.env.push((name, value.into()));
    }

    /// The same, with a program that is called like Claude Code and plays scripts: to ralph it is a real agent.
    pub fn with_claude() -> Scene {
        let mut scene = Scene::new();
        let bin = scene.scratch.root().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let program = bin.join("claude");
        let script = format!("#!/bin/sh\nexec {} agent-sim \"$@\"\n", env!("CARGO_BIN_EXE_ralph"));
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        scene.set("PATH", &format!("{}:{path}", bin.display()));
        scene
    }

    /// The command, ready to be started.
    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.scratch.command(env!("CARGO_BIN_EXE_ralph"));
        command.args(args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(std::process::Stdio::null());
        command
    }

    /// Types a command and waits for its answer.
    pub fn ralph<S: AsRef<OsStr>>(&self, args: &[S]) -> Answer {
        Answer::from(self.command(args).output().unwrap())
    }

    /// A run of the scripted agent that does this.
    pub fn sim(&self, task: &str, more: &[&str], script: &str) -> Answer {
        self.ralph(&sim(task, more, script))
    }

    /// Types a command and keeps what was seen.
    pub fn show(&mut self, args: &[&str]) -> Answer {
        let answer = self.ralph(args);
        let shown: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        let _ = writeln!(self.transcript, "$ ralph {}\n[exit {}]", shown.join(" "), answer.code);
        for (name, text) in [("stdout", &answer.out), ("stderr", &answer.err)] {
            if !text.is_empty() {
                let _ = writeln!(self.transcript, "--- {name}\n{}", text.trim_end());
            }
        }
        self.transcript.push('\n');
        answer
    }

    /// Adds a line to what is kept.
    pub fn note(&mut self, line: &str) {
        let _ = writeln!(self.transcript, "{line}");
    }

    /// Adds what was kept of another scene.
    pub fn take(&mut self, other: &Scene) {
        self.transcript.push_str(&other.comparable());
    }

    fn comparable(&self) -> String {
        let root = self.scratch.root().display().to_string();
        self.transcript.replace(env!("CARGO_BIN_EXE_ralph"), "<ralph>").replace(&root, "<tmp>")
    }

    /// Replaces what differs each time in what is kept.
    pub fn hide(&mut self, text: &str, mark: &str) {
        self.transcript = self.transcript.replace(text, mark);
    }

    /// Compares all that was kept with the snapshot of this name.
    pub fn compare(self, name: &str) {
        same_as_snapshot(name, &tidy(&self.comparable()));
    }

    /// The same, durations and times included.
    pub fn compare_exactly(self, name: &str) {
        same_as_snapshot(name, &self.comparable());
    }
}

fn same_as_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

impl From<Output> for Answer {
    fn from(output: Output) -> Answer {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
        Answer {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

/// What is typed for a run of the program that [`Scene::with_claude`] has.
pub fn claude<'a>(task: &'a str, more: &[&'a str], script: &'a str) -> Vec<&'a str> {
    sim(task, more, script).into_iter().map(|word| if word == "sim" { "claude" } else { word }).collect()
}

/// What is typed for a run of the scripted agent.
pub fn sim<'a>(task: &'a str, more: &[&'a str], script: &'a str) -> Vec<&'a str> {
    let mut args = vec!["run", task, "--agent", "sim"];
    if !more.contains(&"--max-iterations") {
        args.extend(LIMITS);
    }
    args.extend(more);
    args.extend(["--", "--do", script]);
    args
}

fn quoted(arg: &str) -> String {
    match arg.is_empty() || arg.contains([' ', '<', '\'']) {
        true => format!("'{arg}'"),
        false => arg.into(),
    }
}
