//! Text for a terminal, broken at spaces: what continues a line is indented below it. Colours take no room. A word that is
//! longer than a line stays whole, so that a path or an address can still be copied.

use crate::plain::columns_of;

/// The text with no line wider than `columns`, as far as its words allow.
pub fn wrap(text: &str, columns: usize) -> String {
    text.split('\n').map(|line| wrap_line(line, columns)).collect::<Vec<_>>().join("\n")
}

fn wrap_line(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.into();
    }
    let hang = hanging_indent(line).min(columns / 3 * 2);
    let (mut out, mut used, mut spaces, mut words) = (String::with_capacity(line.len()), 0, 0, 0);
    for word in line.split(' ') {
        if word.is_empty() {
            spaces += 1;
            continue;
        }
        let wide = width(word);
        if words > 0 && used + spaces + wide > columns {
            out.push('\n');
            out.push_str(&" ".repeat(hang));
            used = hang;
        } else {
            out.push_str(&" ".repeat(spaces));
            used += spaces;
        }
        out.push_str(word);
        used += wide;
        words += 1;
        spaces = 1;
    }
    out
}

/// Where the continuation of a line begins: below its second column, where it has one, otherwise two further in.
fn hanging_indent(line: &str) -> usize {
    let bare: String = visible(line).collect();
    let indent = bare.len() - bare.trim_start_matches(' ').len();
    let rest = bare.get(indent..).unwrap_or_default();
    let (name, value) = rest.split_once("  ").unwrap_or_default();
    if name.is_empty() {
        return indent + 2;
    }
    indent + name.chars().map(columns_of).sum::<usize>() + 2 + value.len()
        - value.trim_start_matches(' ').len()
}

/// The columns a text takes.
fn width(text: &str) -> usize {
    visible(text).map(columns_of).sum()
}

/// The characters that are seen: without the sequences that set a colour.
fn visible(text: &str) -> impl Iterator<Item = char> {
    let mut in_sequence = false;
    text.chars().filter(move |c| {
        let seen = !in_sequence && *c != '\x1b';
        in_sequence = *c == '\x1b' || (in_sequence && *c != 'm');
        seen
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_keep_their_indent() {
        let table = [
            ("short", 10, "short"),
            ("  - one two three", 12, "  - one two\n    three"),
            ("one two three", 7, "one two\n  three"),
            ("  why         it did not pass", 22, "  why         it did\n              not pass"),
            ("  ralph list    all runs here", 27, "  ralph list    all runs\n                here"),
            ("h       type a hint", 14, "h       type a\n        hint"),
            ("see /a/very/long/path/to/something", 12, "see\n  /a/very/long/path/to/something"),
            ("\u{1b}[36mone two\u{1b}[0m three", 8, "\u{1b}[36mone two\u{1b}[0m\n  three"),
            ("one two\n  three four", 8, "one two\n  three\n    four"),
            ("日本 日本", 5, "日本\n  日本"),
            ("", 0, ""),
            ("a b", 0, "a\nb"),
        ];
        for (text, columns, wrapped) in table {
            assert_eq!(wrap(text, columns), wrapped, "{text} in {columns}");
        }
    }
}
