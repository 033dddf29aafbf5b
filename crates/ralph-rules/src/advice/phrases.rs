//! The phrase table (`phrases.tsv`) and how its phrases match words. Kinds, vague words and risk all come from it, so that
//! `ralph advise` and the task types of reports cannot disagree.

use super::words::{Gap, Word};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One row: phrases under a list and what they stand for.
#[derive(Debug)]
pub struct Row {
    /// What the phrases stand for; in the lists of acts, the verbs.
    pub means: &'static str,
    /// The verbs of an act.
    pub verbs: Vec<Phrase>,
    /// The phrases.
    pub phrases: Vec<Phrase>,
}

/// A phrase: patterns of words in order.
#[derive(Debug)]
pub struct Phrase {
    words: Vec<&'static str>,
    /// The clause ends after it.
    ends: bool,
}

static TABLE: LazyLock<BTreeMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut table: BTreeMap<&'static str, Vec<Row>> = BTreeMap::new();
    for line in include_str!("phrases.tsv").lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        if let (Some(list), Some(means), Some(phrases)) = (columns.next(), columns.next(), columns.next()) {
            let row = Row { means, verbs: read(means), phrases: read(phrases) };
            table.entry(list).or_default().push(row);
        }
    }
    table
});

fn read(phrases: &'static str) -> Vec<Phrase> {
    let phrase = |text: &'static str| Phrase {
        words: text.trim_end_matches('$').split(' ').collect(),
        ends: text.ends_with('$'),
    };
    phrases.split('|').map(phrase).collect()
}

/// The rows of a list.
pub fn rows(list: &str) -> &'static [Row] {
    TABLE.get(list).map_or(&[], Vec::as_slice)
}

/// How many words a phrase of this list takes at this place; of several, the most.
pub fn at(list: &str, means: &str, words: &[Word<'_>], place: usize) -> Option<usize> {
    let rows = rows(list).iter().filter(|row| row.means == means);
    longest(rows.flat_map(|row| &row.phrases), words, place)
}

/// What the list says of the words at this place, and how many words it took.
pub fn meaning(list: &str, words: &[Word<'_>], place: usize) -> Option<(&'static str, usize)> {
    let of_row = |row: &'static Row| Some((row.means, longest(&row.phrases, words, place)?));
    rows(list).iter().filter_map(of_row).max_by_key(|(_, taken)| *taken)
}

/// The longest of these phrases at this place.
pub fn longest<'p>(
    phrases: impl IntoIterator<Item = &'p Phrase>,
    words: &[Word<'_>],
    place: usize,
) -> Option<usize> {
    phrases.into_iter().filter(|phrase| phrase.is_at(words, place)).map(|phrase| phrase.words.len()).max()
}

impl Phrase {
    fn is_at(&self, words: &[Word<'_>], place: usize) -> bool {
        let Some(found) = words.get(place..place + self.words.len()) else { return false };
        let fits = |(nth, (pattern, word)): (usize, (&&str, &Word<'_>))| {
            fits(pattern, &word.lower) && (nth == 0 || word.gap == Gap::Space)
        };
        self.words.iter().zip(found).enumerate().all(fits)
            && (!self.ends || words.get(place + self.words.len()).is_none_or(|next| next.gap > Gap::Space))
    }

    /// Its words as they are written in the table.
    pub fn text(&self) -> String {
        self.words.join(" ")
    }
}

fn fits(pattern: &str, word: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => word.len() > end.len() && word.ends_with(end),
        (None, Some(stem)) => word.starts_with(stem),
        (None, None) => word == pattern,
    }
}
