//! How a value may be written in output: as it is, as JSON writes it (once, and once more where JSON is quoted inside
//! JSON), percent-encoded in an address. The text is read unit by unit and compared, so that every mixture of escapes
//! is the same value. `known_values.rs` uses it; base64, which is another value, is made in `base64.rs`: it may be broken
//! into lines anywhere.

use super::shape::Verdict;

/// One way of writing a value.
#[derive(Clone, Copy, Debug)]
enum Writing {
    /// JSON strings, this many times one in the other.
    Json(u8),
    /// `%2F`.
    Percent,
}

/// Whether a value may be broken into lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// It stands in one piece.
    One,
    /// Line breaks may lie anywhere in it, with the next line indented.
    Wrapped,
}

/// A gap wider than this, in characters, is not an indented line.
const WIDEST_GAP: usize = 96;

/// What the text says next.
enum Unit {
    /// These bytes, written with so many.
    Is { bytes: [u8; 4], len: usize, took: usize },
    /// The text ends in the middle of it.
    More,
    /// Nothing that is written so.
    No,
}

/// Whether the text starts with this value, however it is written.
pub(super) fn judge(value: &[u8], text: &[u8], last: bool, lines: Lines) -> Verdict {
    let same = value.iter().zip(text).take_while(|(a, b)| a == b).count();
    if same == value.len() {
        return Verdict::Hit { keep: 0, len: same };
    }
    let Some(begun) = text.get(..=same) else {
        return if last { Verdict::No } else { Verdict::More };
    };
    // A value that is written otherwise has an escape up to where it differs.
    let escapes = |escape: u8, writing: Writing| match memchr::memchr(escape, begun) {
        Some(_) => reads(value, text, last, (writing, lines)),
        None => Verdict::No,
    };
    if lines == Lines::Wrapped && matches!(begun.last(), Some(b'\n' | b'\r')) {
        return reads(value, text, last, (Writing::Json(0), lines));
    }
    let ways = [(b'\\', Writing::Json(1)), (b'\\', Writing::Json(2)), (b'%', Writing::Percent)];
    let mut found = ways.into_iter().map(|(escape, writing)| escapes(escape, writing));
    found.find(|verdict| *verdict != Verdict::No).unwrap_or(Verdict::No)
}

fn reads(value: &[u8], text: &[u8], last: bool, (writing, lines): (Writing, Lines)) -> Verdict {
    let (mut rest, mut at, mut gap) = (value, 0, 0);
    while !rest.is_empty() {
        match writing.next(text.get(at..).unwrap_or_default()) {
            Unit::More if !last => return Verdict::More,
            Unit::More | Unit::No => return Verdict::No,
            Unit::Is { bytes, len, took } => {
                let unit = bytes.get(..len).unwrap_or_default();
                match rest.strip_prefix(unit) {
                    Some(after) => (rest, gap) = (after, 0),
                    None if lines == Lines::Wrapped && at > 0 && goes_on(unit, gap) => gap += 1,
                    None => return Verdict::No,
                }
                at += took;
            }
        }
    }
    Verdict::Hit { keep: 0, len: at }
}

/// A line break, or the indentation after one.
fn goes_on(unit: &[u8], gap: usize) -> bool {
    gap < WIDEST_GAP && (matches!(unit, b"\n" | b"\r") || gap > 0 && matches!(unit, b" " | b"\t"))
}

impl Writing {
    fn next(self, text: &[u8]) -> Unit {
        match self {
            Self::Json(0) => byte(text),
            Self::Json(depth) => json(text, Self::Json(depth - 1)),
            Self::Percent => percent(text),
        }
    }
}

fn byte(text: &[u8]) -> Unit {
    text.first().map_or(Unit::More, |b| one(*b, 1))
}

fn one(b: u8, took: usize) -> Unit {
    Unit::Is { bytes: [b, 0, 0, 0], len: 1, took }
}

fn percent(text: &[u8]) -> Unit {
    match text {
        [b'%', a, b, ..] => hex(&[*a, *b]).and_then(|n| u8::try_from(n).ok()).map_or(Unit::No, |b| one(b, 3)),
        [b'%', ..] => Unit::More,
        _ => byte(text),
    }
}

/// A character of a JSON string whose text is itself written as `inner` says.
fn json(text: &[u8], inner: Writing) -> Unit {
    let first = inner.next(text);
    let Unit::Is { bytes: [b'\\', ..], len: 1, took } = first else { return first };
    let letter = match inner.next(text.get(took..).unwrap_or_default()) {
        Unit::Is { bytes: [letter, ..], len: 1, took: more } => (letter, took + more),
        Unit::More => return Unit::More,
        _ => return Unit::No,
    };
    match letter {
        (c @ (b'"' | b'\\' | b'/'), took) => one(c, took),
        (b'n', took) => one(b'\n', took),
        (b't', took) => one(b'\t', took),
        (b'r', took) => one(b'\r', took),
        (b'b', took) => one(8, took),
        (b'f', took) => one(12, took),
        (b'u', took) => coded(text, took, inner),
        _ => Unit::No,
    }
}

/// `00e9` after `\u`, or the two halves of a character beyond 16 bits.
fn coded(text: &[u8], at: usize, inner: Writing) -> Unit {
    let (high, at) = match four(text, at, inner) {
        Ok(found) => found,
        Err(unit) => return unit,
    };
    let code = if (0xd800..0xdc00).contains(&high) {
        let low = match literal(text, at, inner, b"\\u").and_then(|at| four(text, at, inner)) {
            Ok(found) => found,
            Err(unit) => return unit,
        };
        let joined = low.0.checked_sub(0xdc00).map(|low| 0x10000 + ((high - 0xd800) << 10) + low);
        (joined, low.1)
    } else {
        (Some(high), at)
    };
    let Some(c) = code.0.and_then(char::from_u32) else { return Unit::No };
    let mut bytes = [0; 4];
    let len = c.encode_utf8(&mut bytes).len();
    Unit::Is { bytes, len, took: code.1 }
}

/// Four hex digits at this place, and where they end.
fn four(text: &[u8], mut at: usize, inner: Writing) -> Result<(u32, usize), Unit> {
    let mut digits = [0; 4];
    for digit in &mut digits {
        match inner.next(text.get(at..).unwrap_or_default()) {
            Unit::Is { bytes: [b, ..], len: 1, took } => (*digit, at) = (b, at + took),
            Unit::More => return Err(Unit::More),
            _ => return Err(Unit::No),
        }
    }
    hex(&digits).map(|code| (code, at)).ok_or(Unit::No)
}

/// These very bytes at this place, and where they end.
fn literal(text: &[u8], mut at: usize, inner: Writing, wanted: &[u8]) -> Result<usize, Unit> {
    for byte in wanted {
        match inner.next(text.get(at..).unwrap_or_default()) {
            Unit::Is { bytes: [b, ..], len: 1, took } if b == *byte => at += took,
            Unit::More => return Err(Unit::More),
            _ => return Err(Unit::No),
        }
    }
    Ok(at)
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(value: &str, text: &str) -> Option<usize> {
        match judge(value.as_bytes(), text.as_bytes(), true, Lines::One) {
            Verdict::Hit { len, .. } => Some(len),
            _ => None,
        }
    }

    #[test]
    fn every_writing_is_the_same_value() {
        let value = "p\"a/s\\s\n&\u{e9}\u{1f511}=";
        for text in [
            value,
            r#"p\"a/s\\s\n&é🔑="#,
            r#"p\"a\/s\\s\n\u0026\u00e9\ud83d\udd11="#,
            r"p\u0022a\u002Fs\u005cs\u000A\u0026\u00E9\uD83D\uDD11\u003d",
            r#"p\\\"a\\\/s\\\\s\\n&\\u00e9\\ud83d\\udd11="#,
            "p%22a%2Fs%5Cs%0A%26%C3%A9%f0%9f%94%91%3D",
        ] {
            assert_eq!(hit(value, &format!("{text}rest")), Some(text.len()), "{text}");
            for cut in 0..text.len() {
                let begun = judge(value.as_bytes(), &text.as_bytes()[..cut], false, Lines::One);
                assert_eq!(begun, Verdict::More, "{text} cut at {cut}");
            }
        }
    }

    #[test]
    fn escapes_of_escapes_are_read_too() {
        for (value, text) in [(r"\u0zz", r"\u005cu0zz"), ("%A a", "%25A%20a"), (r"\x", r"\u005Cx")] {
            assert_eq!(hit(value, text), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn a_value_may_be_broken_into_lines() {
        let wrapped = |text: &str, last| judge(b"abcd/efgh", text.as_bytes(), last, Lines::Wrapped);
        for text in [
            "a\nbcd/efgh",
            "abcd/\r\n    efgh",
            "abc\n\td/ef\r\n  gh",
            r"abcd\/e\nfgh",
            r"abcd/e\r\n  fgh",
            r"abcd/e\\nfgh",
            "abcd%2Fe%0Afgh",
        ] {
            assert_eq!(wrapped(text, true), Verdict::Hit { keep: 0, len: text.len() }, "{text}");
            for cut in 0..text.len() {
                assert_eq!(wrapped(&text[..cut], false), Verdict::More, "{text} cut at {cut}");
            }
        }
        let far = format!("abc\n{}d/efgh", " ".repeat(200));
        for text in ["abc d/efgh", "abcd/\nxefgh", "abcd/e\n", &far] {
            assert_eq!(wrapped(text, true), Verdict::No, "{text}");
        }
        assert_eq!(judge(b"abcdefgh", b"abcd\nefgh", true, Lines::One), Verdict::No);
    }

    #[test]
    fn another_value_is_another() {
        for text in ["p\\\"a", "p\\x\"a/", "p%2", "p%zz", "q", "", "p\\ud83dx", "p\\"] {
            assert_eq!(hit("p\"a/s", text), None, "{text}");
        }
    }
}
