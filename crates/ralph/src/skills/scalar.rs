//! The value of a key in front matter, as text: plain, quoted, folded (`>`) or literal (`|`). Anchors, aliases, tags,
//! lists and tables are refused where they stand.

use super::fault::{Fault, Line};
use super::quoted::{double_quoted, single_quoted};

/// A value: what follows the colon, and the lines that belong to it.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    /// The rest of the key's line.
    pub first: Line<'a>,
    /// Indented and blank lines below it.
    pub more: &'a [Line<'a>],
}

/// The text of a value.
pub fn scalar(key: &str, value: &Value<'_>) -> Result<String, Fault> {
    let trimmed = value.first.text.trim_start();
    let at = value.first.end() - trimmed.len();
    let first = Line { at, text: trimmed };
    if let Some(tab) = value.more.iter().find(|line| !line.is_blank() && has_tab_indent(line)) {
        return Err(Fault::new(tab.at, "a tab is not an indentation here", "use spaces"));
    }
    match trimmed.chars().next() {
        Some('"') => double_quoted(first, value.more),
        Some('\'') => single_quoted(first, value.more),
        Some('|' | '>') => block(first, value.more),
        Some(sign @ ('&' | '*' | '!' | '[' | ']' | '{' | '}' | '@' | '`' | '%' | ',')) => {
            let what = format!("`{key}` begins with `{sign}`, which is not supported");
            Err(Fault::new(at, what, format!("put the text in quotes: {key}: \"…\"")))
        }
        _ => plain(key, first, value.more),
    }
}

fn has_tab_indent(line: &Line<'_>) -> bool {
    line.text.chars().take_while(|c| c.is_whitespace()).any(|c| c == '\t')
}

/// Text without quotes; further lines are joined by spaces, blank ones are line breaks.
fn plain(key: &str, first: Line<'_>, more: &[Line<'_>]) -> Result<String, Fault> {
    let begins = |line: &&Line<'_>| !line.is_blank() && !line.text.trim_start().starts_with('#');
    let below = more.iter().find(begins).filter(|_| without_comment(first.text).is_empty());
    if let Some(line) = below {
        let text = line.text.trim_start();
        let at = line.end() - text.len();
        if text == "-" || text.starts_with("- ") {
            return Err(Fault::new(at, format!("`{key}` must be text, not a list"), "write it on one line"));
        }
        if let Some(sign) = text.chars().next().filter(|c| "&*![]{}@`%|>\"'".contains(*c)) {
            let what = format!("`{key}` begins with `{sign}` on a line of its own, which is not supported");
            return Err(Fault::new(at, what, format!("begin it behind `{key}:`")));
        }
        if text.contains(": ") || text.ends_with(':') {
            let hint = "put the text in quotes, on one line";
            return Err(Fault::new(at, format!("`{key}` must be text, not a table"), hint));
        }
    }
    let parts = std::iter::once(first.text).chain(more.iter().map(|line| line.text));
    Ok(fold(parts.map(|text| without_comment(text).trim())))
}

/// A comment begins at the start of the value or after a space.
fn without_comment(text: &str) -> &str {
    match text.trim_start().starts_with('#') {
        true => "",
        false => text.split_once(" #").map_or(text, |(before, _)| before),
    }
}

/// Lines joined by spaces; blank ones are line breaks.
pub fn fold<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut breaks = 0_usize;
    for line in lines {
        if line.is_empty() {
            breaks += 1;
            continue;
        }
        if !text.is_empty() {
            text.push_str(&if breaks > 0 { "\n".repeat(breaks) } else { " ".into() });
        }
        text.push_str(line);
        breaks = 0;
    }
    text
}

/// `>` and `|`, with `-`, `+` and the width of the indentation.
fn block(first: Line<'_>, more: &[Line<'_>]) -> Result<String, Fault> {
    let header = without_comment(first.text).trim_end();
    let folded = header.starts_with('>');
    let marks = header.get(1..).unwrap_or_default();
    let (digits, signs): (String, String) = marks.chars().partition(char::is_ascii_digit);
    if digits.len() > 1 || digits == "0" || !matches!(signs.as_str(), "" | "-" | "+") {
        let hint = "write `>-` and the text in the lines below it, indented";
        return Err(Fault::new(first.at, format!("`{header}` is not supported"), hint));
    }
    let depth = |line: &Line<'_>| line.text.len() - line.text.trim_start_matches(' ').len();
    let own = more.iter().find(|line| !line.is_blank()).map_or(0, depth);
    let width = digits.parse().unwrap_or(own);
    let mut lines = Vec::new();
    for line in more {
        if !line.is_blank() && depth(line) < width {
            return Err(Fault::new(line.at, "this line is indented less than the first", "indent it as far"));
        }
        lines.push(line.text.get(width..).unwrap_or_default().trim_end());
    }
    match folded {
        true => Ok(fold(lines.into_iter())),
        false => Ok(lines.join("\n").trim_end().to_owned()),
    }
}
