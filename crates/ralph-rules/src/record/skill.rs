//! The skill that a run was started with.

use serde::{Deserialize, Serialize};

/// A skill, as it was when the run began: later prompts and replays do not read its file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillGiven {
    /// Its name.
    pub name: String,
    /// BLAKE3 of its SKILL.md, in hex.
    pub hash: String,
    /// The file it was read from.
    pub from: String,
    /// The method, which the agent gets with the protocol.
    pub text: String,
    /// What must be true at the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
}
