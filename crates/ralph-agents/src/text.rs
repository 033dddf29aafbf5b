//! Plain text from programs that may print anything: a bounded tail with its true length, terminal
//! sequences taken out, and short forms for screens and messages.

use memchr::memchr;
use std::borrow::Cow;

/// How much of a final message is kept: its last MiB.
pub const KEPT: usize = 1 << 20;

/// The last bytes of a text of any length, and how long it was.
#[derive(Debug)]
pub struct Tail {
    kept: Vec<u8>,
    most: usize,
    length: u64,
}

impl Default for Tail {
    /// The tail of a final message.
    fn default() -> Tail {
        Tail::new(KEPT)
    }
}

impl Tail {
    /// A tail of at most `most` bytes.
    pub fn new(most: usize) -> Tail {
        Tail { kept: Vec::new(), most, length: 0 }
    }

    /// Appends; the front is dropped in big steps, so that every byte is moved at most once more.
    pub fn push(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len() as u64);
        let last = bytes.get(bytes.len().saturating_sub(self.most)..).unwrap_or(bytes);
        if self.kept.len() + last.len() > self.most.saturating_mul(2) {
            let excess = (self.kept.len() + last.len()).saturating_sub(self.most);
            self.kept.drain(..excess.min(self.kept.len()));
        }
        self.kept.extend_from_slice(last);
    }

    /// Appends one line, with a line end before it where it is not the first.
    pub fn push_line(&mut self, line: &[u8]) {
        if self.length > 0 {
            self.push(b"\n");
        }
        self.push(line.strip_suffix(b"\r").unwrap_or(line));
    }

    /// True length of everything pushed.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The kept bytes, at most the bound.
    pub fn bytes(&self) -> &[u8] {
        self.kept.get(self.kept.len().saturating_sub(self.most)..).unwrap_or(&[])
    }

    /// Everything that was pushed, if it was all kept.
    pub fn whole(&self) -> Option<&[u8]> {
        (self.bytes().len() as u64 == self.length).then(|| self.bytes())
    }

    /// The kept text; a character cut by the bound is dropped, broken bytes become U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        let mut bytes = self.bytes();
        if self.whole().is_none() {
            let half = bytes.iter().take(3).take_while(|b| **b & 0xC0 == 0x80).count();
            bytes = bytes.get(half..).unwrap_or(bytes);
        }
        String::from_utf8_lossy(bytes)
    }

    /// Forgets everything, memory included.
    pub fn clear(&mut self) {
        *self = Tail::new(self.most);
    }
}

/// Takes out terminal sequences and control characters but line end and tab.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|b| b < 0x20 && b != b'\n' && b != b'\t' || b == 0x7f) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\n' | '\t' => out.push(c),
            c if c.is_ascii_control() => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Skips what follows an ESC: `[…letter`, `]…BEL` or `]…ESC \`, or a single character.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next_if(|c| matches!(c, '[' | ']' | ' '..='/' | '0'..='~')) {
        Some('[') => {
            while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            let _ = chars.next_if(|c| matches!(c, '@'..='~'));
        }
        Some(']') => {
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\u{7}' {
                    return;
                }
                if c == '\u{1b}' {
                    let _ = chars.next_if_eq(&'\\');
                    return;
                }
            }
        }
        _ => {}
    }
}

/// One line for a screen: cleaned, white space folded, at most about `most` bytes, cut with an ellipsis.
pub fn short(text: &str, most: usize) -> String {
    if text.len() <= most && text.bytes().all(|b| b > b' ' && b != 0x7f) {
        return text.to_owned();
    }
    let looked_at = text.get(..text.floor_char_boundary(most.saturating_mul(4))).unwrap_or(text);
    let cleaned = clean(looked_at);
    let mut out = String::with_capacity(cleaned.len().min(most + 80));
    // The white space of plain ASCII is found much faster than that of all scripts.
    if cleaned.is_ascii() {
        fold(cleaned.split_ascii_whitespace(), most, &mut out);
    } else {
        fold(cleaned.split_whitespace(), most, &mut out);
    }
    let cut = out.len() > most || looked_at.len() < text.len();
    out.truncate(out.floor_char_boundary(most));
    if cut {
        out.push('…');
    }
    out
}

/// Words with one space between them, until there are more than enough.
fn fold<'a>(words: impl Iterator<Item = &'a str>, most: usize, out: &mut String) {
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > most {
            break;
        }
    }
}

/// Bytes of a line that is no protocol, shortened for a screen.
pub fn short_bytes(line: &[u8], most: usize) -> String {
    let head = line.get(..line.len().min(most.saturating_mul(4))).unwrap_or(line);
    short(&String::from_utf8_lossy(head), most)
}

/// Whether a line holds nothing but spaces and line ends.
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

/// From the first `{` on, where there is one: a program's chatter may share the line with an event.
pub fn from_brace(line: &[u8]) -> Option<&[u8]> {
    line.get(memchr(b'{', line)?..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_keeps_the_end_and_knows_the_length() {
        let mut tail = Tail::new(4);
        for byte in "abcdefghijk".bytes() {
            tail.push(&[byte]);
            assert!(tail.kept.len() <= 8);
        }
        assert_eq!((tail.text().as_ref(), tail.length()), ("hijk", 11));
        assert!(tail.whole().is_none());
        tail.push("€€".as_bytes());
        assert_eq!(tail.text(), "€");
    }

    #[test]
    fn lines_are_joined_and_carriage_returns_dropped() {
        let mut tail = Tail::new(100);
        for line in [&b"one\r"[..], b"", b"two"] {
            tail.push_line(line);
        }
        assert_eq!(tail.text(), "one\n\ntwo");
    }

    #[test]
    fn terminal_sequences_and_controls_go() {
        for (dirty, cleaned) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[1;32m---RALPH_STATUS---\u{1b}[0m", "---RALPH_STATUS---"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;http://a\u{1b}\\y", "xy"),
            ("a\u{0}b\rc\u{7f}", "abc"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}(Bok", "Bok"),
        ] {
            assert_eq!(clean(dirty), cleaned, "{dirty:?}");
        }
    }

    #[test]
    fn short_is_one_line_and_bounded() {
        assert_eq!(short("  a\n\n b\t c ", 20), "a b c");
        assert_eq!(short("aaaa bbbb", 6), "aaaa b…");
        assert_eq!(short("ééé", 3), "é…");
        assert_eq!(short(" é\u{2003}b\u{b}c ", 20), "é bc");
        assert_eq!(short(" a\u{c} b\u{b}c ", 20), "a bc");
        assert!(short(&"x".repeat(1 << 20), 50).len() < 60);
    }
}
