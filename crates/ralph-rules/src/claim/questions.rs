//! Whether the message asks its reader for something. Nobody answers in a loop, so the next prompt says so. Only the
//! sentences of `prose.rs` are read, not code or quotations.

use super::pattern::pattern;
use super::word_match::contains_any;
use regex::Regex;
use std::sync::LazyLock;

/// Questions to the reader: they end with a question mark. Rhetorical ones speak to nobody.
static ASKED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?m-u)\b(?:should|shall|may|can|could|must|do) (?:i|we)\b(?u:[^\n])*\?|",
        r"\b(?:would|do|did|could|can|will|are|were|have) you\b(?u:[^\n])*\?|",
        r"\b(?:want|like|prefer) me to\b(?u:[^\n])*\?|",
        r"\b(?:you|your) (?:like|want|prefer|mean|preference|choice)\b(?u:[^\n])*\?|",
        r"\b(?:is|are|does|sound|look)[a-z]* (?:it|this|that|these)? ?(?:ok|okay|fine|good|acceptable)\b(?u:[^\n])*\?|",
        r"^(?:does|is) (?:this|that|it) (?:look|sound|work|what)\b(?u:[^\n])*\?|",
        r"^(?:any (?:preference|objection)s?|which (?:one|option|approach|way)|how to proceed|ready to proceed)\b(?u:[^\n])*\?",
    ))
});

/// Requests without a question mark.
static REQUESTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?-u)\bplease (?:confirm|clarify|advise|specify|choose|decide|tell me|let me know|provide|answer)\b|",
        r"\blet me know (?:if|whether|when|which|what|how)(?: [a-z]+){0,3}? ",
        r"(?:you(?:'d| would)? (?:like|prefer|want)|you want|to proceed|i should)\b|",
        r"\b(?:waiting|wait) for (?:your|you)\b|\bawaiting your\b|",
        r"\bi need (?:your|you to)\b|\bi(?:'d| would) need you to\b",
    ))
});

/// One of these is in every request.
const ASKING: &[&str] = &[
    "please ",
    "let me know ",
    "wait for you",
    "waiting for you",
    "awaiting your",
    " need you",
    "i need you",
];

/// Reads a text of `prose::sentences`.
pub(super) fn asks(sentences: &str) -> bool {
    let lower = sentences.to_ascii_lowercase();
    // Most messages ask nothing, and compiling a pattern costs more than reading a message.
    lower.contains('?') && ASKED.is_match(&lower)
        || contains_any(&lower, ASKING) && REQUESTED.is_match(&lower)
}
