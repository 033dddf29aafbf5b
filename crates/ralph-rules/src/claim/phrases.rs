//! The families of phrases by which an agent says in plain words that it is done. Each family counts once, each
//! stretch of text for one family, and only when nothing around it (`qualifiers.rs`) takes it back.

use super::evidence::Evidence;
use super::pattern::pattern;
use super::qualifiers::Qualifiers;
use super::word_match::{after_any, contains_any, starts};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// "all", "all of the", "all 42 new": up to three free words, which `INNER` looks at.
macro_rules! all {
    () => {
        r"all (?:of )?(?:(?:the|these|our|my|its) )?(?:[0-9][0-9,]* )?(?:[a-z0-9-]+ ){0,3}?"
    };
}
/// The small words between a noun and its state.
macro_rules! aux {
    () => {
        r"(?:(?:are|is|were|was|have|has|been|now|all|still|currently|also|successfully|fully|marked|as) )*"
    };
}

/// "in the plan", "of this story"; `\x01` is something left out, such as a file's name in back ticks.
macro_rules! within {
    () => {
        r"(?:(?:in|of|from|for) (?:[a-z0-9_./\x01-]+ ){1,4}?)?"
    };
}

/// A family of phrases: words without which it is not there, and its pattern, compiled only where they are. The text
/// is in lower case, has single spaces and one sentence a line, so no pattern crosses a sentence.
struct Family {
    kind: Evidence,
    needs: &'static [&'static str],
    pattern: LazyLock<Regex>,
}

macro_rules! family {
    ($kind:ident, $needs:expr, $($source:expr),+ $(,)?) => {
        Family {
            kind: Evidence::$kind,
            needs: &$needs,
            pattern: LazyLock::new(|| pattern(concat!(r"(?-u)\b(?:", $($source),+, ")"))),
        }
    };
}

static FAMILIES: [Family; 8] = [
    family!(
        TestsPass,
        ["test", "everything"],
        r"(?:",
        all!(),
        r"test(?:s?| suites?| cases?) (?:and [a-z]+ )?",
        within!(),
        aux!(),
        r"(?:green|succeed|succeeded|pass|passes|passed|passing)|everything ",
        aux!(),
        r"(?:pass|passes|passed|passing))\b",
    ),
    family!(
        StoriesComplete,
        ["stories"],
        all!(),
        r"stories ",
        within!(),
        aux!(),
        r"(?:complete|completed|done)\b"
    ),
    family!(
        ProjectComplete,
        ["project"],
        r"project ",
        aux!(),
        r"(?:complete|completed)\b|project (?:is )?(?:now )?ready\b"
    ),
    family!(
        ImplementationComplete,
        ["implementation"],
        r"implementation ",
        within!(),
        aux!(),
        r"(?:complete|completed)\b"
    ),
    family!(
        NothingLeft,
        ["nothing ", "no remaining", "no more", "no outstanding", "no work"],
        r"nothing (?:(?:is|was|else|more|remains) )*(?:left )?to (?:do|be done|implement|fix|complete)\b|",
        r"no (?:remaining|more|outstanding) (?:work|tasks|stories|items)\b|",
        r"no work (?:is )?(?:left|remaining|remains)\b",
    ),
    family!(
        TasksDone,
        ["tasks ", "all done"],
        all!(),
        r"tasks ",
        within!(),
        aux!(),
        r"(?:complete|completed|done|finished)\b|all done\b"
    ),
    family!(
        HundredPercent,
        ["100"],
        r"100 ?(?:%|percent) (?:(?:of|the|all|tasks|stories|work|project|features?|is|are|now|fully) )*",
        r"(?:complete|completed|done)\b",
    ),
    family!(
        AlreadyImplemented,
        ["already ", " change"],
        r"already (?:been )?(?:(?:fully|completely) )?implemented\b|",
        r"no (?:(?:code|further|more|additional|other|new) )*changes? ",
        r"(?:(?:are|were|was|is) )?(?:needed|required|necessary)\b",
    ),
];

/// Free words inside a phrase that turn it round ("all but two tests pass").
const INNER: &[&str] = &[
    "not", "but", "never", "almost", "nearly", "except", "will", "would", "should", "could", "can", "may",
    "might", "must", "if", "when", "once", "until", "fail", "failed",
];

/// "complete" followed by one of these is a verb: something still to be done.
const VERB: &[&str] = &["the", "your", "this", "each", "every", "all", "a", "an"];

/// Beside these the upper-case word is one value in a list of values.
const VALUES: &[&str] = &["IN_PROGRESS", "BLOCKED", "INCOMPLETE", "NOT_RUN"];

struct Hit {
    kind: Evidence,
    start: usize,
    end: usize,
}

/// The families found in a text of `prose::sentences`.
pub(super) fn families(prose: &str) -> BTreeSet<Evidence> {
    let mut hits = hits(prose).into_iter().peekable();
    let mut found = BTreeSet::new();
    let mut start = 0;
    for sentence in prose.split_inclusive('\n') {
        let end = start + sentence.len();
        let mut qualifiers = None;
        while let Some(hit) = hits.next_if(|hit| hit.start < end) {
            if !found.contains(&hit.kind) {
                let qualifiers = qualifiers.get_or_insert_with(|| Qualifiers::of(sentence.trim_end()));
                if stands(&hit, sentence, start, qualifiers) {
                    found.insert(hit.kind);
                }
            }
        }
        start = end;
    }
    found
}

/// All phrases, in order, none over another: the first and longest takes the stretch.
fn hits(prose: &str) -> Vec<Hit> {
    let lower = prose.to_ascii_lowercase();
    let mut all = Vec::new();
    for family in FAMILIES.iter().filter(|family| contains_any(&lower, family.needs)) {
        let places = family.pattern.find_iter(&lower);
        all.extend(places.map(|found| Hit { kind: family.kind, start: found.start(), end: found.end() }));
    }
    let bare = prose.match_indices("COMPLETE");
    all.extend(bare.map(|(at, word)| Hit { kind: Evidence::BareComplete, start: at, end: at + word.len() }));
    all.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut taken = 0;
    all.retain(|hit| {
        let free = hit.start >= taken;
        taken = if free { hit.end } else { taken };
        free
    });
    all
}

/// Where built-in phrases are in a text of `prose::sentences`.
pub(super) fn built_in_places(prose: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    hits(prose).into_iter().map(|hit| hit.start..hit.end)
}

/// Does the phrase mean what it says?
fn stands(hit: &Hit, sentence: &str, offset: usize, qualifiers: &Qualifiers) -> bool {
    let (start, end) = (hit.start - offset, hit.end - offset);
    let after = qualifiers.near_after(end);
    let turned = match hit.kind {
        Evidence::NothingLeft => after.starts_with(" with"),
        Evidence::TasksDone if after.starts_with(" with") => true,
        Evidence::AlreadyImplemented => false,
        Evidence::ProjectComplete => after.starts_with(" for ") || after.starts_with(" to "),
        Evidence::BareComplete => holds(sentence, VALUES),
        _ => holds(&sentence.get(start..end).unwrap_or_default().to_ascii_lowercase(), INNER),
    };
    let verb = after.strip_prefix(' ').is_some_and(|next| after_any(next, VERB).is_some());
    !turned && !verb && whole_words(sentence, start, end) && !qualifiers.negate(start, end)
}

/// Is one of these words in the text?
fn holds(text: &str, words: &[&str]) -> bool {
    starts(text).any(|at| after_any(text.get(at..).unwrap_or_default(), words).is_some())
}

/// A hyphen, slash or letter at either side makes it part of a longer word.
pub(super) fn whole_words(sentence: &str, start: usize, end: usize) -> bool {
    let before = sentence.get(..start).unwrap_or_default().chars().next_back();
    let mut after = sentence.get(end..).unwrap_or_default().chars();
    let joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '|');
    let (next, second) = (after.next(), after.next());
    let tail = next.is_some_and(|c| match c {
        '-' | '/' => second.is_some_and(char::is_alphanumeric),
        c => c.is_alphanumeric() || c == '_',
    });
    !before.is_some_and(joined) && !tail
}
