//! The completion promise: `<promise>TEXT</promise>` alone on the last line of the message. It does not count in a fence,
//! a quote or a sentence, or if the line before it only announces it for later. A promise that is given in another form
//! does not count either, but is recognised, so that the agent can be told.

use super::message_lines::{Line, LineKind, Message};
use super::pattern::pattern;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Which promise, if any, ends the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromiseAtEnd {
    /// No promise.
    None,
    /// The run's promise.
    Given,
    /// A different promise, on this line.
    Other(usize),
    /// The run's promise, on this line, in a sentence that denies or postpones it.
    InSentence(usize),
    /// The run's promise, on this line, in another form than alone on the last line.
    NotAlone(usize, MisplacedPromise),
}

/// The form of a promise that does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MisplacedPromise {
    /// Other words are on its line.
    WithText,
    /// It is marked as bold or italic.
    Emphasized,
    /// It is in backticks.
    InBackticks,
    /// It is in a code fence.
    InFence,
    /// Other lines follow it.
    FollowedByText,
    /// Other lines follow it and say that the work is not done.
    TakenBack,
}

impl MisplacedPromise {
    /// What is wrong with it.
    pub fn words(self) -> &'static str {
        match self {
            MisplacedPromise::WithText => "other text is on its line",
            MisplacedPromise::Emphasized => "it is in bold or italics",
            MisplacedPromise::InBackticks => "it is in backticks",
            MisplacedPromise::InFence => "it is in a code fence",
            MisplacedPromise::FollowedByText => "other lines follow it",
            MisplacedPromise::TakenBack => "the lines after it say that the work is not done",
        }
    }

    /// Whether only its form is wrong.
    pub fn is_promise(self) -> bool {
        self != MisplacedPromise::TakenBack
    }
}

/// Words that mention the tag, and words that deny or postpone it.
static MENTIONS_TAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:output|emit|print|writ|say|saying|respond|reply|answer|includ|produc|signal|promise|tag|end)",
    )
});
static POSTPONES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:not|never|[a-z]+n't|cannot|without|will|[a-z]+'ll|when|once|if|until|unless|after|before|only|should|must|would|example|e\.g)\b",
    )
});

/// Lines after a promise that may take it back.
const LATER: usize = 20;
static TAKES_BACK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:wait|actually|still|remain(?:s|ing)?|not (?:yet|done|complete|finished|quite)|i will|i'll|go on|going on|is red|fails?|failing|broken)\b",
    )
});
/// "No work remains.", "All 212 tests still pass."
static DENIES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i-u)\b(?:no|nothing|none|never|neither|without|zero|all|every)\b"));

/// The promise as the user configured it, without the tag and with single spaces.
pub(super) fn normalize(promise: &str) -> String {
    squeeze(tag(promise.trim()).unwrap_or(promise))
}

/// Whether the line is the run's promise and nothing else.
pub(super) fn is_promise(text: &str, wanted: &str) -> bool {
    !wanted.is_empty() && tag(text).is_some_and(|inner| squeeze(inner) == wanted)
}

/// Reads the last line that is not `skipped` (the status block may follow the promise).
pub(super) fn at_end(message: &Message<'_>, wanted: &str, skipped: impl Fn(usize) -> bool) -> PromiseAtEnd {
    let kept = message.lines.iter().enumerate().filter(|(at, _)| !skipped(*at)).map(|(_, line)| line);
    let kept: Vec<&Line<'_>> = kept.collect();
    let prose = |line: &&&Line<'_>| line.kind == LineKind::Prose;
    match kept.last().filter(prose) {
        Some(last) if is_promise(last.text, wanted) => match before_last(&kept) {
            Some(before) if announces(before, last) => PromiseAtEnd::InSentence(last.number),
            _ => PromiseAtEnd::Given,
        },
        Some(last) if tag(last.text).is_some() => PromiseAtEnd::Other(last.number),
        _ => misplaced(message, &kept, wanted),
    }
}

fn before_last<'a, 'l>(kept: &[&'l Line<'a>]) -> Option<&'l Line<'a>> {
    kept.len().checked_sub(2).and_then(|at| kept.get(at)).copied()
}

/// The last place where the promise is given otherwise than it has to be. A line that only mentions it is none.
fn misplaced(message: &Message<'_>, kept: &[&Line<'_>], wanted: &str) -> PromiseAtEnd {
    if wanted.is_empty() {
        return PromiseAtEnd::None;
    }
    if let Some(at) = alone_in_last_fence(message, kept, wanted) {
        return standing_alone(kept, at, at + 1, MisplacedPromise::InFence);
    }
    let prose = kept.iter().enumerate().rev().filter(|(_, line)| line.kind == LineKind::Prose);
    let mut found = prose.filter_map(|(at, line)| inside(line.text, wanted).map(|place| (at, *line, place)));
    let Some((at, line, (before, after))) = found.next() else { return PromiseAtEnd::None };
    let around: String = before.chars().chain(after.chars()).filter(|c| !c.is_whitespace()).collect();
    if !is_given(before, after) {
        return PromiseAtEnd::None;
    }
    if taken_back(kept, at) {
        return PromiseAtEnd::NotAlone(line.number, MisplacedPromise::TakenBack);
    }
    match around.chars().next() {
        None => standing_alone(kept, at, at, MisplacedPromise::FollowedByText),
        Some('`') if around.chars().all(|c| c == '`') => {
            standing_alone(kept, at, at, MisplacedPromise::InBackticks)
        }
        Some(_) if around.chars().all(|c| matches!(c, '*' | '_')) => {
            standing_alone(kept, at, at, MisplacedPromise::Emphasized)
        }
        Some(_) => in_sentence(line, before, after),
    }
}

/// The promise fills the lines from `first` on; the line before may announce it for later.
fn standing_alone(kept: &[&Line<'_>], first: usize, line: usize, form: MisplacedPromise) -> PromiseAtEnd {
    let (Some(first_line), Some(line)) = (kept.get(first), kept.get(line)) else { return PromiseAtEnd::None };
    let before = first.checked_sub(1).and_then(|at| kept.get(at));
    if before.is_some_and(|before| announces(before, first_line)) {
        return PromiseAtEnd::InSentence(line.number);
    }
    PromiseAtEnd::NotAlone(line.number, form)
}

/// Whether the tag is said and not shown: in quotation marks, in a table, struck out or behind a line number.
fn is_given(before: &str, after: &str) -> bool {
    let quoted =
        |c: char| matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’' | '„' | '«' | '»' | '~' | '<' | '>');
    let strange = |c: char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
    let shown = |c: Option<char>| c.is_some_and(|c| quoted(c) || strange(c));
    let open_quote = before.matches('"').count() % 2 == 1;
    let numbered = !before.trim().is_empty() && before.trim().chars().all(|c| c.is_ascii_digit());
    let tags = before.contains("<promise>") || after.contains("<promise>");
    let table = before.starts_with('|');
    !(shown(before.chars().next_back())
        || shown(after.chars().next())
        || open_quote
        || numbered
        || tags
        || table)
}

/// Whether a later line says that the work is not done after all.
fn taken_back(kept: &[&Line<'_>], at: usize) -> bool {
    let later = kept.iter().skip(at + 1).filter(|line| line.kind == LineKind::Prose);
    let mut sentences = later.take(LATER).flat_map(|line| line.text.split(". "));
    sentences.any(|sentence| TAKES_BACK.is_match(sentence) && !DENIES.is_match(sentence))
}

/// The promise between other words of its line: denied or postponed, mentioned, or given.
fn in_sentence(line: &Line<'_>, before: &str, after: &str) -> PromiseAtEnd {
    let (before, after) = (before.replace('’', "'"), after.replace('’', "'"));
    let begun = before.rsplit(['.', '!', '?']).next().unwrap_or_default();
    let rest = after.split(['.', '!', '?']).next().unwrap_or_default();
    let marked = begun.trim_end().ends_with('`');
    if [begun, rest].iter().any(|part| POSTPONES.is_match(part)) {
        PromiseAtEnd::InSentence(line.number)
    } else if marked && [begun, rest].iter().any(|part| MENTIONS_TAG.is_match(part)) {
        PromiseAtEnd::None
    } else {
        PromiseAtEnd::NotAlone(line.number, MisplacedPromise::WithText)
    }
}

/// The index of the opening line if the promise is all that the fence at the end of the message holds.
fn alone_in_last_fence(message: &Message<'_>, kept: &[&Line<'_>], wanted: &str) -> Option<usize> {
    let [.., opening, line, closing] = kept else { return None };
    let fence = message.fence(line)?;
    let edges = [opening, closing].iter().all(|edge| edge.kind == LineKind::FenceEdge(fence));
    (edges && is_promise(line.text, wanted)).then(|| kept.len() - 3)
}

/// The text before and after the promise on its line.
fn inside<'a>(text: &'a str, wanted: &str) -> Option<(&'a str, &'a str)> {
    let (before, rest) = text.split_once("<promise>")?;
    let (inner, after) = rest.split_once("</promise>")?;
    (squeeze(inner) == wanted).then_some((before, after))
}

/// Whether the line before only announces the promise ("When all is done I will output:").
fn announces(before: &Line<'_>, promise: &Line<'_>) -> bool {
    let touching = before.number + 1 == promise.number && !before.text.ends_with(['.', '!', '?', ')']);
    if !(before.text.ends_with(':') || touching) {
        return false;
    }
    let tail = before.text.get(before.text.floor_char_boundary(before.text.len().saturating_sub(300))..);
    let tail = tail.unwrap_or_default().replace('’', "'");
    let sentence = tail.rsplit(". ").next().unwrap_or_default();
    MENTIONS_TAG.is_match(sentence) && POSTPONES.is_match(sentence)
}

fn tag(text: &str) -> Option<&str> {
    text.strip_prefix("<promise>")?.strip_suffix("</promise>")
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
