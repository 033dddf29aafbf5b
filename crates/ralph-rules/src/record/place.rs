//! Where a run works: a workspace that cannot be worked in any more.

use crate::ending::Reason;
use serde::{Deserialize, Serialize};

/// The workspace cannot be worked in. It takes the place of the fact that would have closed the step under way: the step
/// counts as not done and is begun again when the run is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceUnusable {
    /// In which way.
    pub how: Unusable,
    /// What was found, and what to do about it.
    pub what: String,
}

/// Why a workspace cannot be worked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unusable {
    /// It is gone from its path, or another directory is there.
    Lost,
    /// Nothing can be written in it.
    Unwritable,
}

impl Unusable {
    /// How a run ends that finds its workspace so.
    pub fn reason(self) -> Reason {
        match self {
            Unusable::Lost => Reason::WorkspaceLost,
            Unusable::Unwritable => Reason::WorkspaceUnwritable,
        }
    }
}
