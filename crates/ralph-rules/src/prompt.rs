//! Composes prompts. Iteration 1 is the user's text unchanged; later ones add a context section: what changed, the
//! verification result, why the work was not accepted. The status protocol is the system prompt if the agent supports
//! one, otherwise a footer. Each part has a size limit. `prompt/data.rs` has the facts (with `prompt/verification.rs` and
//! `prompt/last_error.rs`), `prompt/template.rs` renders them, `prompt/review.rs` has what a reviewer is given.
//! No decision depends on a prompt.

mod data;
mod last_error;
mod review;
mod story;
pub mod template;
mod told_back;
mod verification;

pub use data::{Data, data};
pub use review::{Change, REVIEW_BYTES, ReviewFacts, review_for};
pub use verification::EVIDENCE_BYTES;

use crate::record::{RunStarted, SkillGiven};
use crate::state::State;
use data::LINE;
use std::collections::BTreeMap;
use std::fmt::Write;
use template::{CONTEXT, Mistake, PROTOCOL};

/// Maximum length of one hint in a prompt, in bytes.
pub const HINT_BYTES: usize = LINE * 10;

/// A prompt, and the mistake in the user's templates if ralph's own had to be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composed {
    /// The whole prompt.
    pub text: String,
    /// What was wrong.
    pub mistake: Option<Mistake>,
}

/// The prompt of the next call.
pub fn compose(state: &State) -> String {
    composed(state).text
}

/// The same, with the mistake in the templates if there was one. A broken template does not stop a run.
pub fn composed(state: &State) -> Composed {
    state.start.as_deref().map_or_else(Composed::default, |start| composed_for(state, start))
}

/// The same with the original task and templates: the state has them with secrets redacted.
pub fn composed_for(state: &State, given: &RunStarted) -> Composed {
    let Some(start) = state.start.as_deref() else { return Composed::default() };
    let data = data(state, start);
    let mut made = Composed { text: given.prompt.clone(), mistake: None };
    let again = (state.calls.done > 0 || state.calls.grants > 0) && start.prompting.context;
    let hints = hints(state);
    let story = story::story(state, start);
    if !story.is_empty() {
        made.text.push_str("\n\n---\n");
        made.text.push_str(&story);
    }
    if again || !hints.is_empty() {
        made.text.push_str("\n\n---\n");
    }
    if again {
        made.section(CONTEXT, &given.prompting.templates, &data);
    }
    made.text.push_str(&hints);
    if !start.rung(state.ladder.rung).system_prompt {
        made.text.push_str("\n\n---\n");
        made.section(PROTOCOL, &given.prompting.templates, &data);
        made.text.push_str(&given.skill.as_ref().map(skill_text).unwrap_or_default());
    }
    made
}

impl Composed {
    fn section(&mut self, name: &str, templates: &BTreeMap<String, String>, data: &Data) {
        match template::render(name, templates, data) {
            Ok(text) => self.text.push_str(&text),
            Err(mistake) => {
                self.text.push_str(&template::render_own(name, data));
                self.mistake = Some(mistake);
            }
        }
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

/// How the agent reports: the status block, or the promise alone.
pub fn protocol(start: &RunStarted) -> String {
    let data = Data { promise: start.policy.gate.promise.clone(), ..Data::default() };
    template::render(PROTOCOL, &start.prompting.templates, &data)
        .unwrap_or_else(|_| template::render_own(PROTOCOL, &data))
        + &start.skill.as_ref().map(skill_text).unwrap_or_default()
}

/// The method of a skill, which follows the protocol. It is not part of a template, so that no template can lose it.
pub fn skill_text(skill: &SkillGiven) -> String {
    let mut text = format!("\n---\nWork with the method of the skill `{}`:\n\n{}\n", skill.name, skill.text);
    if !skill.criteria.is_empty() {
        text.push_str("\nClaim completion only when every item of its completion criteria is met.\n");
    }
    text
}

/// The user's hints come last and are not part of a template, so that no template can lose them.
fn hints(state: &State) -> String {
    if state.person.hints.is_empty() {
        return String::new();
    }
    let mut text = "\nFrom the person you work for:\n".to_string();
    for hint in &state.person.hints {
        let _ = writeln!(text, "- {}", head(hint, HINT_BYTES));
    }
    text
}

/// The first bytes of a text, cut at a character boundary.
pub fn head(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.into();
    }
    let cut = (0..=bytes).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}…", text.get(..cut).unwrap_or_default())
}

/// The last bytes of a text, cut at a character boundary.
pub fn tail(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let from = (from..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default()
}
