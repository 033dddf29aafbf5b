//! Splits what a user typed into words. Quotes group words as in a shell, but nothing is expanded or run, and an
//! apostrophe within a word is an apostrophe.

use std::ops::Range;

/// A word, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Without its quotes.
    pub text: String,
    /// It began with a quote, so it is not a flag.
    pub quoted: bool,
    /// Its bytes in the text, quotes included.
    pub place: Range<usize>,
}

impl Word {
    /// Whether it looks like a flag.
    pub fn is_flag(&self) -> bool {
        !self.quoted && self.text.len() > 2 && self.text.starts_with("--")
    }
}

/// The words of a text.
pub fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(start) = rest(text, at).find(|c: char| !c.is_whitespace()).map(|skip| at + skip) {
        let word = match rest(text, start).chars().next() {
            Some(quote @ ('"' | '\'')) => quoted(text, start, quote),
            _ => None,
        };
        let word = word.unwrap_or_else(|| bare(text, start));
        at = word.place.end;
        words.push(word);
    }
    words
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// A word in quotes; none if the quote is not closed at the end of a word.
fn quoted(text: &str, start: usize, quote: char) -> Option<Word> {
    let mut inside = String::new();
    let mut chars = rest(text, start).char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' && matches!(chars.peek(), Some((_, '"' | '\\'))) => {
                inside.extend(chars.next().map(|(_, escaped)| escaped));
            }
            _ if c == quote && chars.peek().is_none_or(|(_, next)| next.is_whitespace()) => {
                return Some(Word { text: inside, quoted: true, place: start..start + at + 1 });
            }
            _ => inside.push(c),
        }
    }
    None
}

/// A word up to the next blank; the value of a flag may be in quotes (`--verify='cargo test'`).
fn bare(text: &str, start: usize) -> Word {
    let all = rest(text, start);
    let end = start + all.find(char::is_whitespace).unwrap_or(all.len());
    let word = text.get(start..end).unwrap_or_default();
    if let Some((flag, value)) = word.split_once('=').filter(|(flag, _)| flag.starts_with("--"))
        && let Some(quote @ ('"' | '\'')) = value.chars().next()
        && let Some(value) = quoted(text, start + flag.len() + 1, quote)
    {
        let text = format!("{flag}={}", value.text);
        return Word { text, quoted: false, place: start..value.place.end };
    }
    Word { text: word.to_owned(), quoted: false, place: start..end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_group_and_apostrophes_do_not() {
        for (text, expected) in [
            ("", &[][..]),
            ("  \n\t ", &[]),
            ("Add a flag", &["Add", "a", "flag"]),
            (r#""Add a flag" --max-cost 5"#, &["Add a flag", "--max-cost", "5"]),
            ("'it is'  \"so\"", &["it is", "so"]),
            ("Don't break Bob's code", &["Don't", "break", "Bob's", "code"]),
            (r#""say \"hi\" \n" x"#, &[r#"say "hi" \n"#, "x"]),
            ("\"never closed --x", &["\"never", "closed", "--x"]),
            ("--verify='cargo test --all' y", &["--verify=cargo test --all", "y"]),
            ("$(rm -rf /) `id` ; | $HOME *", &["$(rm", "-rf", "/)", "`id`", ";", "|", "$HOME", "*"]),
            ("ein „Zitat“ 'ü b'", &["ein", "„Zitat“", "ü b"]),
            ("\"\"", &[""]),
        ] {
            let found: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
            assert_eq!(found, expected, "{text}");
            for word in words(text) {
                assert!(text.get(word.place.clone()).is_some(), "{text}: {word:?}");
            }
        }
    }

    #[test]
    fn a_quoted_word_is_not_a_flag() {
        let flags: Vec<bool> = words("--a '--b' \"--c\" -- -x").iter().map(Word::is_flag).collect();
        assert_eq!(flags, [true, false, false, false, false]);
    }
}
