//! The proof of a story: its own first files and its own commands, as long as it is worked on. Without stories, and when
//! all of them are done, those of the run.

use super::Baseline;
use super::of_run::lock;
use crate::step_context::StepContext;
use ralph_rules::policy::Oracle;
use ralph_rules::record::RunStarted;
use ralph_rules::state::State;
use ralph_tree::Index;
use std::sync::Arc;

/// What is proven now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The verify commands.
    pub commands: Vec<String>,
    /// A story is, and not the run as a whole.
    pub story: bool,
}

impl Scope {
    /// The run as a whole.
    pub fn of_run(start: &RunStarted) -> Scope {
        Scope { commands: start.verify.clone(), story: false }
    }
}

impl StepContext {
    /// A step begins: the commands and the baseline are those of the story that is worked on.
    pub fn use_commands_of(&self, state: &State) {
        let Some(stories) = &self.stories else { return };
        let mut scope = Scope::of_run(&self.start);
        let current = state.stories.current.as_ref();
        scope.story = current.is_some();
        // As in `State::commands`, with the secrets that the journal does not hold.
        let granted = state.stories.granted.iter().map(|story| (story.grant.key.as_str(), &story.verify));
        let current = current.map(|story| (story.key.as_str(), &story.verify));
        for (key, recorded) in granted.chain(current) {
            for command in stories.commands(key, recorded, &self.deps.redactor) {
                if !scope.commands.contains(&command) {
                    scope.commands.push(command);
                }
            }
        }
        let mut now = lock(&self.scope);
        if now.story != scope.story {
            *lock(&self.comparison) = None;
        }
        *now = scope;
    }

    /// The verify commands that apply now.
    pub fn commands(&self) -> Vec<String> {
        lock(&self.scope).commands.clone()
    }

    /// The agent or verify commands are about to run.
    pub fn commands_begin(&self, call: bool) {
        if let Some(stories) = &self.stories {
            stories.before_commands(call);
        }
    }

    /// They have ended, and everything they started.
    pub fn commands_ended(&self) {
        if let Some(stories) = &self.stories {
            stories.after_commands();
        }
    }

    /// Another story is taken: its first files are those of its first call.
    pub fn story_begins(&self) {
        Baseline::forget_story(&self.folder);
        *lock(&self.story_baseline) = None;
        *lock(&self.comparison) = None;
        if let Some(stories) = &self.stories {
            stories.story_begins(self);
        }
    }

    /// Before the first call for a story, the current files become its baseline.
    pub(super) fn begin_story_baseline(&self) {
        let of_story = lock(&self.scope).story && self.start.policy.oracle != Oracle::Allow;
        let mut baseline = lock(&self.story_baseline);
        if of_story && baseline.is_none() {
            *baseline = Some(Arc::new(Baseline::begin_story(&self.folder, Index::clone(&self.index()))));
        }
    }

    /// The files that the work is compared with.
    pub(super) fn baseline_in_scope(&self) -> Option<Arc<Baseline>> {
        let of_story = lock(&self.scope).story;
        lock(if of_story { &self.story_baseline } else { &self.baseline }).clone()
    }
}
