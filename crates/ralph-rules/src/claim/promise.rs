//! The completion promise: `<promise>TEXT</promise>` alone on the last line of the message. It does not count in a fence,
//! a quote or a sentence, or if the line before it only announces it for later. `misplaced_promise.rs` has what is given
//! in another form.

use super::message_lines::{Line, LineKind, Message};
use super::misplaced_promise::{MisplacedPromise, is_nearly, misplaced};
use super::pattern::pattern;
use regex::Regex;
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

/// Words that mention the tag, and words that deny or postpone it.
static MENTIONS_TAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:output|emit|print|writ|say|saying|respond|reply|answer|includ|produc|signal|promise|tag|end)",
    )
});
pub(super) static POSTPONES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:not|never|[a-z]+n't|cannot|without|will|[a-z]+'ll|when|once|if|until|unless|after|before|only|should|must|would|example|e\.g)\b",
    )
});

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
        Some(last) if tag(last.text).is_some_and(|said| !is_nearly(said, wanted)) => {
            PromiseAtEnd::Other(last.number)
        }
        _ => misplaced(message, &kept, wanted),
    }
}

fn before_last<'a, 'l>(kept: &[&'l Line<'a>]) -> Option<&'l Line<'a>> {
    kept.len().checked_sub(2).and_then(|at| kept.get(at)).copied()
}

/// Whether the line before only announces the promise ("When all is done I will output:").
pub(super) fn announces(before: &Line<'_>, promise: &Line<'_>) -> bool {
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

pub(super) fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
