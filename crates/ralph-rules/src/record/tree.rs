//! What was seen in the workspace.

use super::PlanSeen;
use serde::{Deserialize, Serialize};

/// The workspace after a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspected {
    /// The tree now.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// How many files differ from before the call.
    pub files: u32,
    /// Their names, the first 100.
    pub changed: Vec<String>,
    /// Only test files changed.
    pub test_only: bool,
    /// Protected paths that changed.
    pub violations: Vec<Violation>,
    /// The commit checked out now, where it is a repository.
    pub head: Option<String>,
    /// Subjects of the latest commits.
    pub commits: Vec<String>,
    /// Tests and their configuration that differ from the baseline's, in journals of the rules before 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oracle: Vec<String>,
    /// The agent wrote the marker file that counts as its claim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marker: bool,
    /// How the bound plan stood, where one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanSeen>,
    /// What changed of the settings by which editors, shells and agents run programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obeyed: Vec<ObeyedChange>,
}

/// A file changed by which other programs run what it says, such as `.envrc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObeyedChange {
    /// Path within the workspace.
    pub path: String,
    /// It was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// A protected path that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Path within the workspace.
    pub path: String,
    /// What happened to it.
    pub how: How,
    /// The commit that changed it, if it was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The tool that makes this change by itself, such as husky. The path is restored and the run continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The settings of git that are the violation, without their values, or what of the history is lost: at most one more
    /// than is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
}

impl Violation {
    /// Settings or losses that are shown.
    pub const KEYS: usize = 3;

    /// The path with the settings in it that changed, for people.
    pub fn named(&self) -> String {
        match self.keys.is_empty() {
            true => self.path.clone(),
            false => format!("{} ({})", self.path, self.first_keys()),
        }
    }

    /// What happened, for people.
    pub fn how_words(&self) -> String {
        match self.keys.is_empty() {
            true => self.how.words().to_owned(),
            false => format!("{}: {}", self.how.words(), self.first_keys()),
        }
    }

    fn first_keys(&self) -> String {
        let more = if self.keys.len() > Violation::KEYS { ", …" } else { "" };
        self.keys.iter().take(Violation::KEYS).map(String::as_str).collect::<Vec<_>>().join(", ") + more
    }

    /// Something that happened to a path in the workspace.
    pub fn new(path: impl Into<String>, how: How) -> Violation {
        Violation { path: path.into(), how, commit: None, tool: None, keys: Vec::new() }
    }
}

/// What happened to a protected path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It was not there before.
    Added,
    /// Its content changed.
    Modified,
    /// It is gone.
    Deleted,
    /// Its permissions changed.
    ModeChanged,
    /// It became another kind of file.
    TypeChanged,
    /// A commit that was made meanwhile touches it, whatever the file is like now.
    InHistory,
    /// It was hidden from git by a flag of the index.
    Hidden,
}

impl How {
    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            How::Added => "added",
            How::Modified => "modified",
            How::Deleted => "deleted",
            How::ModeChanged => "permissions changed",
            How::TypeChanged => "replaced by another kind of file",
            How::InHistory => "in a commit",
            How::Hidden => "hidden from git",
        }
    }
}

/// The result of restoring protected paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// Put back.
    pub restored: Vec<String>,
    /// Left alone, because they changed later or cannot be restored.
    pub left: Vec<String>,
    /// The tree afterwards.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// Where the offending content was put aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<String>,
}
