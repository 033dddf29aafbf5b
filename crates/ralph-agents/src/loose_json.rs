//! Reads the members of one JSON object, also where a program wrote it by hand: keys without quotes, single quotes, a
//! comma too many, an end that is missing. Where it is not certain what follows, reading stops. Linear, without recursion,
//! and nothing is copied. `json_reply.rs` uses it.

use crate::json::unescaped;
use memchr::memchr2;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Objects and arrays inside each other.
const DEEPEST: usize = 128;

/// A member's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// The inside of a string, still escaped.
    Text(&'a str),
    /// The same of a string without an end.
    CutText(&'a str),
    /// `true`, `null` or a number, as written.
    Bare(&'a str),
    /// An object or array as written, and where it begins.
    Nested(&'a str, usize),
}

/// Something that JSON does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What it is.
    pub what: &'static str,
    /// Where it is, in bytes.
    pub at: usize,
}

/// How reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The first damage.
    pub damage: Option<Damage>,
    /// Reading stopped before the end of the object.
    pub stopped: bool,
    /// The first byte that was not read.
    pub at: usize,
}

/// Reads an object; each member goes to `each`, in order.
pub fn object<'a>(text: &'a str, each: &mut dyn FnMut(Cow<'a, str>, Value<'a>)) -> End {
    let mut scan = Scan { text, at: 0, damage: None };
    let stopped = scan.members(each).is_none();
    End { damage: scan.damage, stopped, at: scan.at }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    damage: Option<Damage>,
}

impl<'a> Scan<'a> {
    /// `None` where reading stopped.
    fn members(&mut self, each: &mut dyn FnMut(Cow<'a, str>, Value<'a>)) -> Option<()> {
        if !self.take(b'{') {
            return self.stop("not an object");
        }
        let mut comma = false;
        loop {
            self.skip_space();
            match self.peek() {
                None if comma => return self.stop("the object breaks off"),
                None => {
                    self.note("the closing brace is missing");
                    return Some(());
                }
                Some(b'}') => {
                    if comma {
                        self.note("a comma before the closing brace");
                    }
                    self.at += 1;
                    return Some(());
                }
                Some(_) => {}
            }
            let key = self.key()?;
            self.skip_space();
            if !self.take(b':') {
                return self.stop("no colon after a key");
            }
            self.skip_space();
            let (value, whole) = self.value()?;
            each(key, value);
            whole.then_some(())?;
            self.skip_space();
            comma = self.take(b',');
            if !comma && !matches!(self.peek(), None | Some(b'}')) {
                return self.stop("no comma after a value");
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn note(&mut self, what: &'static str) {
        self.note_at(what, self.at);
    }

    fn note_at(&mut self, what: &'static str, at: usize) {
        self.damage.get_or_insert(Damage { what, at });
    }

    fn stop<T>(&mut self, what: &'static str) -> Option<T> {
        self.note(what);
        None
    }

    fn key(&mut self) -> Option<Cow<'a, str>> {
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => match self.string(quote) {
                (key, true) => Some(unescaped(key)),
                (_, false) => self.stop("a key without its closing quote"),
            },
            _ => {
                let key =
                    self.word(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-'));
                if key.is_empty() {
                    return self.stop("no key where one is expected");
                }
                self.note_at("a key without quotes", self.at - key.len());
                Some(Cow::Borrowed(key))
            }
        }
    }

    /// The value, and whether it has its end.
    fn value(&mut self) -> Option<(Value<'a>, bool)> {
        let from = self.at;
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => Some(match self.string(quote) {
                (text, true) => (Value::Text(text), true),
                (text, false) => {
                    self.note_at("a string without its closing quote", from);
                    (Value::CutText(text), false)
                }
            }),
            Some(b'{' | b'[') => self.nested(),
            _ => Some((Value::Bare(self.bare()?), true)),
        }
    }

    /// The inside of a string, and whether it has its closing quote.
    fn string(&mut self, quote: u8) -> (&'a str, bool) {
        if quote == b'\'' {
            self.note("single quotes");
        }
        let from = self.at + 1;
        let mut at = from;
        loop {
            let rest = self.text.as_bytes().get(at..).unwrap_or_default();
            let Some(found) = memchr2(quote, b'\\', rest) else {
                self.at = self.text.len();
                return (self.text.get(from..).unwrap_or_default(), false);
            };
            if rest.get(found) == Some(&quote) {
                self.at = at + found + 1;
                return (self.text.get(from..at + found).unwrap_or_default(), true);
            }
            at += found + 2;
        }
    }

    /// An object or array; only its brackets and strings are looked at.
    fn nested(&mut self) -> Option<(Value<'a>, bool)> {
        let from = self.at;
        let mut open = Vec::new();
        let mut whole = true;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' | b'\'' => {
                    whole &= self.string(byte).1;
                    continue;
                }
                b'{' => open.push(b'}'),
                b'[' => open.push(b']'),
                b'}' | b']' if open.pop() != Some(byte) => return self.stop("brackets that do not match"),
                _ => {}
            }
            self.at += 1;
            if open.is_empty() {
                break;
            }
            if open.len() > DEEPEST {
                return self.stop("brackets nested too deeply");
            }
        }
        if !open.is_empty() {
            self.note(if whole {
                "a closing bracket is missing"
            } else {
                "a string without its closing quote"
            });
        }
        let raw = self.text.get(from..self.at).unwrap_or_default();
        Some((Value::Nested(raw, from), whole))
    }

    fn bare(&mut self) -> Option<&'a str> {
        let from = self.at;
        let word =
            self.word(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b',' | b'}' | b']' | b'"'));
        let ended = self.at < self.text.len();
        let number = || word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        match word {
            "true" | "false" | "null" => return Some(word),
            "True" | "False" | "None" | "NaN" | "Infinity" | "-Infinity" => {
                self.note_at("a word that is not a JSON value", from);
                return Some(word);
            }
            // More digits may have followed.
            _ if ended && number() && serde_json::from_str::<&RawValue>(word).is_ok() => return Some(word),
            _ => {}
        }
        self.at = from;
        self.stop("no value where one is expected")
    }

    fn word(&mut self, fits: fn(u8) -> bool) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.bytes().position(|byte| !fits(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
