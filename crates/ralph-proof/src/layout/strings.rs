//! Strings and regular expressions of the languages that look like C.

use crate::language::Language;

/// The length of a regular expression of JavaScript, up to its closing slash.
pub fn regex(rest: &str) -> Option<usize> {
    let (mut class, mut escaped) = (false, false);
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The length of a string with its quotes; none where it is not surely read right.
pub fn string(language: Language, rest: &str) -> Option<usize> {
    let quote = rest.chars().next()?;
    if language == Language::Java && rest.starts_with("\"\"\"") {
        return rest.get(3..)?.find("\"\"\"").map(|length| length + 6);
    }
    if quote == '`' {
        return match language {
            Language::Go => rest.get(1..)?.find('`').map(|length| length + 2),
            Language::JavaScript => template(rest),
            _ => None,
        };
    }
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A template without another one inside.
fn template(rest: &str) -> Option<usize> {
    let (mut escaped, mut braces) = (false, 0_usize);
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            b'`' if braces > 0 => return None,
            b'`' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A string of JavaScript means the same in either quotes.
pub fn canonical(language: Language, string: &str) -> String {
    if language != Language::JavaScript || string.starts_with('`') {
        return string.to_owned();
    }
    let inside = string.get(1..string.len() - 1).unwrap_or_default();
    format!("\"{}\"", super::python::unquoted(inside))
}
