//! A plan taken story by story: which story is worked on, and what was done to the plan.

use crate::grade::Grade;
use crate::plan::Item;
use crate::prompt::head;
use serde::{Deserialize, Serialize};

/// The plan is taken story by story.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoriesGiven {
    /// Iterations a story gets before it is set aside.
    pub attempts: u32,
}

/// One story, as the agent is given it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoryGiven {
    /// What tells it from the others.
    pub key: String,
    /// Its id and title.
    pub title: String,
    /// What else is said about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Acceptance criteria.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// Commands that have to pass for it, beside the run's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
}

/// Longest description of a story in a prompt.
const TEXT: usize = 16 << 10;
/// Longest title and criterion.
const LINE: usize = 1 << 10;
/// Acceptance criteria, at most.
const CRITERIA: usize = 64;

impl From<&Item> for StoryGiven {
    fn from(item: &Item) -> StoryGiven {
        let title = item.label();
        let text = if item.title.trim().is_empty() { "" } else { item.text.as_str() };
        StoryGiven {
            key: item.key.clone(),
            title: head(&title, LINE),
            text: head(text, TEXT),
            criteria: item.criteria.iter().take(CRITERIA).map(|line| head(line, LINE)).collect(),
            verify: item.verify.clone(),
        }
    }
}

/// A story that the gate granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoryGrant {
    /// What tells it from the others.
    pub key: String,
    /// Its id and title.
    pub title: String,
    /// What the verifications show about its work.
    pub grade: Grade,
}

/// The plan was read, and ticked where a story was granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The tree afterwards.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// The story to work on; none if there is none that can be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub story: Option<StoryGiven>,
    /// Stories done.
    pub done: u32,
    /// Required stories open.
    pub open: u32,
    /// Those that are left although none can be taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// The story that was ticked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticked: Option<String>,
    /// Stories whose tick was put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub put_back: Vec<String>,
    /// Other changes that were made to the plan while the agent worked and do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// Why the plan cannot be used, with the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
