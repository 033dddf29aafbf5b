//! The map of a change: which hunks a check notices, found by putting them back.

use super::Ms;
use serde::{Deserialize, Serialize};

/// Which hunks of the work and of ambiguous files a check notices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeMap {
    /// The tree whose hunks these are.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// How often the commands ran for it.
    pub runs: u32,
    /// How long that took.
    pub ms: Ms,
    /// How many hunks there are, by state.
    pub totals: MapTotals,
    /// The first ones: those that are not held, then those that were not tried, then the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<MappedHunk>,
    /// A person or the run's time limit ended it before all hunks were tried.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The map's own time limit ended it before all hunks were tried.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub out_of_time: bool,
    /// Why nothing more could be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Hunks by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MapTotals {
    /// A check fails without it, or without its group.
    pub held: u32,
    /// Every check passes without it.
    pub not_held: u32,
    /// Not tried.
    pub not_tried: u32,
}

impl MapTotals {
    /// All hunks.
    pub fn all(self) -> u32 {
        self.held.saturating_add(self.not_held).saturating_add(self.not_tried)
    }

    /// Adds one.
    pub fn count(&mut self, state: HunkState) {
        let total = match state {
            HunkState::Held | HunkState::HeldTogether => &mut self.held,
            HunkState::NotHeld => &mut self.not_held,
            HunkState::NotTried => &mut self.not_tried,
        };
        *total = total.saturating_add(1);
    }
}

/// One hunk. Numbers are those of a unified diff; both lengths are 0 for a file that is not text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MappedHunk {
    /// The file.
    pub path: String,
    /// First line before.
    pub old_start: u32,
    /// How many lines it had before.
    pub old_lines: u32,
    /// First line now.
    pub new_start: u32,
    /// How many lines it has now.
    pub new_lines: u32,
    /// What is known of it.
    pub state: HunkState,
    /// Why it was not tried, or what it is if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its lines as in a diff, without secrets; cut if there are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// How many lines were cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut: u32,
}

/// What is known of one hunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HunkState {
    /// Every check passes without it.
    NotHeld,
    /// It was not tried.
    #[default]
    NotTried,
    /// A check fails without it and the rest of its function; it was not tried alone.
    HeldTogether,
    /// A check fails without it.
    Held,
}

impl HunkState {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            HunkState::NotHeld => "not held: every check passes without it",
            HunkState::NotTried => "not tried",
            HunkState::HeldTogether => "held together with its neighbors: a check fails without them",
            HunkState::Held => "held: a check fails without it",
        }
    }
}

impl MappedHunk {
    /// Path and lines: `src/a.py:10-12`.
    pub fn place(&self) -> String {
        match (self.new_start, self.new_lines) {
            (_, 0) if self.old_lines == 0 => self.path.clone(),
            (0, 0) => self.path.clone(),
            (start, 0 | 1) => format!("{}:{start}", self.path),
            (start, lines) => format!("{}:{start}-{}", self.path, start.saturating_add(lines - 1)),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
fn is_zero(n: &u32) -> bool {
    *n == 0
}
