//! The secret values we know, and where to look for them: `encodings.rs` says whether a value is there, whatever the
//! writing; the starts given here are what the search stops at.

use std::collections::BTreeSet;

use super::encodings::Lines;
use super::{Secret, base64, encodings, label, shape::Verdict};

/// A shorter value would be found all over ordinary text.
const SHORTEST: usize = 4;
/// A longer value is looked for in pieces of this size, so that a stream never has to hold more.
const PIECE: usize = 4096;
/// A last piece shorter than this says too little to be looked for on its own.
const SHORTEST_PIECE: usize = 16;
/// So many bytes that every writing leaves alone are enough to look for.
const SURE: usize = 4;

/// One known value, or a piece of a long one.
#[derive(Debug)]
pub(super) struct Known {
    value: Secret,
    lines: Lines,
    /// What is written instead.
    pub(super) label: Vec<u8>,
}

impl Known {
    /// What the text begins with where this value may be.
    pub(super) fn starts(&self) -> BTreeSet<Vec<u8>> {
        let value = self.value.expose();
        let sure = value.iter().take_while(|b| is_plain(**b)).count();
        // The first line may end soon.
        let sure = if self.lines == Lines::Wrapped { sure.min(SURE) } else { sure };
        match value.get(..sure) {
            Some(plain) if sure >= SURE || sure == value.len() => BTreeSet::from([plain.to_vec()]),
            _ => openings(value),
        }
    }

    /// Whether the text starts with this value.
    pub(super) fn judge(&self, text: &[u8], last: bool) -> Verdict {
        encodings::judge(self.value.expose(), text, last, self.lines)
    }
}

/// All values to look for; one that two names share keeps the first name.
pub(super) fn all<N: AsRef<str>, V: AsRef<[u8]>>(values: impl Iterator<Item = (N, V)>) -> Vec<Known> {
    let mut seen = BTreeSet::new();
    let mut known = Vec::new();
    for (name, value) in values {
        let label = label(name.as_ref());
        for piece in pieces(value.as_ref()) {
            let forms = base64::forms(piece);
            let wrapped = forms.iter().map(|form| (form.as_slice(), Lines::Wrapped));
            for (form, lines) in std::iter::once((piece, Lines::One)).chain(wrapped) {
                let value = Secret::new(form);
                if seen.insert(value.clone()) {
                    known.push(Known { value, lines, label: label.clone() });
                }
            }
        }
    }
    known
}

/// No writing changes it: neither JSON's nor an address's.
fn is_plain(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-_.~".contains(&b)
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

/// The beginning in every writing: just so much of it that it says something.
fn openings(value: &[u8]) -> BTreeSet<Vec<u8>> {
    let as_it_is = value.get(..SURE.min(value.len())).unwrap_or_default();
    let mut starts = BTreeSet::from([as_it_is.to_vec()]);
    let text = value.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    for ways in [json, json_in_json, percent] {
        grow(Vec::new(), text, ways, &mut starts);
    }
    starts
}

fn grow(start: Vec<u8>, rest: &str, ways: fn(char) -> Vec<Vec<u8>>, starts: &mut BTreeSet<Vec<u8>>) {
    let mut chars = rest.chars();
    match chars.next() {
        Some(c) if start.len() < SURE => {
            for way in ways(c) {
                grow([start.as_slice(), &way].concat(), chars.as_str(), ways, starts);
            }
        }
        _ if start.len() < SURE => {}
        _ => {
            starts.insert(start);
        }
    }
}

/// Every way to write a character in a JSON string.
fn json(c: char) -> Vec<Vec<u8>> {
    let letter = match c {
        '"' | '\\' | '/' => Some(c),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        _ => None,
    };
    let mut ways: Vec<String> = letter.iter().map(|letter| format!("\\{letter}")).collect();
    if !(matches!(c, '"' | '\\') || c.is_ascii_control()) {
        ways.push(c.into());
    }
    if !c.is_ascii_alphanumeric() {
        let units = || c.encode_utf16(&mut [0; 2]).to_vec().into_iter();
        ways.push(units().map(|unit| format!("\\u{unit:04x}")).collect());
        ways.push(units().map(|unit| format!("\\u{unit:04X}")).collect());
    }
    ways.into_iter().map(String::into_bytes).collect()
}

/// The same, quoted in JSON once more.
fn json_in_json(c: char) -> Vec<Vec<u8>> {
    let again = |once: Vec<u8>| {
        let text = String::from_utf8(once).unwrap_or_default();
        text.chars().fold(vec![Vec::new()], |starts: Vec<Vec<u8>>, c| {
            let ways = json(c);
            starts
                .iter()
                .flat_map(|start| ways.iter().map(move |way| [start.as_slice(), way].concat()))
                .collect()
        })
    };
    json(c).into_iter().flat_map(again).collect()
}

/// Every way to write a character in an address.
fn percent(c: char) -> Vec<Vec<u8>> {
    let mut bytes = [0; 4];
    let bytes = c.encode_utf8(&mut bytes).as_bytes();
    let mut ways = vec![bytes.to_vec()];
    if !bytes.iter().all(|b| is_plain(*b)) {
        ways.push(bytes.iter().flat_map(|b| format!("%{b:02X}").into_bytes()).collect());
        ways.push(bytes.iter().flat_map(|b| format!("%{b:02x}").into_bytes()).collect());
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(value: &str) -> BTreeSet<Vec<u8>> {
        Known { value: Secret::new(value), lines: Lines::One, label: Vec::new() }.starts()
    }

    #[test]
    fn a_plain_value_has_one_start() {
        assert_eq!(starts("abc123DEF456"), BTreeSet::from([b"abc123DEF456".to_vec()]));
        assert_eq!(starts("abc123\"DEF\""), BTreeSet::from([b"abc123".to_vec()]));
    }

    #[test]
    fn a_value_is_looked_for_as_programs_write_it() {
        let found = |text: &str, starts: &BTreeSet<Vec<u8>>| {
            starts.iter().any(|start| text.as_bytes().starts_with(start))
        };
        let starts = starts("a\"/\u{e9}&=x");
        for text in [
            "a\"/é&=",
            r#"a\"/é&="#,
            r#"a\"\/\u00e9&="#,
            r"a\u0022/\u00E9\u0026=",
            r#"a\\\"/é&="#,
            r#"a\\\"\\\/é&="#,
            "a%22%2F%C3%A9%26%3D",
            "a%22/%c3%a9",
        ] {
            assert!(found(text, &starts), "{text}");
        }
        assert!(starts.len() < 100 && starts.iter().all(|start| start.len() >= SURE), "{}", starts.len());
    }

    #[test]
    fn long_values_come_in_pieces_and_empty_first_lines_are_skipped() {
        let long = [b'x'; PIECE * 2 + 20];
        assert_eq!(pieces(&long).map(<[u8]>::len).collect::<Vec<_>>(), [PIECE, PIECE, 20]);
        assert_eq!(pieces(b"{\n  \"type\": 1\n}").next().unwrap(), b"\"type\": 1\n}");
        assert_eq!(pieces(b" ab \n").next(), None);
    }
}
