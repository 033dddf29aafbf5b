//! Whether a task deserves a loop. Pure: the text is read with one table of phrases (`advice/phrases.tsv`); what only the
//! machine knows (verify commands, protected paths, history) is passed in. `ralph advise` and `run --auto` ask here, and the
//! task types of metrics are the same kinds.

mod grammar;
mod kind;
mod limits;
mod phrases;
mod risk;
mod scope;
mod words;

pub use kind::Kind;
pub use limits::UsualLimits;
pub use risk::{Level, Protects, Risk};
pub use scope::Scope;

use serde::Serialize;

/// What a task's text says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The kind of task.
    pub kind: Kind,
    /// The words that decided the kind.
    pub kind_words: Vec<String>,
    /// How well it is scoped.
    pub scope: Scope,
    /// What could go wrong.
    pub risk: Risk,
}

/// What to do with a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Run the agent until the work is proven.
    Loop,
    /// One iteration: nothing could tell when a loop is done.
    Once,
    /// A person should do it, or watch.
    Person,
}

impl Verdict {
    /// As JSON names it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Loop => "loop",
            Verdict::Once => "once",
            Verdict::Person => "person",
        }
    }
}

/// Reads a task.
pub fn read(task: &str, protects: Protects<'_>) -> Reading {
    let words = words::words(task);
    let (kind, places) = kind::kind(&words);
    let kind_words =
        places.iter().filter_map(|place| words.get(*place)).map(|word| word.text.to_owned()).collect();
    Reading { kind, kind_words, scope: scope::scope(&words), risk: risk::risk(&words, kind, protects) }
}

/// What to do with a task that says this, if its result can be verified or not.
pub fn verdict(reading: &Reading, verifiable: bool) -> Verdict {
    let open = matches!(reading.kind, Kind::Question | Kind::Subjective) || !reading.scope.scoped;
    match reading.risk.level {
        Level::High | Level::Critical => Verdict::Person,
        _ if open || !verifiable => Verdict::Once,
        _ => Verdict::Loop,
    }
}
