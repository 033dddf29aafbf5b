//! What the agent is told about the story it works on. It is not part of a template, so that no template can lose it.

use crate::record::{Planned, RunStarted, StoryGiven};
use crate::state::State;
use std::fmt::Write;

/// Names of stories and changes shown.
const NAMES: usize = 12;

/// The story that is worked on; empty if the plan is not taken story by story.
pub(super) fn story(state: &State, start: &RunStarted) -> String {
    let file = start.plan.as_ref().map_or("", |plan| plan.file.as_str());
    let Some(planned) = state.stories.latest.as_deref() else { return String::new() };
    let mut text = match &state.stories.current {
        Some(story) => of(story, file),
        None => {
            format!("Every required story of the plan {file} is done. Now the change as a whole is judged.\n")
        }
    };
    changes(&mut text, planned, file);
    text
}

fn of(story: &StoryGiven, file: &str) -> String {
    let mut text =
        format!("Work on this story of the plan {file}, and on nothing else:\n\n{}\n", story.title);
    if !story.text.trim().is_empty() {
        let _ = writeln!(text, "\n{}", story.text.trim());
    }
    if !story.criteria.is_empty() {
        text.push_str("\nAcceptance criteria:\n");
        list(&mut text, story.criteria.iter().map(String::as_str));
    }
    if !story.verify.is_empty() {
        text.push_str("\nThese commands have to pass for it, too:\n");
        list(&mut text, story.verify.iter().map(String::as_str));
    }
    text.push_str("\nReport it as done when this story is. Do not tick it in the plan: ralph does, when it is proven.\n");
    text
}

/// What was changed in the plan and does not count.
fn changes(text: &mut String, planned: &Planned, file: &str) {
    if !planned.put_back.is_empty() {
        let _ = writeln!(text, "\nTicks in {file} were put back, because only ralph sets them:");
        list(text, planned.put_back.iter().take(NAMES).map(String::as_str));
    }
    if !planned.ignored.is_empty() {
        let _ = writeln!(text, "\nThese changes to {file} do not count:");
        list(text, planned.ignored.iter().take(NAMES).map(String::as_str));
    }
}

fn list<'a>(text: &mut String, lines: impl Iterator<Item = &'a str>) {
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
}
