//! The families of phrases by which an agent says in plain words that it is done. Each family counts once, each
//! stretch of text for one family, and only when nothing around it (`cues.rs`) takes it back.

use super::cues::Cues;
use super::evidence::Evidence;
use super::pattern::pattern;
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

/// A family and its pattern. The text has single spaces and one sentence a line, so no pattern crosses a sentence.
static FAMILIES: LazyLock<Vec<(Evidence, Regex)>> = LazyLock::new(|| {
    let family = |kind, source: &str| (kind, pattern(&format!(r"(?i-u)\b(?:{source})")));
    vec![
        family(
            Evidence::TestsPass,
            concat!(
                all!(),
                r"(?:tests?|test suites?|test cases?) (?:and [a-z]+ )?",
                within!(),
                aux!(),
                r"(?:pass|passes|passed|passing|green|succeed|succeeded)\b|",
                r"everything ",
                aux!(),
                r"(?:pass|passes|passed|passing)\b",
            ),
        ),
        family(
            Evidence::StoriesComplete,
            concat!(all!(), r"stories ", within!(), aux!(), r"(?:complete|completed|done)\b"),
        ),
        family(
            Evidence::ProjectComplete,
            concat!(r"project ", aux!(), r"(?:complete|completed)\b|project (?:is )?(?:now )?ready\b"),
        ),
        family(
            Evidence::ImplementationComplete,
            concat!(r"implementation ", within!(), aux!(), r"(?:complete|completed)\b"),
        ),
        family(
            Evidence::NothingLeft,
            concat!(
                r"nothing (?:(?:is|was|else|more|remains) )*(?:left )?to (?:do|be done|implement|fix|complete)\b|",
                r"no (?:remaining|more|outstanding) (?:work|tasks|stories|items)\b|",
                r"no work (?:is )?(?:left|remaining|remains)\b",
            ),
        ),
        family(
            Evidence::TasksDone,
            concat!(
                all!(),
                r"tasks ",
                within!(),
                aux!(),
                r"(?:complete|completed|done|finished)\b|all done\b"
            ),
        ),
        family(
            Evidence::HundredPercent,
            concat!(
                r"100 ?(?:%|percent) (?:(?:of|the|all|tasks|stories|work|project|features?|is|are|now|fully) )*",
                r"(?:complete|completed|done)\b",
            ),
        ),
        family(
            Evidence::AlreadyImplemented,
            concat!(
                r"already (?:been )?(?:(?:fully|completely) )?implemented\b|",
                r"no (?:(?:code|further|more|additional|other|new) )*changes? ",
                r"(?:(?:are|were|was|is) )?(?:needed|required|necessary)\b",
            ),
        ),
        (Evidence::BareComplete, pattern(r"(?-u)\bCOMPLETE\b")),
    ]
});

/// Free words inside a phrase that turn it round ("all but two tests pass").
static INNER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:not|but|never|almost|nearly|except|will|would|should|could|can|may|might|must|if|when|once|until|fail|failed)\b",
    )
});

/// "complete" followed by one of these is a verb: something still to be done.
static VERB: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i-u)^ (?:the|your|this|each|every|all|an?)\b"));

/// Beside these the upper-case word is one value in a list of values.
static VALUES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?-u)\b(?:IN_PROGRESS|BLOCKED|INCOMPLETE|NOT_RUN)\b"));

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
        let mut cues = None;
        while let Some(hit) = hits.next_if(|hit| hit.start < end) {
            if !found.contains(&hit.kind) {
                let cues = cues.get_or_insert_with(|| Cues::of(sentence.trim_end()));
                if stands(&hit, sentence, start, cues) {
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
    let mut all = Vec::new();
    for (kind, pattern) in FAMILIES.iter() {
        let places = pattern.find_iter(prose);
        all.extend(places.map(|found| Hit { kind: *kind, start: found.start(), end: found.end() }));
    }
    all.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut taken = 0;
    all.retain(|hit| {
        let free = hit.start >= taken;
        taken = if free { hit.end } else { taken };
        free
    });
    all
}

/// Does the phrase mean what it says?
fn stands(hit: &Hit, sentence: &str, offset: usize, cues: &Cues<'_>) -> bool {
    let (start, end) = (hit.start - offset, hit.end - offset);
    let after = cues.near_after(end);
    let turned = match hit.kind {
        Evidence::NothingLeft => after.starts_with(" with"),
        Evidence::TasksDone if after.starts_with(" with") => true,
        Evidence::AlreadyImplemented => false,
        Evidence::ProjectComplete => after.starts_with(" for ") || after.starts_with(" to "),
        Evidence::BareComplete => VALUES.is_match(sentence),
        _ => INNER.is_match(sentence.get(start..end).unwrap_or_default()),
    };
    !turned && whole_words(sentence, start, end) && !VERB.is_match(after) && !cues.spoil(start, end)
}

/// A hyphen, slash or letter at either side makes it part of a longer word.
fn whole_words(sentence: &str, start: usize, end: usize) -> bool {
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
