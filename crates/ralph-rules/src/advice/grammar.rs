//! As much grammar as the phrases need: the first sentence, the verb a request begins with, what that verb is about, where
//! clauses begin, and what is asked not to be done.

use super::phrases::{at, meaning};
use super::words::{Gap, Word};
use std::ops::Range;

/// Longest thing that a verb can be about.
const LONGEST_OBJECT: usize = 10;
/// How far `without` and its like reach.
const NEAR: usize = 8;
/// No clause is longer.
const LONGEST_CLAUSE: usize = 120;

/// The first sentence.
pub fn title<'w, 'a>(words: &'w [Word<'a>]) -> &'w [Word<'a>] {
    let end =
        words.iter().skip(1).position(|word| word.gap == Gap::Sentence).map_or(words.len(), |at| at + 1);
    words.get(..end).unwrap_or(words)
}

/// The place after the words that a request may begin with.
pub fn after_polite(words: &[Word<'_>], mut place: usize) -> usize {
    while let Some(taken) = at("polite", "-", words, place) {
        place += taken;
    }
    place
}

/// Where the sentence itself begins: after the scope of a commit subject (`printer: …`).
pub fn after_scope(words: &[Word<'_>]) -> usize {
    let scope = words.iter().take(3).position(|word| word.colon && !word.code);
    match scope {
        Some(end) if end + 1 < words.len() && verb(words, after_polite(words, 0)).is_none() => end + 1,
        _ => 0,
    }
}

/// The verb of a request that begins here: its kind, and how many words it takes.
pub fn verb(words: &[Word<'_>], place: usize) -> Option<(&'static str, usize)> {
    words.get(place).filter(|word| !word.code && !word.quoted)?;
    meaning("verb", words, place).filter(|(_, taken)| !is_noun(words, place + taken))
}

/// Whether what could be a verb is a noun, because a verb follows: "Build fails on Windows".
pub fn is_noun(words: &[Word<'_>], next: usize) -> bool {
    let about = object(words, next);
    let named = !about.is_empty() && at("determiner", "-", words, about.start).is_some();
    let joined = words.get(about.end).is_some_and(|word| word.gap == Gap::Space);
    joined && !named && at("finite", "-", words, about.end).is_some()
}

/// What a verb is about: the words after it up to a preposition, another verb or the end of the clause.
pub fn object(words: &[Word<'_>], place: usize) -> Range<usize> {
    let rest = words.iter().enumerate().skip(place).take(LONGEST_OBJECT);
    let ends = |(nth, word): &(usize, &Word<'_>)| {
        word.gap > Gap::Space
            || (!word.code && (at("ends", "-", words, *nth).or(at("finite", "-", words, *nth)).is_some()))
    };
    let most = (place + LONGEST_OBJECT).min(words.len()).max(place);
    let end = rest.into_iter().find(ends).map_or(most, |(nth, _)| nth);
    place..end
}

/// The word that says what an object is: the last one that says anything.
pub fn head(words: &[Word<'_>], object: Range<usize>) -> Option<usize> {
    let mut places = object.rev();
    let last = places.clone().next()?;
    let told = places.find(|place| at("through", "-", words, *place).is_none());
    Some(told.unwrap_or(last))
}

/// Whether a clause begins here: at the beginning, after punctuation, or after a word like `and`.
pub fn begins_clause(words: &[Word<'_>], place: usize) -> bool {
    let Some(word) = words.get(place) else { return false };
    let before = place.checked_sub(1).and_then(|before| words.get(before));
    let joined = before.is_none_or(|before| JOINS.contains(&before.lower.as_str()));
    word.gap >= Gap::Comma || (joined && !in_infinitive(words, place))
}

const JOINS: &[&str] = &["and", "but", "then", "or", "also", "please", "finally", "instead", "now"];

/// Whether the word is one of several after a `to`: "a target to build, test and deploy the site".
pub fn in_infinitive(words: &[Word<'_>], place: usize) -> bool {
    let before = words.get(..place).unwrap_or_default().iter().enumerate().rev();
    let mut seen = false;
    for (nth, word) in before.take(NEAR) {
        match word.lower.as_str() {
            "to" => return seen,
            "and" | "or" => {}
            _ if at("infinitive", "-", words, nth).is_some() => seen = true,
            _ => return false,
        }
    }
    false
}

/// Whether the sentence asks for this not to be done. The title's own negation is the task itself, where `of_title` counts it.
pub fn negated(words: &[Word<'_>], place: usize, of_title: bool) -> bool {
    let back = place.saturating_sub(LONGEST_CLAUSE);
    let from = (back..=place).rev().find(|at| words.get(*at).is_some_and(|word| word.gap >= Gap::Clause));
    let mut negated = false;
    for at_place in from.unwrap_or(back)..=place {
        if begins_clause(words, at_place) {
            let start = after_polite(words, at_place);
            let says_no = at("negation", "-", words, start).is_some() && (of_title || start > 0);
            let turns = at_place.checked_sub(1).and_then(|before| words.get(before));
            let turns = turns.is_some_and(|word| matches!(word.lower.as_str(), "but" | "then" | "instead"));
            negated = says_no || (negated && !turns);
        }
    }
    let near = (place.saturating_sub(NEAR)..place).rev();
    let near = near.take_while(|at| words.get(at + 1).is_some_and(|word| word.gap < Gap::Clause));
    negated || near.into_iter().any(|nth| at("negation", "near", words, nth).is_some())
}
