//! The user's own checks (`[[analyzer]]`): what a run was given, and what each answered.

use super::Ms;
use serde::{Deserialize, Serialize};

/// A program of the user's that looks at each iteration after its verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalyzerGiven {
    /// The user's name for it.
    pub name: String,
    /// The shell command.
    pub command: String,
    /// Its deadline.
    pub timeout: Ms,
    /// Its failure is an objection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

/// What an analyzer answered about an iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AnalyzerResult {
    /// Which one.
    pub name: String,
    /// How long it took.
    pub ms: Ms,
    /// What it objects to, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<AnalyzerObjection>,
    /// What it mentions, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it has no answer, if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// One objection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalyzerObjection {
    /// A short name for it.
    pub code: String,
    /// In words, for the agent.
    pub text: String,
}
