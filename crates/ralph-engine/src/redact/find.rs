//! Finds the places where a secret may start. Output is nearly always clean, so this is where the time goes:
//! a vector search for all starts at once where the machine has one, an automaton else.

use aho_corasick::{AhoCorasick, Input, MatchKind, Span, packed};

/// No start given to the search is longer; the last bytes of a stream are held back by this much.
pub(super) const START: usize = 32;

/// A vector search compares as many bytes as its shortest start has, four at most. Starts of that length are
/// searched for apart from the shorter ones, which would make it stop at every second word.
const LONG: usize = 4;

pub(super) struct Finder {
    short: Search,
    long: Search,
}

/// It knows how secrets begin, so it says nothing.
impl std::fmt::Debug for Finder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Finder")
    }
}

impl Finder {
    /// Only the first line of a start is searched for, so that a finished line never waits for the next one.
    pub(super) fn new<'s>(starts: impl Iterator<Item = &'s [u8]>) -> Self {
        let mut all: Vec<&[u8]> = starts.map(first_line).filter(|s| !s.is_empty()).collect();
        all.sort_unstable();
        // Sorted, a start stands before the longer ones that begin with it and that it finds too.
        all.dedup_by(|longer, kept| longer.starts_with(kept));
        let (long, short): (Vec<_>, Vec<_>) = all.into_iter().partition(|start| start.len() >= LONG);
        Self { short: Search::new(&short), long: Search::new(&long) }
    }

    /// The places at or after `from` where something may start, in order.
    pub(super) fn places<'f>(&'f self, text: &'f [u8], from: usize) -> impl Iterator<Item = usize> + 'f {
        let mut short = self.short.next(text, from);
        let mut long = self.long.next(text, from);
        std::iter::from_fn(move || {
            let at = match (short, long) {
                (Some(a), Some(b)) => a.min(b),
                (one, other) => one.or(other)?,
            };
            if short == Some(at) {
                short = self.short.next(text, at + 1);
            }
            if long == Some(at) {
                long = self.long.next(text, at + 1);
            }
            Some(at)
        })
    }
}

enum Search {
    Vector(packed::Searcher),
    Automaton(AhoCorasick),
    /// Nothing could be built: every place is looked at.
    Everywhere,
}

impl Search {
    fn new(starts: &[&[u8]]) -> Self {
        let vector = packed::Config::new().heuristic_pattern_limits(false).builder().extend(starts).build();
        vector.map_or_else(|| Self::automaton(starts), Self::Vector)
    }

    fn automaton(starts: &[&[u8]]) -> Self {
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(starts);
        built.map_or(Self::Everywhere, Self::Automaton)
    }

    fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        if from >= text.len() {
            return None;
        }
        let span = Span { start: from, end: text.len() };
        match self {
            Self::Vector(searcher) => searcher.find_in(text, span).map(|m| m.start()),
            Self::Automaton(automaton) => automaton.find(Input::new(text).span(span)).map(|m| m.start()),
            Self::Everywhere => Some(from),
        }
    }
}

fn first_line(start: &[u8]) -> &[u8] {
    let line = start.split(|b| *b == b'\n').next().unwrap_or_default();
    line.get(..START).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_of_searching_find_the_same_places() {
        let text = b"a sk-ant-1 eyJ sk-eyJ and two words over a line that is long enough for vectors";
        let places = |finder: Finder| finder.places(text, 0).collect::<Vec<_>>();
        let starts: [&[u8]; 5] = [b"sk-", b"sk-ant-", b"eyJ", b"two \nlines", b"line"];
        let expected = [2, 11, 15, 18, 26, 43];
        assert_eq!(places(Finder::new(starts.into_iter())), expected);
        let (short, long): ([&[u8]; 2], [&[u8]; 2]) = ([b"sk-", b"eyJ"], [b"two ", b"line"]);
        assert_eq!(
            places(Finder { short: Search::automaton(&short), long: Search::automaton(&long) }),
            expected
        );
        let everywhere = Finder { short: Search::automaton(&short), long: Search::Everywhere };
        assert_eq!(places(everywhere).len(), text.len());
    }
}
