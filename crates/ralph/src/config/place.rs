//! A mistake in a config file: where it is, in plain words, and what was probably meant.

use crate::nearest::nearest;
use crate::problem::{Code, Problem};
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The longest line that is shown.
const SHOWN: usize = 120;

/// The problem for a file that could not be read as configuration.
pub fn mistake(path: &Path, text: &str, error: &toml::de::Error) -> Problem {
    let at = error.span().map_or(0, |span| span.start);
    let problem = problem(path, text, at, &short(&words(error.message())));
    match suggestion(error.message()) {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem,
    }
}

/// A message repeats what was written, which may be of any length.
fn short(words: &str) -> String {
    let most = 2 * SHOWN;
    match words.char_indices().nth(most) {
        None => words.to_string(),
        Some(_) => {
            let head: String = words.chars().take(SHOWN).collect();
            let tail: Vec<char> = words.chars().rev().take(SHOWN / 2).collect();
            format!("{head} … {}", tail.into_iter().rev().collect::<String>())
        }
    }
}

/// The problem with one key, named with dots.
pub fn at_key(path: &Path, text: &str, key: &str, what: &str) -> Problem {
    problem(path, text, find(text, key).unwrap_or(0), &format!("`{key}` {what}"))
}

fn problem(path: &Path, text: &str, at: usize, what: &str) -> Problem {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    let problem = Problem::new(Code::Config, format!("{}:{line}:{column}: {what}", path.display()));
    match text.lines().nth(line - 1) {
        Some(shown) => problem.excerpt(excerpt(shown, line, column)),
        None => problem,
    }
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

/// The line a key stands in.
pub fn line_of(text: &str, key: &str) -> Option<usize> {
    let at = find(text, key)?;
    Some(text.get(..at)?.matches('\n').count() + 1)
}

/// Where a key stands.
fn find(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut at = None;
    for part in key.split('.') {
        let (name, value) = table.iter().find(|(name, _)| name.get_ref() == part)?;
        at = Some(name.span().start);
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    at
}

/// The parser's words without those of the language it is written in.
fn words(message: &str) -> String {
    let line = message.lines().next().unwrap_or(message);
    // A list of every key is no help beside a suggestion; a list of the few values is.
    let line = if line.starts_with("unknown field") {
        line.split(", expected").next().unwrap_or(line)
    } else {
        line
    };
    let line = match line.split_once("expected struct") {
        Some((before, _)) => format!("{before}expected a table"),
        None => line.to_string(),
    };
    [
        ("unknown field", "unknown key"),
        ("unknown variant", "unknown value"),
        ("invalid type: ", ""),
        ("invalid value: ", ""),
        ("missing field", "missing key"),
        ("expected a nonzero u32", "expected a whole number above 0"),
        ("expected u32", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected a string", "expected a text in quotes"),
        ("expected a sequence", "expected a list in [ ]"),
    ]
    .iter()
    .fold(line, |text, (theirs, ours)| text.replace(theirs, ours))
}

/// serde names the unknown key and the keys it knows, all in backticks.
fn suggestion(message: &str) -> Option<String> {
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().filter(|_| message.starts_with("unknown"))?;
    nearest(unknown, names)
}
