//! What an item is called: `fn add`, `mod tests`, `impl Display for Money`.

const ITEM_WORDS: [&str; 9] = ["fn", "struct", "enum", "trait", "mod", "type", "union", "static", "const"];
/// Of a name that is a whole header, this much counts.
const LONGEST: usize = 400;

/// The signature of the item that begins here, in blanked code, past its attributes.
pub fn signature(code: &str) -> String {
    // No header is longer, and the rest of a file is not looked at for each of its items.
    let mut rest = code.get(..code.floor_char_boundary(4 * LONGEST)).unwrap_or(code).trim_start();
    loop {
        let (word, after) = first_word(rest);
        let next = first_word(after.trim_start()).0;
        rest = match word {
            "pub" => past_parentheses(after.trim_start()),
            "default" | "async" | "unsafe" => after.trim_start(),
            "const" | "extern" if matches!(next, "fn" | "async" | "unsafe" | "extern") => after.trim_start(),
            _ if ITEM_WORDS.contains(&word) => return format!("{word} {next}"),
            "macro_rules" => {
                let name = first_word(after.trim_start_matches(['!', ' ', '\n', '\t', '\r'])).0;
                return format!("macro_rules {name}");
            }
            "impl" => return squeezed(until(rest, &['{', ';'])),
            "use" | "let" => return squeezed(until(rest, &[';'])),
            _ => return squeezed(until(rest, &['{', ';', ','])),
        };
    }
}

/// Whether an item of this signature ends only at a semicolon, even after a closing brace.
pub fn ends_at_semicolon(signature: &str) -> bool {
    let word = first_word(signature).0;
    matches!(word, "use" | "let" | "static" | "const" | "type" | "extern")
}

/// Whether an item of this signature ends with its closing brace.
pub fn ends_at_brace(signature: &str) -> bool {
    let word = first_word(signature).0;
    matches!(word, "fn" | "struct" | "enum" | "trait" | "mod" | "union" | "impl" | "macro_rules")
}

fn first_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn past_parentheses(text: &str) -> &str {
    match text.strip_prefix('(') {
        Some(inner) => inner.split_once(')').map_or("", |(_, after)| after.trim_start()),
        None => text,
    }
}

fn until<'a>(text: &'a str, ends: &[char]) -> &'a str {
    let text = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or(text);
    text.find(ends).and_then(|end| text.get(..end)).unwrap_or(text)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_named() {
        let rows = [
            ("pub(crate) async fn go<T>(x: T) {", "fn go"),
            ("const fn zero() -> u8 {", "fn zero"),
            ("const ZERO: u8 = 0;", "const ZERO"),
            ("pub extern     fn c() {", "fn c"),
            ("impl<T>  Display\n for Money<T> {", "impl<T> Display for Money<T>"),
            ("macro_rules! assert {", "macro_rules assert"),
            ("use a::{b, c};", "use a::{b, c}"),
            ("mod tests;", "mod tests"),
            ("count: usize,", "count: usize"),
            ("", ""),
        ];
        for (code, name) in rows {
            assert_eq!(signature(code), name, "{code}");
        }
    }
}
