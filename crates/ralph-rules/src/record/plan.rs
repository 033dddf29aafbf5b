//! The bound plan: which file it is, and how it stood when it was read.

use crate::plan::{Plan, Unreadable};
use serde::{Deserialize, Serialize};

/// The plan a run was given by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanGiven {
    /// As the user named it.
    pub file: String,
    /// Where it really is; nothing else is ever read as the plan.
    pub path: String,
    /// How it stood before the run.
    pub seen: PlanSeen,
}

/// How a plan stood when it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanSeen {
    /// Items ticked.
    pub done: u32,
    /// Items open.
    pub pending: u32,
    /// Items open that do not stand in the way.
    pub optional: u32,
    /// The next open items, the first few.
    pub next: Vec<String>,
    /// Why it could not be read, with the place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl PlanSeen {
    /// A file that could not be read at all.
    pub fn unreadable(why: impl Into<String>) -> PlanSeen {
        PlanSeen { problem: Some(why.into()), ..PlanSeen::default() }
    }

    /// It holds items, so it says something.
    pub fn has_items(&self) -> bool {
        self.problem.is_none() && (self.done > 0 || self.pending > 0)
    }
}

impl From<Result<Plan, Unreadable>> for PlanSeen {
    fn from(read: Result<Plan, Unreadable>) -> PlanSeen {
        match read {
            Ok(Plan { done, pending, optional, next }) => {
                PlanSeen { done, pending, optional, next, problem: None }
            }
            Err(why) => PlanSeen::unreadable(why.to_string()),
        }
    }
}
