//! The stories of a plan in a receipt.

use ralph_rules::grade::Grade;
use ralph_rules::state::State;
use serde::{Deserialize, Serialize};

/// One story of the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReceiptStory {
    /// What tells it from the others.
    pub key: String,
    /// Its id and title.
    pub title: String,
    /// `granted`, `open` or `set_aside`.
    pub state: String,
    /// What the verifications show about its work, if it was granted.
    pub proof: Option<Grade>,
    /// The iteration after which it was granted.
    pub iteration: Option<u32>,
}

/// What became of the stories of the plan.
pub fn stories_of(state: &State) -> Vec<ReceiptStory> {
    let stories = &state.stories;
    let granted = stories.granted.iter().map(|story| ReceiptStory {
        key: story.grant.key.clone(),
        title: story.grant.title.clone(),
        state: "granted".into(),
        proof: Some(story.grant.grade),
        iteration: Some(story.iteration),
    });
    let aside = stories.aside.keys().map(|key| ("set_aside", key, key));
    let open = stories.current.iter().filter(|story| !stories.aside.contains_key(&story.key));
    let open = open.map(|story| ("open", &story.key, &story.title));
    let others = aside.chain(open).map(|(state, key, title)| ReceiptStory {
        key: key.clone(),
        title: title.clone(),
        state: state.into(),
        ..ReceiptStory::default()
    });
    granted.chain(others).collect()
}
