//! Whether a word starts at a place, judged by the bytes before it: `sk-` in `task-force` is no key, but after
//! the `\n` of a JSON string or the `m` of a colour code it may be one.

/// How many bytes before a place are looked at; a stream keeps this many.
pub(super) const BEFORE: usize = 32;

/// What stands before a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'t> {
    bytes: &'t [u8],
    /// Nothing before the place belongs to the same word.
    pub(super) starts_word: bool,
}

impl<'t> Before<'t> {
    /// What stands before the place `at`.
    pub(super) fn of(text: &'t [u8], at: usize) -> Self {
        let bytes = text.get(at.saturating_sub(BEFORE)..at).unwrap_or_default();
        Self { bytes, starts_word: !bytes.last().is_some_and(|b| is_word(*b)) || ends_escape(bytes) }
    }

    /// An `Authorization` header's name, with nothing but signs behind it.
    pub(super) fn is_authorization(self) -> bool {
        let end = self.bytes.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |at| at + 1);
        let start = end.saturating_sub(b"authorization".len());
        self.bytes.get(start..end).is_some_and(|name| name.eq_ignore_ascii_case(b"authorization"))
    }

    /// Five dashes.
    pub(super) fn is_dashes(self) -> bool {
        self.bytes.ends_with(b"-----")
    }
}

/// The bytes a key or a word is made of.
pub(super) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

/// A JSON escape, a percent code or a terminal colour ends here: its letter is not part of the word.
fn ends_escape(before: &[u8]) -> bool {
    let hex = |b: &u8| b.is_ascii_hexdigit();
    match before {
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'] => true,
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].into_iter().all(hex),
        [.., b'%', a, b] => hex(a) && hex(b),
        [.., b'm'] => ends_colour(before),
        _ => false,
    }
}

fn ends_colour(before: &[u8]) -> bool {
    let numbers = |b: &&u8| b.is_ascii_digit() || **b == b';';
    before.iter().rev().skip(1).find(|b| !numbers(b)) == Some(&b'[')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(text: &[u8]) -> Before<'_> {
        Before::of(text, text.len())
    }

    #[test]
    fn words_start_after_punctuation_escapes_and_colours() {
        for text in ["", " ", "=", "\"", "\\n", "a\\t", "\\u0026", "%3D", "\u{1b}[1;32m", "\\u001b[0m"] {
            assert!(before(text.as_bytes()).starts_word, "{text}");
        }
        for text in ["ta", "a-", "a_", "7", "n", "u0026", "3D", "form", "32m"] {
            assert!(!before(text.as_bytes()).starts_word, "{text}");
        }
    }

    #[test]
    fn the_header_name_is_found_in_any_case() {
        assert!(before(b"Proxy-Authorization: ").is_authorization());
        assert!(before(b"\\\"authorization\\\": \\\"").is_authorization());
        assert!(!before(b"authorization or ").is_authorization());
        assert!(!before(b"").is_authorization());
    }
}
