//! The user's own phrases (`[[pattern]]`). They obey the rules of the built-in ones: only prose counts, not quotations or
//! fences; a phrase stands for itself, not as a part of a longer word; what denies, doubts or postpones it takes it back.

use super::phrases::{built_in_places, whole_words};
use super::qualifiers::Qualifiers;
use serde::{Deserialize, Serialize};

/// Phrases with a meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserPattern {
    /// The user's name for it.
    pub name: String,
    /// Any of these.
    pub phrases: Vec<String>,
    /// What it means that one of them was said.
    pub means: Means,
}

/// What a phrase means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// Claimed evidence of completion, never proof. All such patterns together are one indicator.
    Done,
    /// The work is not accepted yet.
    Object,
    /// It is mentioned, nothing else.
    #[default]
    Note,
}

impl Means {
    /// As it is written in the settings.
    pub const WORDS: [&'static str; 3] = ["done", "object", "note"];

    /// The meaning with this name.
    pub fn of(word: &str) -> Option<Means> {
        match word {
            "done" => Some(Means::Done),
            "object" => Some(Means::Object),
            "note" => Some(Means::Note),
            _ => None,
        }
    }
}

/// A pattern of which a phrase was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternSaid {
    /// The pattern.
    pub name: String,
    /// Its phrase.
    pub phrase: String,
    /// What it means.
    pub means: Means,
}

/// The patterns said in a text of `prose::sentences`, each once.
pub(super) fn said(prose: &str, patterns: &[UserPattern]) -> Vec<PatternSaid> {
    if patterns.is_empty() {
        return Vec::new();
    }
    let lower = prose.to_ascii_lowercase();
    let found = |pattern: &UserPattern| {
        let phrase = pattern.phrases.iter().find(|phrase| is_said(prose, &lower, phrase, pattern.means))?;
        Some(PatternSaid { name: pattern.name.clone(), phrase: phrase.clone(), means: pattern.means })
    };
    patterns.iter().filter_map(found).collect()
}

fn is_said(prose: &str, lower: &str, phrase: &str, means: Means) -> bool {
    let wanted =
        phrase.split_whitespace().collect::<Vec<_>>().join(" ").replace('’', "'").to_ascii_lowercase();
    if wanted.is_empty() || !lower.contains(&wanted) {
        return false;
    }
    // What a built-in phrase says already is not said a second time.
    let taken: Vec<_> = built_in_places(prose).filter(|_| means == Means::Done).collect();
    let mut start = 0;
    for sentence in lower.split_inclusive('\n') {
        if sentence.contains(&wanted) {
            let qualifiers = Qualifiers::of(sentence.trim_end());
            let stands = |(at, _): (usize, &str)| {
                let (from, to) = (at, at + wanted.len());
                let taken = taken.iter().any(|place| place.start < start + to && start + from < place.end);
                !taken && whole_words(sentence, from, to) && !qualifiers.negate(from, to)
            };
            if sentence.match_indices(wanted.as_str()).any(stands) {
                return true;
            }
        }
        start += sentence.len();
    }
    false
}
