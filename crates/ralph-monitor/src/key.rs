//! What is typed, from the bytes that a terminal sends. Sequences of keys that the monitor does not use are dropped whole.

use std::time::{Duration, Instant};

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after what is printed on them
pub enum Key {
    Char(char),
    Enter,
    Escape,
    Tab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-L: draw everything again.
    Redraw,
    /// Ctrl-U: erase what was typed.
    EraseLine,
    /// A character that was pasted: text where text is typed, and nothing elsewhere.
    Pasted(char),
}

const ESCAPE: u8 = 0x1b;
/// How long the rest of a sequence is waited for before an escape is the key itself.
const REST: Duration = Duration::from_millis(50);

/// Keeps the beginning of a character or a sequence until its end has come.
#[derive(Debug, Default)]
pub struct KeyReader {
    begun: Vec<u8>,
    /// Since when nothing has come.
    quiet: Option<Instant>,
    /// What comes was pasted, until its end is marked.
    pasting: bool,
}

impl KeyReader {
    /// The keys of these bytes.
    pub fn keys(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.quiet = None;
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let (mut keys, mut rest) = (Vec::new(), all.as_slice());
        while let Some((first, after)) = rest.split_first() {
            let piece = match *first {
                ESCAPE => escaped(after),
                byte if byte.is_ascii() => Piece::Whole(self.plain(byte), after),
                _ => match character(rest) {
                    Piece::Whole(key, after) => Piece::Whole(key.map(|key| self.marked(key)), after),
                    begun => begun,
                },
            };
            rest = match piece {
                Piece::Whole(key, after) => {
                    // A paste holds no keys: what else is escaped in it is dropped.
                    keys.extend(key.filter(|key| !self.pasting || matches!(key, Key::Pasted(_))));
                    after
                }
                Piece::Paste(begins, after) => {
                    self.pasting = begins;
                    after
                }
                Piece::Begun => {
                    self.begun = rest.to_vec();
                    break;
                }
            }
        }
        keys
    }

    /// Nothing more has come by now. An escape that nothing followed for a while was the key; half a sequence is dropped.
    pub fn nothing_came(&mut self, now: Instant) -> Option<Key> {
        let quiet = *self.quiet.get_or_insert(now);
        let is_over = now.saturating_duration_since(quiet) >= REST;
        if self.pasting || !is_over || self.begun.first() != Some(&ESCAPE) {
            return None;
        }
        (std::mem::take(&mut self.begun) == [ESCAPE]).then_some(Key::Escape)
    }

    fn plain(&self, byte: u8) -> Option<Key> {
        match byte {
            // Lines and columns of what was pasted become words.
            b'\r' | b'\n' | b'\t' if self.pasting => Some(Key::Pasted(' ')),
            _ => plain_key(byte).map(|key| self.marked(key)),
        }
    }

    fn marked(&self, key: Key) -> Key {
        match key {
            Key::Char(c) if self.pasting => Key::Pasted(c),
            key => key,
        }
    }
}

fn plain_key(byte: u8) -> Option<Key> {
    match byte {
        b'\r' | b'\n' => Some(Key::Enter),
        b'\t' => Some(Key::Tab),
        0x08 | 0x7f => Some(Key::Backspace),
        0x0c => Some(Key::Redraw),
        0x15 => Some(Key::EraseLine),
        b' '..=b'~' => Some(Key::Char(char::from(byte))),
        _ => None,
    }
}

/// What stands at the beginning of some bytes, and the bytes after it.
enum Piece<'a> {
    /// A key, or something that is none.
    Whole(Option<Key>, &'a [u8]),
    /// The mark where a paste begins (`true`) or ends.
    Paste(bool, &'a [u8]),
    /// Its end has not come yet.
    Begun,
}

/// After an escape: a sequence, or something else and it was the key itself.
fn escaped(after: &[u8]) -> Piece<'_> {
    let sequence = match after.split_first() {
        None => return Piece::Begun,
        Some((b'[' | b'O', sequence)) => sequence,
        Some(_) => return Piece::Whole(Some(Key::Escape), after),
    };
    let Some(last) = sequence.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return Piece::Begun;
    };
    let (sequence, after) = sequence.split_at(last + 1);
    let key = match sequence {
        b"200~" => return Piece::Paste(true, after),
        b"201~" => return Piece::Paste(false, after),
        b"A" => Some(Key::Up),
        b"B" => Some(Key::Down),
        b"C" => Some(Key::Right),
        b"D" => Some(Key::Left),
        b"H" | b"1~" | b"7~" => Some(Key::Home),
        b"F" | b"4~" | b"8~" => Some(Key::End),
        b"5~" => Some(Key::PageUp),
        b"6~" => Some(Key::PageDown),
        _ => None,
    };
    Piece::Whole(key, after)
}

/// A character of several bytes; one byte is dropped where there is none.
fn character(bytes: &[u8]) -> Piece<'_> {
    let most = bytes.len().min(4);
    let whole = (2..=most).find_map(|length| {
        let (character, after) = bytes.split_at(length);
        let c = std::str::from_utf8(character).ok()?.chars().next()?;
        Some(Piece::Whole(Some(Key::Char(c)), after))
    });
    let begun = std::str::from_utf8(bytes).is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none());
    whole.unwrap_or(if begun { Piece::Begun } else { Piece::Whole(None, bytes.get(1..).unwrap_or_default()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_keys() {
        let table: [(&[u8], &[Key]); 10] = [
            (b"jk", &[Key::Char('j'), Key::Char('k')]),
            (b"\x1b[A\x1bOB\x1b[5~\x1b[6~", &[Key::Up, Key::Down, Key::PageUp, Key::PageDown]),
            (b"\x1b[H\x1b[4~", &[Key::Home, Key::End]),
            (b"\x1b\x1b[A", &[Key::Escape, Key::Up]),
            (b"\x1bq", &[Key::Escape, Key::Char('q')]),
            (b"\x1b[1;5Cx", &[Key::Char('x')]),
            ("ü日".as_bytes(), &[Key::Char('ü'), Key::Char('日')]),
            (b"\r\t\x7f\x0c\x15", &[Key::Enter, Key::Tab, Key::Backspace, Key::Redraw, Key::EraseLine]),
            (b"\x00\x01\xff\xfe", &[]),
            (b"\x1b[<0;1;1M", &[]),
        ];
        for (bytes, keys) in table {
            assert_eq!(KeyReader::default().keys(bytes), keys, "{bytes:?}");
        }
    }

    #[test]
    fn a_character_that_comes_in_two_pieces_is_one() {
        let mut reader = KeyReader::default();
        let [first, second @ ..] = "日".as_bytes() else { return };
        assert_eq!(reader.keys(&[*first]), []);
        assert_eq!(reader.keys(second), [Key::Char('日')]);
    }

    #[test]
    fn an_escape_is_the_key_only_when_nothing_follows() {
        let start = Instant::now();
        // What comes at first, what after that, the keys of both, and the key if nothing more comes.
        /// First and second piece, the keys they are, and the one that a pause brings.
        type Pieces<'a> = (&'a [u8], &'a [u8], &'a [Key], Option<Key>);
        let table: [Pieces<'_>; 4] = [
            (b"\x1b", b"[A", &[Key::Up], Some(Key::Escape)),
            (b"\x1b[", b"A", &[Key::Up], None),
            (b"\x1b[5", b"~x", &[Key::PageUp, Key::Char('x')], None),
            (b"\x1b", b"q", &[Key::Escape, Key::Char('q')], Some(Key::Escape)),
        ];
        for (first, second, keys, alone) in table {
            let mut reader = KeyReader::default();
            assert_eq!(reader.keys(first), [], "{first:?}");
            assert_eq!(reader.nothing_came(start), None);
            assert_eq!(reader.nothing_came(start + REST / 2), None);
            assert_eq!(reader.keys(second), keys, "{first:?} {second:?}");
            assert_eq!(reader.keys(first), []);
            assert_eq!(reader.nothing_came(start), None);
            assert_eq!(reader.nothing_came(start + REST), alone, "{first:?}");
            assert_eq!(reader.nothing_came(start + REST * 2), None, "once");
            assert_eq!(reader.keys(b"k"), [Key::Char('k')]);
        }
    }

    #[test]
    fn what_is_pasted_is_no_key() {
        let all = "a\x1b[200~Sü\r\ny\x1b[A\x0c\x1b[201~b".as_bytes();
        let keys = [
            Key::Char('a'),
            Key::Pasted('S'),
            Key::Pasted('ü'),
            Key::Pasted(' '),
            Key::Pasted(' '),
            Key::Pasted('y'),
            Key::Char('b'),
        ];
        for at in 0..all.len() {
            let (first, second) = all.split_at(at);
            let mut reader = KeyReader::default();
            let mut read = reader.keys(first);
            read.extend(reader.nothing_came(Instant::now()));
            read.extend(reader.keys(second));
            assert_eq!(read, keys, "in two pieces at {at}");
        }
    }
}
