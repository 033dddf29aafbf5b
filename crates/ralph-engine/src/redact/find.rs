//! Finds the places where a secret may start. Output is nearly always clean, so this is where the time goes:
//! a vector search for all starts at once where the machine has one, an automaton else.

use aho_corasick::{AhoCorasick, MatchKind, Span, packed};

/// No start given to the search is longer; the last bytes of a stream are held back by this much.
pub(super) const START: usize = 32;

#[derive(Debug)]
pub(super) enum Finder {
    Vector(packed::Searcher),
    Automaton(AhoCorasick),
    /// Nothing could be built: every place is looked at.
    Everywhere,
}

impl Finder {
    /// Only the first line of a start is searched for, so that a finished line never waits for the next one.
    pub(super) fn new<'s>(starts: impl Iterator<Item = &'s [u8]>) -> Self {
        let mut all: Vec<&[u8]> = starts.map(first_line).filter(|s| !s.is_empty()).collect();
        all.sort_unstable();
        // Sorted, a start stands before the longer ones that begin with it and that it finds too.
        all.dedup_by(|longer, kept| longer.starts_with(kept));
        let vector = packed::Config::new().heuristic_pattern_limits(false).builder().extend(&all).build();
        match vector {
            Some(searcher) => Self::Vector(searcher),
            None => AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .build(&all)
                .map_or(Self::Everywhere, Self::Automaton),
        }
    }

    /// The first place at or after `from` where something may start.
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        if from >= text.len() {
            return None;
        }
        match self {
            Self::Vector(searcher) => {
                searcher.find_in(text, Span { start: from, end: text.len() }).map(|m| m.start())
            }
            Self::Automaton(automaton) => {
                automaton.find(aho_corasick::Input::new(text).range(from..)).map(|m| m.start())
            }
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

    fn places(finder: &Finder, text: &[u8]) -> Vec<usize> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let found = finder.next(text, at)?;
            at = found + 1;
            Some(found)
        })
        .collect()
    }

    #[test]
    fn all_ways_of_searching_find_the_same_places() {
        let starts: [&[u8]; 4] = [b"sk-", b"sk-ant-", b"eyJ", b"two\nlines"];
        let text = b"a sk-ant-1 eyJ sk-eyJ and two words over a line that is long enough for vectors";
        let automaton =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(["sk-", "eyJ", "two"]).unwrap();
        assert_eq!(places(&Finder::new(starts.into_iter()), text), [2, 11, 15, 18, 26]);
        assert_eq!(places(&Finder::Automaton(automaton), text), [2, 11, 15, 18, 26]);
        assert_eq!(places(&Finder::Everywhere, text).len(), text.len());
    }
}
