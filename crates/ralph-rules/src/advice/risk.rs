//! How much could go wrong for good. An act is critical where it is what is asked ("Deploy …", "… in production"), not
//! where it is mentioned ("document the deploy command"). What stands in back-ticks does not count, except a protected
//! path: a run that changes one ends.

use super::grammar::{
    after_polite, begins_clause, head, in_infinitive, is_noun, negated, object, title, verb,
};
use super::kind::Kind;
use super::phrases::{Row, at, longest, rows};
use super::scope::is_path;
use super::words::{Gap, Word};
use serde::Serialize;

/// How much could go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing that a verification and `ralph undo` do not catch.
    #[default]
    Low,
    /// It touches something delicate.
    Medium,
    /// Mistakes are expensive: money, access, personal data, protected paths.
    High,
    /// It acts on something that cannot be put back.
    Critical,
}

impl Level {
    /// As JSON names it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Low => "low",
            Level::Medium => "medium",
            Level::High => "high",
            Level::Critical => "critical",
        }
    }
}

/// The risk of a task, and what decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Risk {
    /// How much.
    pub level: Level,
    /// The words that decided.
    pub words: Vec<String>,
    /// Protected paths that are named.
    pub paths: Vec<String>,
}

/// Whether a path of the workspace is protected.
pub type Protects<'p> = &'p dyn Fn(&str) -> bool;

/// The risk of a task of this kind.
pub fn risk(words: &[Word<'_>], kind: Kind, protects: Protects<'_>) -> Risk {
    let mut risk = Risk::default();
    let outside = words.iter().filter(|word| !word.code && !word.quoted).count();
    let quotes_count = outside < 3;
    let places = || {
        (0..words.len()).filter(|nth| words.get(*nth).is_some_and(|w| !w.code && (quotes_count || !w.quoted)))
    };
    for place in places() {
        let taken = act("act", words, place, kind).or_else(|| scene(words, place, kind));
        if let Some(taken) = taken.filter(|_| !negated(words, place, true)) {
            risk.add(Level::Critical, words, place, taken);
        }
        let (high, lowered) = (high(words, place, kind), lowered(kind));
        if let Some(taken) = high.filter(|_| lowered > Level::Low && !negated(words, place, false)) {
            risk.add(lowered, words, place, taken);
        }
        let medium =
            at("risk", "medium", words, place).filter(|_| kind != Kind::Docs && !negated(words, place, true));
        if let Some(taken) = medium.filter(|_| !words.get(place).is_some_and(is_path)) {
            risk.add(Level::Medium, words, place, taken);
        }
    }
    for (nth, word) in
        words.iter().enumerate().filter(|(_, word)| is_path(word) && (!word.code || word.alone))
    {
        if protects(word.text) && !negated(words, nth, true) {
            risk.raise(Level::High);
            risk.paths.push(word.text.into());
        }
    }
    risk.paths.sort();
    risk.paths.dedup();
    risk
}

impl Risk {
    fn add(&mut self, level: Level, words: &[Word<'_>], place: usize, taken: usize) {
        if level < self.level {
            return;
        }
        self.raise(level);
        let said: Vec<&str> = words.iter().skip(place).take(taken).map(|word| word.text).collect();
        let said = said.join(" ");
        if self.words.len() < 6 && !self.words.iter().any(|known| known.contains(&said)) {
            self.words.push(said);
        }
    }

    /// Words of a lower level decide nothing any more.
    fn raise(&mut self, level: Level) {
        if level > self.level {
            self.words.clear();
            self.level = level;
        }
    }
}

/// What a word of high risk means in a task of this kind: texts change nothing, tests and answers little.
fn lowered(kind: Kind) -> Level {
    match kind {
        Kind::Docs => Level::Low,
        Kind::Test | Kind::Question => Level::Medium,
        _ => Level::High,
    }
}

/// Whether the title asks for an act, such as a release, and not for work on files.
pub fn is_act(title: &[Word<'_>], place: usize) -> bool {
    act("act", title, place, Kind::Chore).is_some()
}

fn high(words: &[Word<'_>], place: usize, kind: Kind) -> Option<usize> {
    let in_path = || {
        let word = words.get(place).filter(|word| is_path(word) && word.text.contains('/'))?;
        let part = |part: &str| Word { lower: part.into(), gap: Gap::Space, ..word.clone() };
        let mut parts = word.lower.split(['/', '.', '_', '-']);
        parts.any(|name| at("risk", "high", &[part(name)], 0).is_some()).then_some(1)
    };
    at("risk", "high", words, place).or_else(|| act("risk-act", words, place, kind)).or_else(in_path)
}

/// An act that is asked for here: how many words say so.
fn act(list: &str, words: &[Word<'_>], place: usize, kind: Kind) -> Option<usize> {
    let at_start = begins_clause(words, place);
    let polite = place > 0
        && !at_start
        && (place.saturating_sub(6)..place)
            .any(|from| begins_clause(words, from) && after_polite(words, from) == place);
    if !(at_start || polite || goes_on(words, place)) || in_infinitive(words, place) {
        return None;
    }
    rows(list).iter().find_map(|row| acts_by(row, words, place, kind))
}

/// Whether a request goes on here after a condition without a comma: "Once it is done deploy".
fn goes_on(words: &[Word<'_>], place: usize) -> bool {
    let from = sentence_start(words, place);
    let opens =
        words.get(from).is_some_and(|w| matches!(w.lower.as_str(), "after" | "once" | "when" | "if" | "as"));
    opens && place.checked_sub(1).is_some_and(|before| at("then", "-", words, before).is_some())
}

/// Where the sentence of this word begins, as far as it is worth looking.
fn sentence_start(words: &[Word<'_>], place: usize) -> usize {
    let back = place.saturating_sub(60);
    let begins = |nth: &usize| words.get(*nth).is_some_and(|word| word.gap == Gap::Sentence);
    (back..=place).rev().find(begins).unwrap_or(back)
}

fn acts_by(row: &'static Row, words: &[Word<'_>], place: usize, kind: Kind) -> Option<usize> {
    let taken = longest(&row.verbs, words, place)?;
    let next = place + taken;
    let names = words.get(next).is_some_and(|word| word.gap == Gap::Space)
        && at("act-name", "-", words, next).is_some();
    // A word that a verb follows is a noun, and so is one in a list of things to write about.
    let noun = is_noun(words, next);
    let about = object(words, next);
    let listed = kind == Kind::Docs && about.is_empty();
    if names || noun || listed {
        return None;
    }
    row.phrases.iter().find_map(|phrase| match phrase.text().as_str() {
        "*" => Some(about.end.max(next) - place),
        "#" => {
            head(words, about.clone()).filter(|last| is_version(words, *last)).map(|last| last + 1 - place)
        }
        text if text.starts_with("to ") || text.starts_with("into ") => {
            let clause = (next..words.len())
                .take_while(|nth| words.get(*nth).is_some_and(|w| w.gap < Gap::Clause))
                .take(12);
            clause.into_iter().find_map(|nth| longest([phrase], words, nth).map(|more| nth + more - place))
        }
        text if text.starts_with("from ") => {
            let clause = (next..words.len()).take(12);
            let from = clause.filter(|nth| words.get(*nth).is_some_and(|w| w.lower == "from" && !w.code));
            let named = |last: &usize| {
                words.get(*last).is_some_and(|w| !w.code && text.ends_with(&format!(" {}", w.lower)))
            };
            from.filter_map(|nth| head(words, object(words, nth + 1)))
                .find(named)
                .map(|last| last + 1 - place)
        }
        _ => {
            let last = head(words, about.clone())?;
            // "Create the release v1.1".
            let last = if is_version(words, last) && last > about.start { last - 1 } else { last };
            let from = (about.start..=last)
                .find(|nth| longest([phrase], words, *nth).is_some_and(|n| nth + n == last + 1))?;
            (from <= last && words.get(last).is_some_and(|word| !word.code)).then_some(last + 1 - place)
        }
    })
}

/// `2.0`, `v1.4.0-rc1`.
fn is_version(words: &[Word<'_>], place: usize) -> bool {
    let Some(word) = words.get(place).filter(|word| !word.code) else { return false };
    let number = word.lower.trim_start_matches('v');
    number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('%')
}

/// A place where acts are critical, such as production: whether the task acts there.
fn scene(words: &[Word<'_>], place: usize, kind: Kind) -> Option<usize> {
    let taken = at("where", "-", words, place)?;
    let next = place + taken;
    let names = words.get(next).is_some_and(|word| word.gap == Gap::Space)
        && at("not-where", "-", words, next).is_some();
    let from = sentence_start(words, place);
    let sentence = title(words.get(from..).unwrap_or_default());
    let subordinate = (from..place).any(|nth| at("subordinate", "-", words, nth).is_some());
    let wrong = (0..sentence.len()).any(|nth| at("wrong", "-", sentence, nth).is_some());
    let first = after_polite(words, from);
    // What a text tells about the project is not asked for: "It runs in production."
    let declares = at("determiner", "-", words, from).is_some();
    let writes = verb(words, first).is_some_and(|(means, _)| means == "docs");
    let tries = words
        .get(first)
        .is_some_and(|word| matches!(word.lower.as_str(), "test" | "try" | "check" | "verify" | "run"));
    let asked = match kind {
        Kind::Docs => false,
        Kind::Test => tries,
        Kind::Question => wrong,
        _ if from > 0 && declares && !wrong => false,
        Kind::Bug => true,
        _ => !subordinate && !writes,
    };
    (asked && !names).then_some(taken)
}
