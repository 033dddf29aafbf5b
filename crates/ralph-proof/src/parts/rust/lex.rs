//! The lexical surface of Rust: which bytes are code, and which are comments or literals.

use std::ops::Range;

/// What hides bytes from the reader of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hides {
    /// An ordinary comment.
    Comment,
    /// `///` or `/** */`: documents what follows.
    OuterDoc,
    /// `//!` or `/*! */`: documents what it is in.
    InnerDoc,
    /// A string or character.
    Literal,
}

/// A source and the same bytes with everything blanked out that is no code, so that a brace is a brace.
#[derive(Clone, Debug)]
pub struct Lexed<'a> {
    /// The source.
    pub text: &'a str,
    /// As long as the source.
    pub code: String,
    /// What was blanked out, in order.
    pub hidden: Vec<(Range<usize>, Hides)>,
}

impl Lexed<'_> {
    /// A part of the source without comments and without spaces that mean nothing; literals are kept as they are.
    pub fn normal(&self, range: Range<usize>) -> String {
        let mut made = String::new();
        let mut at = range.start;
        let first = self.hidden.partition_point(|(span, _)| span.end <= range.start);
        for (span, hides) in self.hidden.iter().skip(first).take_while(|(span, _)| span.start < range.end) {
            self.push_code(&mut made, at..span.start);
            if *hides == Hides::Literal {
                push_word(
                    &mut made,
                    self.text.get(span.start.max(at)..span.end.min(range.end)).unwrap_or_default(),
                );
            }
            at = span.end.max(at);
        }
        self.push_code(&mut made, at..range.end);
        made
    }

    fn push_code(&self, made: &mut String, range: Range<usize>) {
        for word in self.code.get(range).unwrap_or_default().split_whitespace() {
            push_word(made, word);
        }
    }
}

/// Words stay apart; everything else may touch.
fn push_word(made: &mut String, word: &str) {
    let ends = made.as_bytes().last().is_some_and(|byte| is_word(*byte));
    if ends && word.as_bytes().first().is_some_and(|byte| is_word(*byte)) {
        made.push(' ');
    }
    made.push_str(word);
}

/// Reads a source once, from start to end.
pub fn lex(text: &str) -> Lexed<'_> {
    let bytes = text.as_bytes();
    let (mut code, mut hidden, mut at) = (bytes.to_vec(), Vec::new(), 0);
    while at < bytes.len() {
        let Some((length, hides)) = hidden_at(bytes, at).filter(|(length, _)| *length > 0) else {
            at += 1;
            continue;
        };
        let end = (at + length).min(bytes.len());
        if let Some(range) = code.get_mut(at..end) {
            range.fill(b' ');
        }
        hidden.push((at..end, hides));
        at = end;
    }
    Lexed { text, code: String::from_utf8(code).unwrap_or_default(), hidden }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The length of what begins here and is no code.
fn hidden_at(bytes: &[u8], at: usize) -> Option<(usize, Hides)> {
    let rest = bytes.get(at..)?;
    match rest {
        [b'/', b'/', ..] => Some((memchr::memchr(b'\n', rest).unwrap_or(rest.len()), line_comment(rest))),
        [b'/', b'*', ..] => Some((block_comment(rest), block_kind(rest))),
        [b'"', ..] => Some((string(rest), Hides::Literal)),
        [b'\'', ..] => Some((character(rest)?, Hides::Literal)),
        [b'r' | b'b' | b'c', ..] => {
            let in_word = at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|b| is_word(*b));
            let prefix = usize::from(matches!(rest, [b'b' | b'c', b'r', ..]));
            let length = (!in_word).then(|| rest.get(prefix..).and_then(raw_string)).flatten()?;
            Some((prefix + length, Hides::Literal))
        }
        _ => None,
    }
}

fn line_comment(rest: &[u8]) -> Hides {
    match rest {
        [_, _, b'/', b'/', ..] => Hides::Comment,
        [_, _, b'/', ..] => Hides::OuterDoc,
        [_, _, b'!', ..] => Hides::InnerDoc,
        _ => Hides::Comment,
    }
}

fn block_kind(rest: &[u8]) -> Hides {
    match rest {
        [_, _, b'*', b'*' | b'/', ..] => Hides::Comment,
        [_, _, b'*', ..] => Hides::OuterDoc,
        [_, _, b'!', ..] => Hides::InnerDoc,
        _ => Hides::Comment,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(pair) = rest.get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth = depth.saturating_sub(1),
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `r#"…"#`; none where it is only a name like `r#type`.
fn raw_string(rest: &[u8]) -> Option<usize> {
    rest.first().filter(|byte| **byte == b'r')?;
    let hashes = rest.iter().skip(1).take(256).take_while(|b| **b == b'#').count();
    rest.get(1 + hashes).filter(|b| **b == b'"')?;
    let close = [&b"\""[..], &b"#".repeat(hashes)].concat();
    let from = 2 + hashes;
    let end = memchr::memmem::find(rest.get(from..)?, &close);
    Some(end.map_or(rest.len(), |at| from + at + close.len()))
}

/// A character; none where the quote begins a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        // The longest escape is '\u{10ffff}', with underscores a little longer.
        let close = rest.get(3..)?.iter().take(20).position(|byte| *byte == b'\'')?;
        return Some(3 + close + 1);
    }
    let length = match rest.get(1)? {
        b'\'' => return None,
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    (rest.get(1 + length) == Some(&b'\'')).then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        let rows = [
            ("let a = '{'; // {", "let a =    ;     "),
            ("let a = \"}\\\"}\";", "let a =      ;"),
            ("let a = r#\"}\"}\"#;", "let a =         ;"),
            ("let a = br\"\\\";", "let a =      ;"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("'\\'' '\\u{7f}' 'ä'", "                 "),
            ("/* { /* { */ } */ x", "                  x"),
            ("r#type = 1", "r#type = 1"),
            ("a / b", "a / b"),
            ("größe \"ß\"", "größe     "),
        ];
        for (source, code) in rows {
            let lexed = lex(source);
            assert_eq!(lexed.code.len(), source.len(), "{source}");
            assert!(lexed.code.split_whitespace().eq(code.split_whitespace()), "{source}: {}", lexed.code);
        }
    }

    #[test]
    fn documentation_is_told_from_comments() {
        let kinds = |source| lex(source).hidden.into_iter().map(|(_, kind)| kind).collect::<Vec<_>>();
        assert_eq!(
            kinds("/// a\n//! b\n//// c\n// d"),
            [Hides::OuterDoc, Hides::InnerDoc, Hides::Comment, Hides::Comment]
        );
        assert_eq!(
            kinds("/** a */ /*! b */ /**/ /*** c */ /* d */"),
            [Hides::OuterDoc, Hides::InnerDoc, Hides::Comment, Hides::Comment, Hides::Comment]
        );
    }
}
