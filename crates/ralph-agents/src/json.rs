//! JSON read without trust: a field may be missing, of another type, or hold a string that strict decoding
//! refuses (half an emoji). `Field` keeps the raw bytes and says what can be made of them. `lenient!` declares
//! structs of such fields.

use crate::text::Tail;
use memchr::{memchr, memchr2};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One JSON value as written, or nothing where it was missing or null.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Field<'a>(#[serde(borrow)] pub Option<&'a RawValue>);

impl<'a> Field<'a> {
    /// The value as it was written.
    pub fn raw(self) -> Option<&'a str> {
        self.0.map(RawValue::get)
    }

    /// The inside of a string, still escaped.
    fn inside(self) -> Option<&'a str> {
        self.raw()?.strip_prefix('"')?.strip_suffix('"')
    }

    /// Whether it is a string with exactly this (escape-free) text.
    pub fn is(self, text: &str) -> bool {
        self.inside() == Some(text)
    }

    /// A string's text; anything else is none.
    pub fn text(self) -> Option<Cow<'a, str>> {
        self.inside().map(unescaped)
    }

    /// A string's text, an empty one counting as missing.
    pub fn filled(self) -> Option<Cow<'a, str>> {
        self.text().filter(|t| !t.is_empty())
    }

    /// The first `most` bytes of a string's text, however long it is.
    pub fn head(self, most: usize) -> Option<Cow<'a, str>> {
        let inside = self.inside()?;
        if inside.len() <= most {
            return self.text();
        }
        let mut text = String::new();
        unescape(inside, |part| {
            let room = part.floor_char_boundary(most.saturating_sub(text.len()));
            text.push_str(part.get(..room).unwrap_or(part));
            room == part.len()
        });
        Some(Cow::Owned(text))
    }

    /// A string's text into a bounded tail; anything else as it was written. Nothing is copied whole.
    pub fn pour(self, tail: &mut Tail) {
        match (self.inside(), self.raw()) {
            (Some(inside), _) => unescape(inside, |part| {
                tail.push(part.as_bytes());
                true
            }),
            (None, Some(raw)) => tail.push(raw.as_bytes()),
            (None, None) => {}
        }
    }

    /// A number, also where it was written as a string.
    pub fn number(self) -> Option<f64> {
        self.inside().or(self.raw())?.trim().parse().ok()
    }

    /// A count: a number that is not negative, its fraction dropped.
    pub fn count(self) -> Option<u64> {
        let written = self.inside().or(self.raw())?.trim();
        if let Ok(count) = written.parse() {
            return Some(count);
        }
        let number: f64 = written.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // not negative; `as` stops at the top
        Some(number as u64)
    }

    /// A yes or no, also where it was written as a string.
    pub fn truth(self) -> Option<bool> {
        match self.inside().or(self.raw())? {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => None,
        }
    }

    /// The value read as something typed, if it has that shape.
    pub fn read<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.raw()?).ok()
    }
}

/// Declares structs of `Field`s, so that a new version of a client that changes one of them breaks only that one.
/// `name = "key"` reads another key, `| "key"` adds one more; keys that are not named are skipped unread. Fields of other
/// types follow after a semicolon.
macro_rules! lenient {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$life:lifetime> {
            $($(#[$field_meta:meta])* $field:ident $(= $key:literal)? $(| $alias:literal)*),* $(,)?
            $(; $($(#[$typed_meta:meta])* $typed:ident: $type:ty),* $(,)?)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        $vis struct $name<$life> {
            $(
                $(#[$field_meta])*
                #[serde(borrow $(, rename = $key)? $(, alias = $alias)*)]
                pub $field: $crate::json::Field<$life>,
            )*
            $($($(#[$typed_meta])* pub $typed: $type,)*)?
        }
    )*};
}
pub(crate) use lenient;

/// The counts in an object by their keys, a missing or odd one being zero. `None` where it is no object.
pub fn counts<const N: usize>(object: Field<'_>, keys: [&str; N]) -> Option<[u64; N]> {
    let fields: BTreeMap<Cow<'_, str>, Field<'_>> = object.read()?;
    Some(keys.map(|key| fields.get(key).and_then(|field| field.count()).unwrap_or(0)))
}

/// The `type` of an object where it comes first, as it mostly does.
pub fn first_kind(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(r#"{"type":""#)?;
    rest.get(..rest.find('"')?)
}

/// What follows the opening quote of a string, split: the string as it was written with both its quotes, and what
/// comes after it. For lines that are looked at without being parsed.
pub fn split_string(from_quote: &str) -> Option<(Field<'_>, &str)> {
    let inside = from_quote.strip_prefix('"')?.as_bytes();
    let mut at = 0;
    while *inside.get(at + memchr2(b'"', b'\\', inside.get(at..)?)?)? == b'\\' {
        at += memchr(b'\\', inside.get(at..)?)? + 2;
    }
    let end = at + memchr(b'"', inside.get(at..)?)? + 2;
    let (string, rest) = (from_quote.get(..end)?, from_quote.get(end..)?);
    Some((serde_json::from_str(string).ok()?, rest))
}

/// A line read as something typed.
pub fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Option<T> {
    serde_json::from_str(line).ok()
}

/// The text that the inside of a JSON string stands for.
pub fn unescaped(inside: &str) -> Cow<'_, str> {
    if memchr(b'\\', inside.as_bytes()).is_none() {
        return Cow::Borrowed(inside);
    }
    let mut text = String::with_capacity(inside.len());
    unescape(inside, |part| {
        text.push_str(part);
        true
    });
    Cow::Owned(text)
}

/// Decodes the inside of a JSON string piece by piece, as long as `put` wants more. Half a surrogate pair
/// becomes U+FFFD.
fn unescape(mut rest: &str, mut put: impl FnMut(&str) -> bool) {
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        let (plain, escape) = rest.split_at(at);
        let (decoded, used) = one_escape(escape);
        if !put(plain) || !put(decoded.encode_utf8(&mut [0; 4])) {
            return;
        }
        rest = escape.get(used..).unwrap_or("");
    }
    put(rest);
}

/// The character an escape at the start stands for, and how many bytes it takes.
fn one_escape(escape: &str) -> (char, usize) {
    let letter = escape.as_bytes().get(1).copied().unwrap_or(b'\\');
    let decoded = match letter {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'"' | b'\\' | b'/' | b'\'' => char::from(letter),
        b'u' => return unicode_escape(escape),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (decoded, 2)
}

fn unicode_escape(escape: &str) -> (char, usize) {
    let unit = |at: usize| -> Option<u32> {
        escape.get(at..at + 2).filter(|mark| *mark == "\\u")?;
        u32::from_str_radix(escape.get(at + 2..at + 6)?, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
            let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        (Some(code), _) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
        (None, _) => (char::REPLACEMENT_CHARACTER, 2),
    }
}

/// Lines longer than this are not copied for a repair.
const REPAIRABLE: usize = 4 << 20;

/// A line that strict JSON refuses, made readable where the fault is one that real programs make: bytes
/// that are no UTF-8, and the words NaN and Infinity for numbers. `None` where neither is the case.
pub fn repaired(line: &[u8]) -> Option<String> {
    if line.len() > REPAIRABLE {
        return None;
    }
    let text = String::from_utf8_lossy(line);
    let broken = matches!(text, Cow::Owned(_));
    if !broken && !text.contains("NaN") && !text.contains("Infinity") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    // Outside strings the words become null; strings are taken over as they are.
    while let Some(quote) = rest.find('"') {
        let (outside, from_quote) = rest.split_at(quote);
        push_without_nan(outside, &mut out);
        let end = string_end(from_quote);
        let (string, after) = from_quote.split_at(end);
        out.push_str(string);
        rest = after;
    }
    push_without_nan(rest, &mut out);
    Some(out)
}

fn push_without_nan(outside: &str, out: &mut String) {
    if outside.contains("NaN") || outside.contains("Infinity") {
        out.push_str(
            &outside.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null"),
        );
    } else {
        out.push_str(outside);
    }
}

/// Length of the string literal at the start, its quotes included.
fn string_end(text: &str) -> usize {
    let mut escaped = true; // the opening quote
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(raw: &str) -> Field<'_> {
        serde_json::from_str(raw).unwrap()
    }

    #[test]
    fn strings_are_decoded_even_when_strict_json_refuses_them() {
        for (raw, text) in [
            (r#""plain""#, "plain"),
            (r#""a\n\"b\"\\ \/ \t\u00e9""#, "a\n\"b\"\\ / \té"),
            (r#""\ud83d\ude00!""#, "😀!"),
            (r#""cut \ud83d""#, "cut \u{fffd}"),
            (r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}"),
        ] {
            assert_eq!(field(raw).text().unwrap(), text, "{raw}");
        }
        assert!(field("12").text().is_none());
        assert!(field("null").raw().is_none());
    }

    #[test]
    fn a_string_ends_at_its_own_quote() {
        for (text, string, rest) in [
            (r#""a","b""#, "a", r#","b""#),
            (r#""""#, "", ""),
            (r#""a \" b \\"}"#, r#"a " b \"#, "}"),
            (r#""\\\\\"",1"#, r#"\\""#, ",1"),
        ] {
            let (found, after) = split_string(text).unwrap();
            assert_eq!((found.text().unwrap().as_ref(), after), (string, rest), "{text}");
        }
        for broken in ["", "a", "\"", "\"a", "\"a\\", "\"a\\\"", "\"\\x\""] {
            assert!(split_string(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn the_head_of_a_long_string_never_cuts_an_escape() {
        let raw = format!("\"{}\"", "\\ud83d\\ude00\\n€".repeat(40));
        for most in 0..120 {
            let head = field(&raw).head(most).unwrap().into_owned();
            assert!("😀\n€".repeat(40).starts_with(&head), "{most}: {head:?}");
        }
    }

    #[test]
    fn numbers_come_in_many_coats() {
        assert_eq!(field("0.5").number(), Some(0.5));
        assert_eq!(field("\"0.5\"").number(), Some(0.5));
        assert_eq!(field("12.9").count(), Some(12));
        assert_eq!(field("\"7\"").count(), Some(7));
        assert_eq!(field("-1").count(), None);
        assert_eq!(field("1e400").count(), None);
        assert_eq!(field("{}").count(), None);
        assert_eq!(field("\"true\"").truth(), Some(true));
    }

    #[test]
    fn nan_and_broken_bytes_are_repaired_outside_strings_only() {
        let line = br#"{"a":NaN,"b":"NaN \" Infinity","c":[-Infinity,Infinity]}"#;
        assert_eq!(repaired(line).unwrap(), r#"{"a":null,"b":"NaN \" Infinity","c":[null,null]}"#);
        assert_eq!(repaired(b"{\"a\":\"\xff\"}").unwrap(), "{\"a\":\"\u{fffd}\"}");
        assert!(repaired(b"{}").is_none());
    }
}
