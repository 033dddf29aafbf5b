//! Reads a plan file: how many items are ticked and which are open. Checkboxes in Markdown (`plan/markdown.rs`) or stories
//! in a prd.json (`plan/prd.rs`). A ticked item is only a claim: an open item contradicts completion, a completed plan is
//! one indicator among others. The engine reads the file, this module its text.

mod markdown;
mod prd;

use crate::prompt::head;

/// Open items that are named.
pub const NAMED: usize = 10;
/// Length of one of them.
pub const TEXT: usize = 200;

/// A plan, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Items ticked.
    pub done: u32,
    /// Open items that completion requires.
    pub pending: u32,
    /// Open items that completion does not require: under a heading such as Optional.
    pub optional: u32,
    /// The next open items' texts, the first few.
    pub next: Vec<String>,
}

/// Why a plan could not be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Unreadable {}

/// Reads a plan. `name` decides how: `.json` is a prd.json, anything else Markdown or plain text.
pub fn read(name: &str, bytes: &[u8]) -> Result<Plan, Unreadable> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if name.to_ascii_lowercase().ends_with(".json") {
        prd::read(bytes)
    } else {
        Ok(markdown::read(&String::from_utf8_lossy(bytes)))
    }
}

impl Plan {
    /// Every item that counts is ticked. A plan without items is not complete: it says nothing.
    pub fn complete(&self) -> bool {
        self.pending == 0 && self.done > 0
    }

    fn open(&mut self, text: &str) {
        self.pending = self.pending.saturating_add(1);
        if self.next.len() < NAMED {
            self.next.push(head(&text.split_whitespace().collect::<Vec<_>>().join(" "), TEXT));
        }
    }

    fn ticked(&mut self) {
        self.done = self.done.saturating_add(1);
    }
}
