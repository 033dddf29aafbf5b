//! The words around a phrase that take its meaning away: denials, doubts, conditions, the future, exceptions.
//! One sentence is looked through once, however many phrases it holds. `phrases.rs` asks.

use super::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// Denials, doubts, wishes and the future: they reach to the end of their clause.
static DOUBT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)\b(?:not|no|never|none|neither|nor|cannot|[a-z]+n't|without|hardly|barely|almost|nearly|mostly|",
        r"partially|partly|unable|fail(?:s|ed|ing)? to|far from|close to|about to|incomplete|unfinished|",
        r"will|[a-z]+'ll|shall|would|should|could|might|may|must|going to|needs?|needed|have to|has to|wants?|",
        r"hop(?:e|es|ing)|hopefully|expect(?:s|ed|ing)?|aim(?:s|ing)?|plan(?:s|ned|ning)? to|try|tries|trying|",
        r"intends?|supposed|ensures?|ensuring|mak(?:e|es|ing) sure|verify|verifying|checking|continue|",
        r"please|goal|target|todo|fixme|remaining|pending|claim(?:s|ed)?|says|said|told|",
        r"probably|perhaps|maybe|presumably|likely|think|believe|guess|seems?|appears?|",
        r"false|wrong|untrue|lie|myth|previously|formerly|used to)\b",
    ))
});

/// Conditions, denials of a whole statement, and labels of what is still to come: before the phrase they reach over the whole sentence.
static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)\b(?:(?:if|once|when|whenever|until|till|unless|provided|assuming|whether|as soon as|as long as|",
        r"in case|in order (?:to|for)|so that|only after|depends?|depending|suppose|doubt|unclear|unsure|",
        r"(?:not|never|[a-z]+n't|cannot|unable to|without) (?:[a-z]+ ){0,2}?",
        r"(?:that|think|believe|sure|true|clear|certain|verif[a-z]+|confirm[a-z]*|check[a-z]*|guarantee|mean|say))\b|",
        r"(?:todo|fixme|next|next steps?|goals?|remaining|pending|left|criteria|requirements?|definition of done) ?:)",
    ))
});

/// After the phrase: not now.
static LATER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i-u)\b(?:tomorrow|soon|later|eventually|shortly|previously|earlier)\b"));

/// After the phrase: not all.
static EXCEPTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)\b(?:except|excluding|apart from|aside from|other than|besides|barring|save for|",
        r"but (?:not|for|some|one|two|three|four|five|a few|[0-9]+))\b",
    ))
});

/// Ends of a clause.
static BREAK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i-u)[,;:()]|--| (?:and|but|so|while) "));

/// Right before the phrase: it is made, not found.
static LEADS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i-u)\b(?:before|after|by the time|make|makes|making|get|gets|getting|keep|keeping|let|to have) $",
    )
});

/// Right after the phrase: it is denied, or has a value that denies it.
static DENIED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)^[ .:=|(-]*(?:(?:is|are|was|were|has|have|does|do|did|it) )?",
        r"(?:(?:not|no|false|never|pending|todo|tbd|fail[a-z]*|isn't|wasn't|aren't)\b|[0-9]{1,2} ?%)",
    ))
});

/// A heading, or a line that ends with a colon: what its list holds is still to come.
static LEAD_IN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)\b(?:if|once|when|until|unless|before|will|[a-z]+'ll|should|must|needs?|not|todo|to do|to-do|remaining|",
        r"remains|left|pending|next|goals?|criteria|requirements?|definition of done|plan|failing|failed|missing)\b",
    ))
});

/// Does this line put off what the list under it says ("Done when:", "## Acceptance criteria")?
pub(super) fn puts_off(lead_in: &str) -> bool {
    let sentence = lead_in.rsplit(". ").next().unwrap_or_default();
    LEAD_IN.is_match(&sentence.replace('’', "'"))
}

/// Where the cues of one sentence stand.
pub(super) struct Cues<'a> {
    sentence: &'a str,
    asked: bool,
    doubts: Vec<usize>,
    conditions: Vec<usize>,
    later: Vec<usize>,
    breaks: Vec<usize>,
    exception: Option<usize>,
}

impl<'a> Cues<'a> {
    /// Looks a sentence through.
    pub(super) fn of(sentence: &'a str) -> Cues<'a> {
        let starts =
            |pattern: &Regex| pattern.find_iter(sentence).map(|found| found.start()).collect::<Vec<_>>();
        let mut later = starts(&LATER);
        let conditions = starts(&CONDITION);
        later.extend(&conditions);
        later.sort_unstable();
        Cues {
            sentence,
            asked: sentence.trim_end_matches([')', '"', '\'']).ends_with('?'),
            doubts: starts(&DOUBT),
            conditions,
            later,
            breaks: starts(&BREAK),
            exception: EXCEPTION.find_iter(sentence).last().map(|found| found.start()),
        }
    }

    /// Is the phrase at `start..end` of the sentence denied, doubted, put off, asked or made conditional?
    pub(super) fn spoil(&self, start: usize, end: usize) -> bool {
        self.asked
            || self.exception.is_some_and(|at| at >= start)
            || self.conditions.first().is_some_and(|at| *at < start)
            || last_before(&self.doubts, start) > last_before(&self.breaks, start)
            || self.put_off(end)
            || LEADS.is_match(self.near_before(start))
            || DENIED.is_match(self.near_after(end))
    }

    fn put_off(&self, end: usize) -> bool {
        let first = |places: &[usize]| places.get(places.partition_point(|at| *at < end)).copied();
        first(&self.later).is_some_and(|at| first(&self.breaks).is_none_or(|stop| at < stop))
    }

    fn near_before(&self, start: usize) -> &'a str {
        let from = self.sentence.floor_char_boundary(start.saturating_sub(24));
        self.sentence.get(from..start).unwrap_or_default()
    }

    /// A few words after a place, cut so that a long sentence costs no more than a short one.
    pub(super) fn near_after(&self, end: usize) -> &'a str {
        let to = self.sentence.floor_char_boundary((end + 48).min(self.sentence.len()));
        self.sentence.get(end..to).unwrap_or_default()
    }
}

/// The last of the sorted places before `start`.
fn last_before(places: &[usize], start: usize) -> Option<usize> {
    places.partition_point(|at| *at < start).checked_sub(1).and_then(|nth| places.get(nth)).copied()
}
