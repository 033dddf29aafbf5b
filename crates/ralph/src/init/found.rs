//! What was found in a repository: its stacks, and the commands that check them.

use std::fmt::Write;

/// A kind of project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // they are names
pub enum Stack {
    Rust,
    Node,
    Python,
    Go,
    Maven,
    Gradle,
    DotNet,
    Ruby,
    Php,
    Just,
    Make,
}

impl Stack {
    /// As people call it.
    pub fn title(self) -> &'static str {
        match self {
            Stack::Rust => "Rust",
            Stack::Node => "Node",
            Stack::Python => "Python",
            Stack::Go => "Go",
            Stack::Maven => "Java (Maven)",
            Stack::Gradle => "Java (Gradle)",
            Stack::DotNet => ".NET",
            Stack::Ruby => "Ruby",
            Stack::Php => "PHP",
            Stack::Just => "just",
            Stack::Make => "Make",
        }
    }

    /// Only runs what other stacks bring along.
    pub fn only_runs(self) -> bool {
        matches!(self, Stack::Just | Stack::Make)
    }
}

/// What a command checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// It runs tests.
    Test,
    /// It finds faults without running anything.
    Lint,
    /// It only builds.
    Build,
}

impl Use {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Use::Test => "test",
            Use::Lint => "lint",
            Use::Build => "build",
        }
    }
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it checks.
    pub what: Use,
    /// As `sh -c` runs it, in the directory of its stack.
    pub command: String,
}

/// One stack in one directory.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which.
    pub stack: Stack,
    /// Where, from the workspace; empty for the workspace itself.
    pub dir: String,
    /// The file it was recognised by.
    pub by: String,
    /// How it is worked with, such as `pnpm` or `uv`; empty where there is only one way.
    pub with: String,
    /// Its commands, the best first of each kind.
    pub checks: Vec<Check>,
    /// What a person should know.
    pub notes: Vec<String>,
}

impl Found {
    /// A stack without commands yet.
    pub fn new(stack: Stack, by: &str) -> Found {
        Found {
            stack,
            dir: String::new(),
            by: by.into(),
            with: String::new(),
            checks: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// With a command, where there is one.
    pub fn check(mut self, what: Use, command: Option<impl Into<String>>) -> Found {
        self.checks.extend(command.map(|command| Check { what, command: command.into() }));
        self
    }

    /// It has a command of this kind.
    pub fn has(&self, what: Use) -> bool {
        self.checks.iter().any(|check| check.what == what)
    }

    /// A command as it is run from the workspace.
    pub fn at_top(&self, check: &Check) -> String {
        match self.dir.as_str() {
            "" => check.command.clone(),
            dir => format!("cd {} && {}", quoted(dir), check.command),
        }
    }

    /// Its title, how it is worked with and where it is: `Node (pnpm) in frontend`.
    pub fn words(&self) -> String {
        let mut text = self.stack.title().to_string();
        if !self.with.is_empty() {
            let _ = write!(text, " ({})", self.with);
        }
        if !self.dir.is_empty() {
            let _ = write!(text, " in {}", self.dir);
        }
        text
    }
}

/// A word that `sh` takes as it is.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
