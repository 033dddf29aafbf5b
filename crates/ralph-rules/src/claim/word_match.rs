//! Matches words and phrases without regular expressions, since compiling one takes longer than reading a short message.
//! All texts are lower case with single spaces. Used by `qualifiers.rs`, `phrases.rs`, `questions.rs` and `work.rs`.

/// Whether the byte is part of a word.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where the words of a text begin.
pub(super) fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut before = false;
    text.bytes().enumerate().filter_map(move |(at, byte)| {
        let starts = in_word(byte) && !before;
        before = in_word(byte);
        starts.then_some(at)
    })
}

/// The first word of a text, without an apostrophe and what follows it.
pub(super) fn first(text: &str) -> &str {
    let end = text.bytes().position(|byte| !in_word(byte)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// What follows the phrase, if the text begins with it as whole words.
pub(super) fn after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(phrase)?;
    (!rest.bytes().next().is_some_and(in_word)).then_some(rest)
}

/// What follows the first of these phrases that the text begins with.
pub(super) fn after_any<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    let initial = text.bytes().next()?;
    let mut fitting = phrases.iter().filter(|phrase| phrase.bytes().next() == Some(initial));
    fitting.find_map(|phrase| after(text, phrase))
}

/// Whether the text begins with a contraction with this ending: "isn't", "we'll".
pub(super) fn contracted(text: &str, ending: &str) -> bool {
    let word = first(text);
    let (stem, tail) = ending.split_once('\'').unwrap_or((ending, ""));
    let rest = text.get(word.len()..).unwrap_or_default();
    word.len() > stem.len()
        && word.ends_with(stem)
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && rest.strip_prefix('\'').is_some_and(|rest| after(rest, tail).is_some())
}

/// Whether the text begins with a word that has one of these stems.
pub(super) fn has_stem(text: &str, stems: &[&str]) -> bool {
    let word = first(text);
    stems.iter().any(|stem| {
        word.strip_prefix(stem).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_lowercase()))
    })
}

/// Whether the text contains any of these.
pub(super) fn contains_any(text: &str, pieces: &[&str]) -> bool {
    pieces.iter().any(|piece| text.contains(piece))
}
