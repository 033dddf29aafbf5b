//! One line of what an agent says and does, as every screen shows it.

use ralph_rules::record::Ms;
use serde::Serialize;

/// What kind of line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// The agent said something.
    Said,
    /// It uses a tool.
    Tool,
    /// The client says something about itself: which model it uses, that it tries again.
    Note,
}

/// How far a tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// It runs.
    Runs,
    /// It ended.
    Done,
    /// It ended with an error.
    Failed,
}

/// One line of what an agent says and does. Texts are plain: nothing in them moves a cursor or reorders words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActivityLine {
    /// Its number in the call, from 1. A tool that ended comes again under its number.
    pub n: u64,
    /// When it came, UTC milliseconds, where that is known.
    pub at: Option<Ms>,
    /// What kind of line it is.
    pub kind: LineKind,
    /// The tool's name; empty for the other kinds.
    pub name: String,
    /// What was said, or what the tool works on.
    pub text: String,
    /// How far the tool is.
    pub tool: Option<ToolState>,
}

/// What an agent does once a tool has ended and no other runs.
pub(crate) fn thinking_after(tool: &str, failed: bool) -> String {
    if failed { format!("thinking, after {tool} (failed)") } else { format!("thinking, after {tool}") }
}

/// A text with the paths of this workspace made relative.
pub(crate) fn inside(workspace: &str, text: &str) -> String {
    let workspace = format!("{}/", workspace.trim_end_matches('/'));
    if workspace.len() > 1 { text.replace(&workspace, "") } else { text.into() }
}
