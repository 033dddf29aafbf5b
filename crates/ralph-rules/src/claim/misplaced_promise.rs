//! A promise that is given in another form than alone on the last line. It does not count, but the agent is told; and
//! where only the form is wrong, work that is proven twice does not have to wait for the right one. What is denied, put
//! off, quoted or taken back is told from what is only misplaced.

use super::message_lines::{Line, LineKind, Message};
use super::pattern::pattern;
use super::promise::{POSTPONES, PromiseAtEnd, announces, is_promise, squeeze};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

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
    /// It is spread over several lines.
    OverLines,
    /// Its letters differ in case, or it has other marks.
    Inexact,
    /// Other lines follow it.
    FollowedByText,
    /// It is part of a sentence.
    InSentence,
    /// It is in quotation marks.
    InQuotes,
    /// Other words say that the work is not done.
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
            MisplacedPromise::OverLines => "it spans several lines",
            MisplacedPromise::Inexact => "its letters or marks differ",
            MisplacedPromise::FollowedByText => "other lines follow it",
            MisplacedPromise::InSentence => "it is part of a sentence",
            MisplacedPromise::InQuotes => "it is in quotation marks",
            MisplacedPromise::TakenBack => "other words say that the work is not done",
        }
    }

    /// Whether only its form is wrong.
    pub fn is_promise(self) -> bool {
        use MisplacedPromise::{InQuotes, InSentence, TakenBack};
        !matches!(self, InSentence | InQuotes | TakenBack)
    }
}

/// Lines after a promise that may take it back.
const LATER: usize = 20;
static TAKES_BACK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)\b(?:wait|actually|kidding|still|remain(?:s|ing)?|not (?:yet|done|complete|finished|quite)|unfinished|",
        r"incomplete|missing|pending|todo|to do|more work|later|i will|i'll|go on|going on|is red|fails?|failing|broken)\b",
    ))
});
/// "No work remains.", "All 212 tests still pass."
static DENIES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i-u)\b(?:no|nothing|none|never|neither|without|zero|all|every)\b"));

/// Words that may stand before a promise in its own sentence: "All done: …". Any other word may deny it or put it off.
#[rustfmt::skip] // a list, not a column
const DONE: &[&str] = &[
    "done", "fixed", "finished", "complete", "completed", "implemented", "ready", "all", "everything", "it", "the",
    "task", "tasks", "work", "story", "stories", "requirements", "tests", "test", "is", "are", "am", "was", "were",
    "have", "has", "been", "met", "pass", "passes", "passing", "passed", "green", "now", "so", "and", "here", "i",
    "we", "this", "that", "my", "final", "status", "result", "answer", "signal", "completion", "promise", "ok",
];

/// The last place where the promise is given otherwise than it has to be.
pub(super) fn misplaced(message: &Message<'_>, kept: &[&Line<'_>], wanted: &str) -> PromiseAtEnd {
    if wanted.is_empty() {
        return PromiseAtEnd::None;
    }
    if let Some((first, line)) = alone_in_last_fence(message, kept, wanted) {
        return standing_alone(kept, first, line, MisplacedPromise::InFence);
    }
    if let Some(first) = over_lines(kept, wanted) {
        return standing_alone(kept, first, first, MisplacedPromise::OverLines);
    }
    let prose = kept.iter().enumerate().rev().filter(|(_, line)| line.kind == LineKind::Prose);
    let mut found = prose.filter_map(|(at, line)| inside(line.text, wanted).map(|place| (at, *line, place)));
    let Some((at, line, place)) = found.next() else { return PromiseAtEnd::None };
    match form(&place) {
        None => PromiseAtEnd::None,
        Some(form) if form.is_promise() && taken_back(kept, at, &place) => {
            PromiseAtEnd::NotAlone(line.number, MisplacedPromise::TakenBack)
        }
        Some(MisplacedPromise::WithText) if postponed(&place) => PromiseAtEnd::InSentence(line.number),
        Some(MisplacedPromise::InSentence) if postponed(&place) => PromiseAtEnd::InSentence(line.number),
        Some(MisplacedPromise::WithText) => PromiseAtEnd::NotAlone(line.number, MisplacedPromise::WithText),
        Some(form) => standing_alone(kept, at, at, form),
    }
}

/// A promise on a line, with the text around it.
struct Place<'a> {
    before: &'a str,
    after: &'a str,
    exact: bool,
}

/// The text before and after the promise on its line.
fn inside<'a>(text: &'a str, wanted: &str) -> Option<Place<'a>> {
    let lower = text.to_ascii_lowercase();
    let open = lower.find("<promise>")?;
    let inner = open + "<promise>".len();
    let close = inner + lower.get(inner..)?.find("</promise>")?;
    let (tag, said) = (text.get(open..inner)?, text.get(inner..close)?);
    let exact = tag == "<promise>" && squeeze(said) == wanted;
    let place = Place { before: text.get(..open)?, after: text.get(close + "</promise>".len()..)?, exact };
    (exact || is_nearly(said, wanted)).then_some(place)
}

/// Whether a text is the run's promise but for case and punctuation.
pub(super) fn is_nearly(said: &str, wanted: &str) -> bool {
    let bare =
        |text: &str| text.chars().filter(|c| !c.is_ascii_punctuation() && *c != ' ').collect::<String>();
    let (said, wanted) = (bare(said), bare(wanted));
    !wanted.is_empty() && said.eq_ignore_ascii_case(&wanted)
}

/// The form; none if the tag is only shown: in a table, struck out, behind a line number or beside another tag.
fn form(place: &Place<'_>) -> Option<MisplacedPromise> {
    let Place { before, after, exact } = place;
    let (last, next) = (before.chars().next_back(), after.chars().next());
    let either = |test: fn(char) -> bool| last.is_some_and(test) || next.is_some_and(test);
    let strange =
        |c: char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '~');
    let numbered = !before.trim().is_empty() && before.trim().chars().all(|c| c.is_ascii_digit());
    let other_tag = before.contains("<promise>") || after.contains("<promise>");
    if either(strange) || numbered || other_tag || before.starts_with('|') {
        return None;
    }
    let quote = |c: char| matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’' | '„' | '«' | '»');
    if either(quote) || before.matches('"').count() % 2 == 1 {
        return Some(MisplacedPromise::InQuotes);
    }
    let around: String = before.chars().chain(after.chars()).filter(|c| !c.is_whitespace()).collect();
    Some(match around.chars().next() {
        None if *exact => MisplacedPromise::FollowedByText,
        None => MisplacedPromise::Inexact,
        Some('`') if around.chars().all(|c| c == '`') => MisplacedPromise::InBackticks,
        Some(_) if around.chars().all(|c| matches!(c, '*' | '_')) => MisplacedPromise::Emphasized,
        Some(_) if is_plain(place) => MisplacedPromise::WithText,
        Some(_) => MisplacedPromise::InSentence,
    })
}

/// The sentence that the promise stands in: its words before and after it.
fn sentence<'a>(place: &Place<'a>) -> (&'a str, &'a str) {
    let begun = place.before.rsplit(['.', '!', '?']).next().unwrap_or_default();
    (begun, place.after.split(['.', '!', '?']).next().unwrap_or_default())
}

/// Whether no word of its sentence can change what it means.
fn is_plain(place: &Place<'_>) -> bool {
    let (begun, rest) = sentence(place);
    let mut words = begun.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let plain = words.all(|word| DONE.iter().any(|done| done.eq_ignore_ascii_case(word)));
    plain && !rest.contains(char::is_alphanumeric)
}

fn postponed(place: &Place<'_>) -> bool {
    let (begun, rest) = sentence(place);
    [begun, rest].iter().any(|part| POSTPONES.is_match(&part.replace('’', "'")))
}

/// Whether another sentence of its line, or a later one, says that the work is not done.
fn taken_back(kept: &[&Line<'_>], at: usize, place: &Place<'_>) -> bool {
    let later = kept.iter().skip(at + 1).filter(|line| line.kind == LineKind::Prose).take(LATER);
    let texts = [place.before, place.after].into_iter().chain(later.map(|line| line.text));
    let mut sentences = texts.flat_map(|text| text.split(". "));
    sentences.any(|sentence| TAKES_BACK.is_match(sentence) && !DENIES.is_match(sentence))
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

/// The opening line and the promise's, if it is all that the fence at the end of the message holds.
fn alone_in_last_fence(message: &Message<'_>, kept: &[&Line<'_>], wanted: &str) -> Option<(usize, usize)> {
    let [.., opening, line, closing] = kept else { return None };
    let fence = message.fence(line)?;
    let edges = [opening, closing].iter().all(|edge| edge.kind == LineKind::FenceEdge(fence));
    (edges && is_promise(line.text, wanted)).then(|| (kept.len() - 3, kept.len() - 2))
}

/// The first line, if the last two or three lines together are the promise.
fn over_lines(kept: &[&Line<'_>], wanted: &str) -> Option<usize> {
    (2..=3).filter_map(|lines| kept.len().checked_sub(lines)).find(|first| {
        let part = kept.get(*first..).unwrap_or_default();
        let prose = part.iter().all(|line| line.kind == LineKind::Prose);
        let text = part.iter().map(|line| line.text).collect::<Vec<_>>().join(" ");
        prose && is_promise(&text, wanted)
    })
}
