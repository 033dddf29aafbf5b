//! What kind of task a text is: by the prefix of a commit subject, by being a question or a matter of taste, otherwise by
//! the verb of its first sentence and what that verb is about. A sentence that only states something is a bug if what it
//! states is wrong.

use super::grammar::{after_polite, after_scope, head, object, title, verb};
use super::phrases::{at, meaning};
use super::risk::is_act;
use super::words::{Gap, Word};
use serde::{Deserialize, Serialize};

/// The kind of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something new.
    #[default]
    Feature,
    /// Something is wrong.
    Bug,
    /// The same behavior in better code.
    Refactor,
    /// Tests.
    Test,
    /// Text for people.
    Docs,
    /// Upkeep: dependencies, linters, versions.
    Chore,
    /// Something is asked, nothing is to be changed.
    Question,
    /// A matter of taste or judgement: no command can check it.
    Subjective,
}

impl Kind {
    /// As metrics and JSON name it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Feature => "feature",
            Kind::Bug => "bug",
            Kind::Refactor => "refactor",
            Kind::Test => "test",
            Kind::Docs => "docs",
            Kind::Chore => "chore",
            Kind::Question => "question",
            Kind::Subjective => "subjective",
        }
    }

    fn named(name: &str) -> Kind {
        let all = [Kind::Bug, Kind::Refactor, Kind::Test, Kind::Docs, Kind::Chore];
        all.into_iter().find(|kind| kind.name() == name).unwrap_or_default()
    }

    /// The kind of a task, by its text.
    pub fn of(task: &str) -> Kind {
        kind(&super::words::words(task)).0
    }
}

/// The kind, and the places of the words that decided.
pub fn kind(words: &[Word<'_>]) -> (Kind, Vec<usize>) {
    let title = title(words);
    if let Some(kind) = prefix(title) {
        return (kind, vec![0]);
    }
    let start = after_scope(title);
    let place = after_polite(title, start);
    let request = verb(title, place);
    if let Some(found) = question(title, start, request.is_some()) {
        return found;
    }
    if let Some(found) = subjective(title, place) {
        return found;
    }
    match request {
        Some((means, _)) if means != "bug" && is_act(title, place) => (Kind::Chore, vec![place]),
        None if is_act(title, place) => (Kind::Chore, vec![place]),
        Some((means, taken)) => requested(title, place, Kind::named(means), taken),
        None => stated(title, start),
    }
}

/// `fix(parser): …`
fn prefix(title: &[Word<'_>]) -> Option<Kind> {
    let first = title.first().filter(|word| word.colon && !word.code)?;
    let name = first.lower.split(['(', '!', '/']).next().unwrap_or_default();
    let bare = Word { lower: name.into(), ..first.clone() };
    meaning("prefix", &[bare], 0).map(|(means, _)| Kind::named(means))
}

fn question(title: &[Word<'_>], start: usize, request: bool) -> Option<(Kind, Vec<usize>)> {
    let asks = title.last().is_some_and(|word| word.asks);
    let opens = at("question", "alone", title, start).is_some()
        || (asks && !request && at("question", "asks", title, start).is_some());
    // "Explain the codes in docs/errors.md" asks for a page.
    (opens && !in_docs(title)).then(|| (Kind::Question, vec![start]))
}

fn subjective(title: &[Word<'_>], place: usize) -> Option<(Kind, Vec<usize>)> {
    let anywhere = |nth: &usize| at("subjective", "anywhere", title, *nth).is_some();
    if let Some(found) = (0..title.len()).find(anywhere) {
        return Some((Kind::Subjective, vec![found]));
    }
    let conditional = title.iter().any(|word| matches!(word.lower.as_str(), "when" | "if" | "automatically"));
    let hard = at("subjective", "verb", title, place).is_some();
    let soft = at("subjective", "soft", title, place).is_some();
    ((hard || soft) && !conditional && (hard || !title.iter().any(super::scope::is_target)))
        .then(|| (Kind::Subjective, vec![place]))
}

/// A request: the verb's kind, unless what it is about says otherwise.
fn requested(title: &[Word<'_>], place: usize, by_verb: Kind, taken: usize) -> (Kind, Vec<usize>) {
    let about = object(title, place + taken);
    let last = head(title, about);
    let by_object = last.and_then(|last| class(title, last));
    let green = (0..title.len()).find(|nth| at("green", "-", title, *nth).is_some());
    let makes = title.get(place).is_some_and(|word| word.lower.starts_with("ma"));
    if let Some(green) = green.filter(|_| makes) {
        let tool = (0..title.len()).find(|nth| class(title, *nth) == Some(Kind::Chore));
        return tool.map_or((Kind::Bug, vec![place, green]), |tool| (Kind::Chore, vec![tool]));
    }
    match (by_verb, by_object, last) {
        (Kind::Docs, ..) => (Kind::Docs, vec![place]),
        (_, Some(Kind::Test), Some(last)) => match green {
            Some(green) => (Kind::Bug, vec![place, green]),
            None => (Kind::Test, vec![place, last]),
        },
        (Kind::Test, ..) => (Kind::Test, vec![place]),
        (_, Some(kind), Some(last)) => (kind, vec![place, last]),
        _ if in_docs(title) => (Kind::Docs, vec![place]),
        (Kind::Chore, ..) if is_changed_to_do(title, place) => (Kind::Feature, vec![place]),
        _ => (by_verb, vec![place]),
    }
}

/// "Update the parser to accept trailing commas" asks for more than an update.
fn is_changed_to_do(title: &[Word<'_>], place: usize) -> bool {
    let updates = title.get(place).is_some_and(|word| word.lower.starts_with("update"));
    let does = |pair: &[Word<'_>]| match pair {
        [to, what] => to.lower == "to" && what.lower.chars().all(char::is_alphabetic) && !what.code,
        _ => false,
    };
    updates && title.windows(2).any(does)
}

/// A statement, or only a name.
fn stated(title: &[Word<'_>], start: usize) -> (Kind, Vec<usize>) {
    if let Some(wrong) = (0..title.len()).find(|nth| at("wrong", "-", title, *nth).is_some()) {
        return (Kind::Bug, vec![wrong]);
    }
    let last = head(title, object(title, start));
    match last.and_then(|last| Some((class(title, last)?, last))) {
        Some((kind, last)) => (kind, vec![last]),
        None => (Kind::Feature, Vec::new()),
    }
}

/// What a word is about by itself.
fn class(title: &[Word<'_>], place: usize) -> Option<Kind> {
    let word = title.get(place)?;
    let docs = [".md", ".rst", ".adoc"].iter().any(|end| word.lower.ends_with(end))
        || ["docs/", "doc/"].iter().any(|dir| word.lower.starts_with(dir));
    if docs {
        return Some(Kind::Docs);
    }
    meaning("object", title, place).map(|(means, _)| Kind::named(means))
}

/// Whether the work is in texts: "… in the docs".
fn in_docs(title: &[Word<'_>]) -> bool {
    let places = title.iter().enumerate().filter(|(_, word)| {
        matches!(word.lower.as_str(), "in" | "from" | "to" | "of" | "into" | "on") && !word.code
    });
    let named = places.filter_map(|(nth, _)| head(title, object(title, nth + 1)));
    let paths =
        title.iter().enumerate().filter(|(_, word)| word.gap == Gap::Space && word.text.contains('/'));
    let paths = paths.map(|(nth, _)| nth);
    named.chain(paths).any(|place| class(title, place) == Some(Kind::Docs))
}
