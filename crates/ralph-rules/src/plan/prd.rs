//! prd.json in its five dialects: `stories` or `userStories`, each with `passes`, or a `status` where there is none. The
//! next story is the one with the lowest priority number whose dependencies are met. Unknown fields are left alone.

use super::{Plan, Unreadable};
use serde::Deserialize;
use serde_json::{Value, error::Category};
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct Prd {
    stories: Option<Vec<Story>>,
    #[serde(rename = "userStories")]
    user_stories: Option<Vec<Story>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a story, an object with `title` and `passes`")]
struct Story {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    description: Value,
    #[serde(default)]
    priority: Value,
    passes: Option<bool>,
    status: Option<String>,
    #[serde(default, rename = "dependsOn", alias = "depends_on")]
    depends_on: Value,
    #[serde(default)]
    dependencies: Value,
}

/// Counts the stories.
pub(super) fn read(bytes: &[u8]) -> Result<Plan, Unreadable> {
    let before = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    if bytes.get(before).is_some_and(|b| *b != b'{') {
        // A list would be taken for the object's fields in their order.
        let lines = bytes.iter().take(before).filter(|b| **b == b'\n').count();
        let column = bytes.iter().take(before).rev().take_while(|b| **b != b'\n').count();
        let what = "expected an object with `stories` or `userStories`".into();
        return Err(Unreadable { line: lines + 1, column: column + 1, what });
    }
    let prd: Prd = serde_json::from_slice(bytes).map_err(|e| unreadable(&e))?;
    if prd.stories.is_none() && prd.user_stories.is_none() {
        let what = "neither `stories` nor `userStories` found".into();
        return Err(Unreadable { line: 1, column: 1, what });
    }
    let stories: Vec<Story> = prd.stories.into_iter().chain(prd.user_stories).flatten().collect();
    let done: BTreeSet<String> = stories.iter().filter(|s| s.done()).map(|s| words(&s.id)).collect();
    let mut plan = Plan::default();
    let mut open: Vec<&Story> = stories.iter().filter(|story| !story.done()).collect();
    // A stable sort: among equals the file's own order stays.
    open.sort_by_key(|story| (!story.ready(&done), story.priority.as_i64().unwrap_or(i64::MAX)));
    open.iter().for_each(|story| plan.open(&story.text()));
    stories.iter().filter(|story| story.done()).for_each(|_| plan.ticked());
    Ok(plan)
}

impl Story {
    /// `passes` decides where it is written; the word of `status` only where it is not.
    fn done(&self) -> bool {
        let status = || self.status.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
        self.passes.unwrap_or_else(|| matches!(status().as_str(), "done" | "completed" | "complete"))
    }

    /// Everything it depends on is done.
    fn ready(&self, done: &BTreeSet<String>) -> bool {
        let nested = self.dependencies.get("depends_on").or_else(|| self.dependencies.get("dependsOn"));
        [Some(&self.depends_on), nested]
            .into_iter()
            .flatten()
            .filter_map(Value::as_array)
            .flatten()
            .all(|id| done.contains(&words(id)))
    }

    fn text(&self) -> String {
        let named = [&self.title, &self.description].map(words).into_iter().find(|t| !t.trim().is_empty());
        match (words(&self.id), named) {
            (id, Some(text)) if id.is_empty() => text,
            (id, Some(text)) => format!("{id}: {text}"),
            (id, None) if id.is_empty() => "(story without a title)".into(),
            (id, None) => id,
        }
    }
}

/// A text as it is, a number as it is written; anything else is no name.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn unreadable(error: &serde_json::Error) -> Unreadable {
    let said = error.to_string();
    let what = match error.classify() {
        Category::Eof => "the JSON ends too early".into(),
        // The place is told apart from the words.
        _ => said.rsplit_once(" at line ").map_or(said.clone(), |(words, _)| words.to_string()),
    };
    Unreadable { line: error.line().max(1), column: error.column().max(1), what }
}
