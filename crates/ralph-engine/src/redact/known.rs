//! The secret values we know, in every form they may take in output: as they are, and as JSON writes them
//! (once, and once more where JSON is quoted inside JSON).

use std::collections::BTreeSet;

use super::{label, shape::Verdict};

/// A shorter value would be found all over ordinary text.
const SHORTEST: usize = 4;
/// A longer value is looked for in pieces of this size, so that a stream never has to hold more.
const PIECE: usize = 4096;
/// A last piece shorter than this says too little to be looked for on its own.
const SHORTEST_PIECE: usize = 16;

/// One form of one known value.
#[derive(Debug)]
pub(super) struct Known {
    form: Vec<u8>,
    /// What is written instead.
    pub(super) label: Vec<u8>,
}

impl Known {
    /// The bytes it begins with.
    pub(super) fn start(&self) -> &[u8] {
        &self.form
    }

    /// Whether the text starts with this value.
    pub(super) fn judge(&self, text: &[u8], last: bool) -> Verdict {
        if text.starts_with(&self.form) {
            Verdict::Hit { keep: 0, len: self.form.len() }
        } else if !last && self.form.starts_with(text) {
            Verdict::More
        } else {
            Verdict::No
        }
    }
}

/// All forms of all values; a form that two names share keeps the first name.
pub(super) fn forms<N: AsRef<str>, V: AsRef<[u8]>>(values: impl Iterator<Item = (N, V)>) -> Vec<Known> {
    let mut seen = BTreeSet::new();
    let mut known = Vec::new();
    for (name, value) in values {
        let label = label(name.as_ref());
        for piece in pieces(value.as_ref()) {
            for form in written(piece) {
                if seen.insert(form.clone()) {
                    known.push(Known { form, label: label.clone() });
                }
            }
        }
    }
    known
}

fn pieces(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut value = value.trim_ascii();
    // The search starts with the first line, which must say something: `{` alone is everywhere.
    while let Some((line, rest)) = memchr::memchr(b'\n', value).map(|at| value.split_at(at))
        && line.len() < SHORTEST
    {
        value = rest.trim_ascii_start();
    }
    let least = if value.len() > PIECE { SHORTEST_PIECE } else { SHORTEST };
    value.chunks(PIECE).filter(move |piece| piece.len() >= least)
}

fn written(value: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::from([value.to_vec()]);
    for style in [Style::Plain, Style::Slash, Style::Cautious] {
        let once = escape(value, style);
        forms.insert(escape(&once, Style::Plain));
        forms.insert(once);
    }
    forms
}

/// How much a JSON writer escapes: only what it must, slashes too, or everything that HTML or ASCII dislikes.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Plain,
    Slash,
    Cautious,
}

fn escape(value: &[u8], style: Style) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() + 8);
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            escape_char(c, style, &mut out);
        }
        out.extend_from_slice(chunk.invalid());
    }
    out
}

fn escape_char(c: char, style: Style, out: &mut Vec<u8>) {
    let short = match c {
        '"' | '\\' => Some(c),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '/' if style == Style::Slash => Some('/'),
        _ => None,
    };
    let coded = c.is_ascii_control() || (style == Style::Cautious && (!c.is_ascii() || "<>&='".contains(c)));
    if let Some(letter) = short {
        out.push(b'\\');
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    } else if coded {
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        }
    } else {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_value_has_one_form() {
        assert_eq!(written(b"abc123DEF456").len(), 1);
    }

    #[test]
    fn a_value_is_known_as_json_writes_it() {
        let forms = written("a\"b/c\nd&\u{e9}".as_bytes());
        for form in [r#"a\"b/c\nd&é"#, r#"a\"b\/c\nd&é"#, r#"a\"b/c\nd\u0026\u00e9"#, r#"a\\\"b/c\\nd&é"#]
        {
            assert!(forms.contains(form.as_bytes()), "{form}");
        }
    }

    #[test]
    fn long_values_come_in_pieces_and_empty_first_lines_are_skipped() {
        let long = [b'x'; PIECE * 2 + 20];
        assert_eq!(pieces(&long).map(<[u8]>::len).collect::<Vec<_>>(), [PIECE, PIECE, 20]);
        assert_eq!(pieces(b"{\n  \"type\": 1\n}").next().unwrap(), b"\"type\": 1\n}");
        assert_eq!(pieces(b" ab \n").next(), None);
    }
}
