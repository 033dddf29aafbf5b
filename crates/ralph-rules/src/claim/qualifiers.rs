//! Qualifiers: words around a phrase that negate or weaken it (denials, doubts, conditions, the future, exceptions). Each
//! sentence is scanned once, however many phrases it has. Used by `phrases.rs`; `word_match.rs` compares words.

use super::word_match::{after, after_any, contracted, first, has_stem, starts};

/// Denials, doubts, wishes and the future. They apply to the end of their clause.
#[rustfmt::skip] // a list, not a column
const DOUBT: &[&str] = &[
    "not", "no", "never", "none", "neither", "nor", "cannot", "without", "hardly", "barely", "almost",
    "nearly", "mostly", "partially", "partly", "unable", "fail to", "fails to", "failed to", "failing to",
    "far from", "close to", "about to", "incomplete", "unfinished", "will", "shall", "would", "should",
    "could", "might", "may", "must", "going to", "need", "needs", "needed", "have to", "has to", "want",
    "wants", "hope", "hopes", "hoping", "hopefully", "expect", "expects", "expected", "expecting", "aim",
    "aims", "aiming", "plan to", "plans to", "planned to", "planning to", "try", "tries", "trying",
    "intend", "intends", "supposed", "ensure", "ensures", "ensuring", "make sure", "makes sure",
    "making sure", "verify", "verifying", "checking", "continue", "please", "goal", "target", "todo",
    "fixme", "remaining", "pending", "claim", "claims", "claimed", "says", "said", "told", "probably",
    "perhaps", "maybe", "presumably", "likely", "think", "believe", "guess", "seem", "seems", "appear",
    "appears", "false", "wrong", "untrue", "lie", "myth", "previously", "formerly", "used to",
];

/// Conditions. Before the phrase they apply to the whole sentence.
#[rustfmt::skip] // a list, not a column
const CONDITION: &[&str] = &[
    "if", "once", "when", "whenever", "until", "till", "unless", "provided", "assuming", "whether",
    "as soon as", "as long as", "in case", "in order to", "in order for", "so that", "only after", "depend",
    "depends", "depending", "suppose", "doubt", "unclear", "unsure",
];

/// With a colon: labels of future work. They apply like conditions.
#[rustfmt::skip] // a list, not a column
const LABEL: &[&str] = &[
    "todo", "fixme", "next", "next step", "next steps", "goal", "goals", "remaining", "pending", "left",
    "criteria", "requirement", "requirements", "definition of done",
];

/// A denial followed by one of `STATEMENT` denies a whole statement. It applies like a condition.
const DENIAL: &[&str] = &["not", "never", "cannot", "unable to", "without"];
#[rustfmt::skip] // a list, not a column
const STATEMENT: &[&str] = &[
    "that", "think", "believe", "sure", "true", "clear", "certain", "guarantee", "mean", "say",
];
const STATEMENT_STEMS: &[&str] = &["verif", "confirm", "check"];

/// After the phrase: not now.
const LATER: &[&str] = &["tomorrow", "soon", "later", "eventually", "shortly", "previously", "earlier"];

/// After the phrase: not all.
#[rustfmt::skip] // a list, not a column
const EXCEPTION: &[&str] = &[
    "except", "excluding", "apart from", "aside from", "other than", "besides", "barring", "save for",
    "but not", "but for", "but some", "but one", "but two", "but three", "but four", "but five",
    "but a few",
];

/// Right before the phrase: it is a goal, not an observation.
#[rustfmt::skip] // a list, not a column
const LEADS: &[&str] = &[
    "before", "after", "by the time", "make", "makes", "making", "get", "gets", "getting", "keep",
    "keeping", "let", "to have",
];

/// Right after the phrase: it is denied, or has a value that denies it.
#[rustfmt::skip] // a list, not a column
const DENIED: &[&str] = &[
    "not", "no", "false", "never", "pending", "todo", "tbd", "isn't", "wasn't", "aren't",
];
#[rustfmt::skip] // a list, not a column
const BETWEEN: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "does", "do", "did", "it",
];

/// In a heading, or a line that ends with a colon: the list below describes future work.
#[rustfmt::skip] // a list, not a column
const LEAD_IN: &[&str] = &[
    "if", "once", "when", "until", "unless", "before", "will", "should", "must", "need", "needs", "not",
    "todo", "to do", "to-do", "remaining", "remains", "left", "pending", "next", "goal", "goals",
    "criteria", "requirement", "requirements", "definition of done", "plan", "failing", "failed", "missing",
];

/// Whether this line postpones what the list below it says ("Done when:", "## Acceptance criteria").
pub(super) fn postpones(lead_in: &str) -> bool {
    let sentence = lead_in.rsplit(". ").next().unwrap_or_default();
    let sentence = sentence.replace('’', "'").to_ascii_lowercase();
    starts(&sentence).any(|at| {
        let rest = sentence.get(at..).unwrap_or_default();
        after_any(rest, LEAD_IN).is_some() || contracted(rest, "'ll")
    })
}

/// Positions of the qualifiers in one sentence.
pub(super) struct Qualifiers {
    sentence: String,
    asked: bool,
    doubts: Vec<usize>,
    conditions: Vec<usize>,
    later: Vec<usize>,
    breaks: Vec<usize>,
    exception: Option<usize>,
}

impl Qualifiers {
    /// Scans a sentence.
    pub(super) fn of(sentence: &str) -> Qualifiers {
        let sentence = sentence.to_ascii_lowercase();
        let mut qualifiers = Qualifiers {
            asked: sentence.trim_end_matches([')', '"', '\'']).ends_with('?'),
            doubts: Vec::new(),
            conditions: Vec::new(),
            later: Vec::new(),
            breaks: breaks(&sentence),
            exception: None,
            sentence: String::new(),
        };
        for at in starts(&sentence) {
            qualifiers.look_at(at, sentence.get(at..).unwrap_or_default());
        }
        qualifiers.sentence = sentence;
        qualifiers
    }

    fn look_at(&mut self, at: usize, rest: &str) {
        if after_any(rest, DOUBT).is_some() || contracted(rest, "n't") || contracted(rest, "'ll") {
            self.doubts.push(at);
        }
        let condition = after_any(rest, CONDITION).is_some() || is_label(rest) || denies_a_statement(rest);
        if condition {
            self.conditions.push(at);
        }
        if condition || after_any(rest, LATER).is_some() {
            self.later.push(at);
        }
        let number = || after(rest, "but").is_some_and(|rest| is_number(rest.trim_start_matches(' ')));
        if after_any(rest, EXCEPTION).is_some() || number() {
            self.exception = Some(at);
        }
    }

    /// Whether the phrase at `start..end` is denied, doubted, postponed, asked or conditional.
    pub(super) fn negate(&self, start: usize, end: usize) -> bool {
        self.asked
            || self.exception.is_some_and(|at| at >= start)
            || self.conditions.first().is_some_and(|at| *at < start)
            || last_before(&self.doubts, start) > last_before(&self.breaks, start)
            || self.is_postponed(end)
            || leads(self.near_before(start))
            || is_denied(self.near_after(end))
    }

    fn is_postponed(&self, end: usize) -> bool {
        let first = |places: &[usize]| places.get(places.partition_point(|at| *at < end)).copied();
        first(&self.later).is_some_and(|at| first(&self.breaks).is_none_or(|stop| at < stop))
    }

    fn near_before(&self, start: usize) -> &str {
        let from = self.sentence.floor_char_boundary(start.saturating_sub(24));
        self.sentence.get(from..start).unwrap_or_default()
    }

    /// The 48 bytes after a position; bounded so that long sentences cost no more than short ones.
    pub(super) fn near_after(&self, end: usize) -> &str {
        let to = self.sentence.floor_char_boundary((end + 48).min(self.sentence.len()));
        self.sentence.get(end..to).unwrap_or_default()
    }
}

/// The last of the sorted positions before `start`.
fn last_before(places: &[usize], start: usize) -> Option<usize> {
    places.partition_point(|at| *at < start).checked_sub(1).and_then(|nth| places.get(nth)).copied()
}

/// Ends of clauses: punctuation, and words that begin another clause.
fn breaks(sentence: &str) -> Vec<usize> {
    let mut places = Vec::new();
    for (at, byte) in sentence.bytes().enumerate() {
        let rest = || sentence.get(at..).unwrap_or_default();
        let ends = match byte {
            b',' | b';' | b':' | b'(' | b')' => true,
            b'-' => rest().starts_with("--"),
            b' ' => [" and ", " but ", " so ", " while "].iter().any(|word| rest().starts_with(word)),
            _ => false,
        };
        if ends {
            places.push(at);
        }
    }
    places
}

fn is_label(rest: &str) -> bool {
    let colon = |rest: &str| rest.strip_prefix(' ').unwrap_or(rest).starts_with(':');
    LABEL.iter().any(|label| after(rest, label).is_some_and(colon))
}

/// "not sure", "cannot confirm", "isn't at all clear": a denial, two free words at most, what is denied.
fn denies_a_statement(rest: &str) -> bool {
    let contraction = || rest.get(first(rest).len() + 2..).filter(|_| contracted(rest, "n't"));
    let Some(mut rest) = after_any(rest, DENIAL).or_else(contraction) else { return false };
    for _ in 0..3 {
        let Some(next) = rest.strip_prefix(' ') else { return false };
        if after_any(next, STATEMENT).is_some() || has_stem(next, STATEMENT_STEMS) {
            return true;
        }
        let word = first(next);
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return false;
        }
        rest = next.get(word.len()..).unwrap_or_default();
    }
    false
}

fn is_number(rest: &str) -> bool {
    let word = first(rest);
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the text before a phrase ends with a word that makes it a goal.
fn leads(before: &str) -> bool {
    let Some(before) = before.strip_suffix(' ') else { return false };
    LEADS.iter().any(|word| {
        before
            .strip_suffix(word)
            .is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

fn is_denied(after_phrase: &str) -> bool {
    let rest = after_phrase.trim_start_matches([' ', '.', ':', '=', '|', '(', '-']);
    let skipped = after_any(rest, BETWEEN).and_then(|rest| rest.strip_prefix(' '));
    [Some(rest), skipped].into_iter().flatten().any(|rest| {
        let word = first(rest);
        let tail = rest.get(word.len()..).unwrap_or_default();
        let percent =
            word.len() <= 2 && is_number(rest) && tail.strip_prefix(' ').unwrap_or(tail).starts_with('%');
        percent || after_any(rest, DENIED).is_some() || has_stem(rest, &["fail"])
    })
}
