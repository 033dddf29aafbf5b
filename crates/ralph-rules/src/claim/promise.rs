//! The completion promise: `<promise>TEXT</promise>` alone on the last line of the message. It does not count in
//! a fence, in a quote, in a sentence, or when the line before it only announces it for later.

use super::lines::{Line, Message, Place};
use super::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// How the message ends, as far as promises go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// With no promise.
    None,
    /// With the run's promise.
    Given,
    /// With a promise that is another's, on this line.
    Other(usize),
    /// With the run's promise, as part of a sentence that denies or postpones it.
    InSentence(usize),
}

/// Words that announce a tag, and words that put it off.
static SPEAKS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:output|emit|print|writ|say|saying|respond|reply|answer|includ|produc|signal|promise|tag|end)",
    )
});
static PUTS_OFF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:not|never|[a-z]+n't|cannot|without|will|[a-z]+'ll|when|once|if|until|unless|after|before|only|should|must|would|example|e\.g)\b",
    )
});

/// What the user gave as the promise, without its tag, inner white space made single.
pub(super) fn wanted(promise: &str) -> String {
    squeeze(tag(promise.trim()).unwrap_or(promise))
}

/// Is this line the run's promise and nothing else?
pub(super) fn is_promise(text: &str, wanted: &str) -> bool {
    !wanted.is_empty() && tag(text).is_some_and(|inner| squeeze(inner) == wanted)
}

/// Reads the last line that is not `skipped` (the lines of the status block, which may stand after the promise).
pub(super) fn stand(message: &Message<'_>, wanted: &str, skipped: impl Fn(usize) -> bool) -> Stand {
    let kept = message.lines.iter().enumerate().rev().filter(|(at, _)| !skipped(*at)).map(|(_, line)| line);
    let mut kept = kept.take(2);
    let Some(last) = kept.next().filter(|line| line.place == Place::Prose) else { return Stand::None };
    if !is_promise(last.text, wanted) {
        return if tag(last.text).is_some() { Stand::Other(last.number) } else { Stand::None };
    }
    match kept.next() {
        Some(before) if announces(before, last) => Stand::InSentence(last.number),
        _ => Stand::Given,
    }
}

/// Does the line before only speak of the promise ("When all is done I will output:")?
fn announces(before: &Line<'_>, promise: &Line<'_>) -> bool {
    let touching = before.number + 1 == promise.number && !before.text.ends_with(['.', '!', '?', ')']);
    if !(before.text.ends_with(':') || touching) {
        return false;
    }
    let tail = before.text.get(before.text.floor_char_boundary(before.text.len().saturating_sub(300))..);
    let tail = tail.unwrap_or_default().replace('’', "'");
    let sentence = tail.rsplit(". ").next().unwrap_or_default();
    SPEAKS.is_match(sentence) && PUTS_OFF.is_match(sentence)
}

fn tag(text: &str) -> Option<&str> {
    text.strip_prefix("<promise>")?.strip_suffix("</promise>")
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
