//! An error as a person reads it: a message, its causes, and what to do next. Every failing command ends in one of
//! these, with the exit code of the contract.

use crate::plain::plain_lines;
use crate::style::Style;
use ralph_store::NoRoom;
use serde_json::{Value, json};
use std::fmt::Write;

/// The exit codes of the contract that are not outcomes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Wrong use of the command line.
    Usage = 64,
    /// Input that cannot be read.
    Input = 65,
    /// The agent is missing.
    Unavailable = 69,
    /// A bug in ralph.
    Bug = 70,
    /// A lock is held, or something cannot be created.
    Busy = 73,
    /// The journal cannot be written.
    Journal = 74,
    /// The configuration is wrong.
    Config = 78,
    /// The breaker is open.
    Breaker = 1,

    /// A person is needed.
    Person = 2,
}

/// Some lines of a file, with the faulty part marked.
#[derive(Clone, Debug)]
pub struct Excerpt(pub String);

/// A message, its causes, what to do next, and the exit code.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What happened.
    pub message: String,
    /// The piece of a file it is about.
    pub excerpt: Option<Box<Excerpt>>,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do next.
    pub hints: Vec<String>,
    /// The process's exit code.
    pub code: Code,
    /// The run, where one had begun.
    pub run: Option<String>,
    /// What is known of its result.
    pub result: Option<Box<Value>>,
}

impl Problem {
    /// A problem without causes or hints.
    pub fn new(code: Code, message: impl Into<String>) -> Problem {
        Problem {
            message: message.into(),
            excerpt: None,
            causes: Vec::new(),
            hints: Vec::new(),
            code,
            run: None,
            result: None,
        }
    }

    /// With the error that led to it. A source that its error already quotes is omitted. Where there was no room to
    /// write, the code says so, whatever was tried.
    pub fn cause(mut self, error: &(dyn std::error::Error + 'static)) -> Problem {
        let mut next = Some(error);
        while let Some(error) = next {
            if error.downcast_ref::<std::io::Error>().is_some_and(NoRoom::is) {
                self.code = Code::Journal;
            }
            let words = error.to_string();
            if !self.causes.last().is_some_and(|said| said.contains(&words)) {
                self.causes.push(words);
            }
            next = error.source();
        }
        self
    }

    /// With the piece of a file it is about.
    pub fn excerpt(mut self, excerpt: String) -> Problem {
        self.excerpt = Some(Box::new(Excerpt(excerpt)));
        self
    }

    /// With what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hints.push(hint.into());
        self
    }

    /// As a script reads it under `--json`; the text on stderr is the same.
    pub fn json(&self) -> Value {
        json!({
            "v": 1, "type": "error", "code": self.code as u8, "message": self.message,
            "excerpt": self.excerpt.as_ref().map(|excerpt| &excerpt.0), "causes": self.causes,
            "hint": self.hints.first(), "hints": self.hints,
        })
    }

    /// As it is printed.
    pub fn render(&self, style: Style) -> String {
        let mut text = format!("{} {}\n", style.bad("error:"), plain_lines(&self.message));
        if let Some(excerpt) = &self.excerpt {
            let _ = writeln!(text, "{}", plain_lines(&excerpt.0));
        }
        for cause in self.causes.iter().filter(|c| **c != self.message) {
            let _ = writeln!(text, "  because: {}", plain_lines(cause));
        }
        if !self.hints.is_empty() {
            text.push('\n');
        }
        for hint in &self.hints {
            let _ = writeln!(text, "{} {}", style.note("hint:"), plain_lines(hint));
        }
        text
    }
}
