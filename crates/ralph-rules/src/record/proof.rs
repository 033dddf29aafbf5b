//! What a proof is made from: the changes since the baseline in three sets, and verifications in a room.

use serde::{Deserialize, Serialize};

/// Which sets of changes a room takes from the current files; the baseline's version is used for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct RoomSets {
    /// The work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub work: bool,
    /// Changes that may belong to the work or to the oracle.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
    /// Tests and whatever else decides whether the work is right.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub oracle: bool,
    /// Tests that must fail were added.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub canary: bool,
}

impl RoomSets {
    /// The baseline alone.
    pub const BASELINE: RoomSets = RoomSets { work: false, ambiguous: false, oracle: false, canary: false };

    /// The sets in words: `work and new tests`.
    pub fn words(self) -> String {
        let names = [
            (self.work, "the work"),
            (self.ambiguous, "ambiguous files"),
            (self.oracle, "the changed checks"),
        ];
        let names: Vec<&str> = names.into_iter().filter(|(taken, _)| *taken).map(|(_, name)| name).collect();
        let base = match names.as_slice() {
            [] => "the files before the run".to_owned(),
            [one] => format!("the files before the run with {one}"),
            [first @ .., last] => format!("the files before the run with {} and {last}", first.join(", ")),
        };
        if self.canary { format!("{base}, plus tests that must fail") } else { base }
    }
}

/// The changes since the baseline, split into three sets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compared {
    /// The tree that was compared.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// Surely work.
    pub work: ChangeSet,
    /// May be either.
    pub ambiguous: ChangeSet,
    /// Surely oracle.
    pub oracle: ChangeSet,
    /// All work and ambiguous changes are documentation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub docs_only: bool,
    /// A parser shows that every oracle change means the same as before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub layout_only: bool,
    /// Every oracle change is of configuration: no test was added or changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub configuration_only: bool,
    /// The checks could not run before because there were no tests yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_tests_before: bool,
    /// Runner configuration outside the workspace that changed, and tests and their configuration in the repository
    /// around it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// Other files that changed in the repository around the workspace. Every room shows them as they are now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<String>,
    /// The repository around the workspace has too many names: the rest of it was not compared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub around_cut_short: bool,
    /// Installed packages that were added or updated together with their manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub installed: Vec<String>,
    /// Installed packages that were edited, or changed without their manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
    /// Lines of the work that deal with the check instead of the task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<SignSeen>,
    /// A canary exists for the runner.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub canary: bool,
    /// The first files that changed since they were verified.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_since: Vec<String>,
    /// What was changed in the oracle, at most 8 KiB.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub oracle_diff: String,
    /// Why nothing could be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One of the three sets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeSet {
    /// How many files have a part in it.
    pub files: u32,
    /// The first 100, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl ChangeSet {
    /// Whether any change is in it.
    pub fn any(&self) -> bool {
        self.files > 0
    }
}

/// A line of the work that deals with the check instead of the task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignSeen {
    /// What it does, in words that follow "the work".
    pub what: String,
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The line's text, bounded.
    pub text: String,
}

/// What was seen of a room beside the commands' results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoomSeen {
    /// How it was shown: `room`, at the workspace's own path, or `copy`, at another.
    pub place: String,
    /// Oracle files that were written while the commands ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewritten: Vec<String>,
    /// The tests that must fail and how many were reported as failed, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary: Option<CanarySeen>,
    /// Time to prepare it.
    pub prepared_ms: u64,
    /// Why it could not be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Files of the workspace that changed after the sets were compared: some of their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_since: Vec<String>,
}

/// Tests that must fail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanarySeen {
    /// The kinds of assertion that were tried.
    pub tried: Vec<String>,
    /// Those that were reported as failed.
    pub failed: Vec<String>,
}
