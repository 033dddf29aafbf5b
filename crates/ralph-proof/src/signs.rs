//! Signs in added lines that the work deals with the check instead of the task. They are named, never a verdict.

#[cfg(test)]
mod tests;

use crate::hunks::{changed_lines, trivial_lines};
use crate::language::{Language, language};
use regex::Regex;
use std::sync::LazyLock;

/// A sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    /// What the line does: `ends the process`, `is equal to everything`.
    pub what: &'static str,
    /// Line number in the current file, from 1.
    pub line: usize,
    /// The line, trimmed and bounded.
    pub text: String,
}

/// Where a sign is looked for, what it means, and its pattern.
struct Row {
    /// None for every language.
    language: Option<Language>,
    what: &'static str,
    pattern: Regex,
}

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = include_str!("signs.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(row).collect()
});

/// What a method that says whether two things are equal must not say of all of them.
static EQUALITY: LazyLock<Regex> = LazyLock::new(|| {
    crate::pattern::pattern(concat!(
        r"\bdef\s+__(?:eq|ne)__\b|\bdef\s+(?:==|eql\?)|\bfn\s+(?:eq|ne)\s*[(<]|",
        r"\b[eE]quals\s*\(|\boperator\s*==|\bfunc\s*\([^)]*\)\s*Equal\s*\("
    ))
});
static CONSTANT: LazyLock<Regex> =
    LazyLock::new(|| crate::pattern::pattern(r"^\s*(?:return\s+)?(?:True|true|1|False|false|0)\s*;?\s*}?$"));

/// The sign that comments can be.
const SILENCES: &str = "silences a check";
/// A longer line is generated, and nobody would read what was found in it.
const LONGEST_LINE: usize = 2000;
/// So much of a line is shown.
const LONGEST_TEXT: usize = 120;

/// Signs in the lines that `now` has and `before` has not.
pub fn signs(path: &[u8], before: Option<&str>, now: &str) -> Vec<Sign> {
    let language = language(path);
    if matches!(language, Language::Markup | Language::Json | Language::Toml | Language::Yaml) {
        return Vec::new();
    }
    let lines: Vec<&str> = now.lines().collect();
    let rows: Vec<&Row> =
        TABLE.iter().filter(|row| row.language.is_none_or(|only| only == language)).collect();
    let trivial = trivial_lines(path, now);
    let mut found = Vec::new();
    for number in changed_lines(before.unwrap_or_default(), now).into_iter().flat_map(|(_, new)| new) {
        let Some(line) = lines.get(number).filter(|line| line.len() <= LONGEST_LINE) else { continue };
        // A comment can do no more than to silence a tool.
        let comment = trivial.get(number).copied().unwrap_or(false);
        let able = rows.iter().filter(|row| !comment || row.what == SILENCES);
        let by_line = able.filter(|row| row.pattern.is_match(line)).map(|row| row.what);
        let by_method = always_equal(&lines, number).then_some("is equal to everything");
        for what in by_line.chain(by_method) {
            if !found.iter().rev().take(4).any(|sign: &Sign| sign.what == what && sign.line == number + 1) {
                found.push(Sign { what, line: number + 1, text: shown(line) });
            }
        }
    }
    found
}

/// A method for equality whose first statement is a constant, on a line of its own.
fn always_equal(lines: &[&str], number: usize) -> bool {
    if !lines.get(number).is_some_and(|line| EQUALITY.is_match(line)) {
        return false;
    }
    let body = lines.iter().skip(number + 1).take(12).map(|line| line.trim());
    let documentation = |line: &&str| {
        line.is_empty()
            || *line == "{"
            || ["#", "//", "\"\"\"", "'''", "let _", "_ ="].iter().any(|s| line.starts_with(s))
    };
    body.skip_while(documentation).take(1).any(|line| CONSTANT.is_match(line))
}

fn shown(line: &str) -> String {
    let line = line.trim();
    let short = line.get(..line.floor_char_boundary(LONGEST_TEXT)).unwrap_or(line);
    if short.len() < line.len() { format!("{short}…") } else { short.to_owned() }
}

/// Reads one line of the table.
fn row(line: &'static str) -> Option<Row> {
    let mut columns = line.splitn(3, '\t');
    let language = match columns.next()? {
        "*" => None,
        "py" => Some(Language::Python),
        "rs" => Some(Language::Rust),
        "js" => Some(Language::JavaScript),
        "go" => Some(Language::Go),
        "c" => Some(Language::C),
        "java" => Some(Language::Java),
        "rb" => Some(Language::Ruby),
        "perl" => Some(Language::Perl),
        "sh" => Some(Language::Shell),
        "make" => Some(Language::Make),
        _ => return None,
    };
    let what = columns.next()?;
    Some(Row { language, what, pattern: Regex::new(columns.next()?).ok()? })
}
