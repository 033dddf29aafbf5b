//! A private key as text: `-----BEGIN … PRIVATE KEY-----`, lines of base64, `-----END …-----`. It may be quoted,
//! escaped, numbered, indented or cut off, so what counts is that long base64 words follow each other closely.
//! A BEGIN line with nothing like that behind it hides nothing.

use super::shape::Length;

/// The longest header or END line.
const LINE: usize = 64;
/// What may lie between two long words: a line break, a line number, a comment, the last short line.
const GAP: usize = 128;
/// A word of at least this many base64 letters is key material.
const WORD: usize = 40;
/// A key is never longer, so that a forged BEGIN cannot take the rest of the output along.
const BLOCK: usize = 16 * 1024;

/// How much of the text after `-----BEGIN ` belongs to a private key.
pub(super) fn length(text: &[u8], last: bool) -> Length {
    match title(text) {
        Title::No => Length::None,
        Title::Cut if last => Length::None,
        Title::Cut => Length::More,
        Title::PrivateKey(len) => block(text, len, last),
    }
}

enum Title {
    No,
    Cut,
    PrivateKey(usize),
}

/// The title after `BEGIN ` or `END `, with the dashes that close it.
fn title(text: &[u8]) -> Title {
    let len = text
        .iter()
        .take(LINE)
        .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b' ')
        .count();
    let (name, rest) = text.split_at(len);
    let name = name.strip_suffix(b" BLOCK").unwrap_or(name);
    let dashes = b"-----";
    if rest.starts_with(dashes) {
        if name.ends_with(b"PRIVATE KEY") { Title::PrivateKey(len + dashes.len()) } else { Title::No }
    } else if len < LINE && dashes.starts_with(rest) {
        Title::Cut
    } else {
        Title::No
    }
}

/// From word to word, until the END line, something that no key holds, or too wide a gap.
fn block(text: &[u8], header: usize, last: bool) -> Length {
    let mut end = header;
    let mut at = header;
    let mut found = false;
    while at < end + GAP && at < BLOCK {
        let rest = text.get(at..).unwrap_or_default();
        match rest.first() {
            None if last => break,
            None => return Length::More,
            Some(b'{' | b'}') => break,
            Some(b'-') => match end_line(rest) {
                EndLine::Here(len) if found => return Length::Of(at + len),
                EndLine::Cut if !last => return Length::More,
                EndLine::Here(_) | EndLine::Begin => break,
                EndLine::Cut | EndLine::No => at += 1,
            },
            Some(b) if is_base64(*b) => {
                let word = rest.iter().take(BLOCK - at).take_while(|b| is_base64(**b)).count();
                if word == rest.len() && at + word < BLOCK && !last {
                    return Length::More;
                }
                at += word;
                if word >= WORD {
                    found = true;
                    end = at;
                }
            }
            Some(_) => at += 1,
        }
    }
    if found { Length::Of(end) } else { Length::None }
}

enum EndLine {
    No,
    Cut,
    Begin,
    Here(usize),
}

fn end_line(text: &[u8]) -> EndLine {
    let (end, begin) = (b"-----END ", b"-----BEGIN ");
    if text.starts_with(begin) {
        EndLine::Begin
    } else if let Some(rest) = text.strip_prefix(end) {
        match title(rest) {
            Title::PrivateKey(len) => EndLine::Here(end.len() + len),
            Title::Cut => EndLine::Cut,
            Title::No => EndLine::No,
        }
    } else if end.starts_with(text) || begin.starts_with(text) {
        EndLine::Cut
    } else {
        EndLine::No
    }
}

fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}
