//! A mistake in a config file: what is wrong, with file, line and column, and the line itself.

use crate::problem::{Code, Problem};
use std::path::Path;

/// What to do about a mistake that says itself how to correct it.
pub const CHECK: &str = "correct it, then run `ralph config check`";

/// The longest line that is shown.
const SHOWN: usize = 120;

/// The problem at a place in a file, given in bytes.
pub fn at(path: &Path, text: &str, offset: usize, what: &str) -> Problem {
    let (line, column) = line_and_column(text, offset);
    let problem = Problem::new(Code::Config, format!("{}:{line}:{column}: {what}", path.display()));
    match text.lines().nth(line - 1) {
        Some(shown) => problem.excerpt(excerpt(shown, line, column)),
        None => problem,
    }
}

/// The problem for text that is not TOML.
pub fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Problem {
    let offset = error.span().map_or(0, |span| span.start);
    at(path, text, offset, error.message().lines().next().unwrap_or_default()).hint(CHECK)
}

/// Line and column of a place in a text, both from 1.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (before.matches('\n').count() + 1, column)
}

/// The line with its number, and a mark below the place. Of a long line only what is around the place.
fn excerpt(shown: &str, line: usize, column: usize) -> String {
    let start = column.saturating_sub(SHOWN / 2).min(shown.chars().count().saturating_sub(SHOWN));
    let part: String =
        shown.chars().skip(start).take(SHOWN).map(|c| if c == '\t' { ' ' } else { c }).collect();
    let rest = part.chars().skip(column - 1 - start);
    let word = rest.take_while(|c| c.is_alphanumeric() || "_-.\"".contains(*c)).count().clamp(1, SHOWN);
    let margin = " ".repeat(line.to_string().len());
    let indent = " ".repeat(column - 1 - start);
    format!("{margin} |\n{line} | {part}\n{margin} | {indent}{}", "^".repeat(word))
}
