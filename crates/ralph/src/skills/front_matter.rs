//! The front matter of a SKILL.md: `key: value` between two lines of `---`. Only `name` and `description` are read; what
//! clients put beside them (lists, tables, anything indented) is skipped. This is not a YAML parser: what it does not
//! understand in those two keys is refused with its place (`scalar.rs` reads their values).

use super::fault::{Fault, Line, lines};
use super::scalar::{Value, scalar};

/// What the front matter says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// `name`.
    pub name: Option<Field>,
    /// `description`.
    pub description: Option<Field>,
    /// The byte at which the text after it begins.
    pub end: usize,
}

/// A value and the byte its line begins at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The value, unquoted and unfolded.
    pub text: String,
    /// The byte its key begins at.
    pub at: usize,
}

/// How front matter looks.
const EXAMPLE: &str = "begin the file with:\n\n      ---\n      name: tdd\n      description: What it does and when to use it\n      ---";

/// Reads the front matter at the beginning of a text.
pub fn read(text: &str) -> Result<FrontMatter, Fault> {
    let all: Vec<Line<'_>> = lines(text).collect();
    let (first, rest) = match all.split_first() {
        Some((first, rest)) if first.text.trim_end() == "---" => (first, rest),
        _ => return Err(Fault::new(0, "a skill begins with front matter, which is missing", EXAMPLE)),
    };
    let closes = |line: &Line<'_>| matches!(line.text.trim_end(), "---" | "...");
    let Some(count) = rest.iter().position(closes) else {
        let hint = "end the front matter with a line of ---";
        return Err(Fault::new(first.at, "the front matter is not closed", hint));
    };
    let (fields, after) = rest.split_at(count);
    let end = after.get(1).map_or(text.len(), |line| line.at);
    keys(fields, FrontMatter { end, ..FrontMatter::default() })
}

fn keys(mut rest: &[Line<'_>], mut found: FrontMatter) -> Result<FrontMatter, Fault> {
    let mut seen: Vec<String> = Vec::new();
    while let Some((line, below)) = rest.split_first() {
        if line.is_blank() || line.text.trim_start().starts_with('#') {
            rest = below;
            continue;
        }
        let (key, value) = key(line)?;
        if seen.contains(&key) {
            return Err(Fault::new(line.at, format!("`{key}` is set twice"), "remove one of them"));
        }
        let is_empty = uncommented(value.text).is_empty();
        let count = below.iter().take_while(|line| belongs(line, is_empty)).count();
        let (own, next) = below.split_at(count);
        rest = next;
        if matches!(key.as_str(), "name" | "description") {
            let text = scalar(&key, &Value { first: value, more: own })?;
            let field = Some(Field { text, at: line.at });
            if key == "name" { found.name = field } else { found.description = field }
        }
        seen.push(key);
    }
    Ok(found)
}

/// Whether a line continues the value above it. A list may stand at the margin below a key without a value.
fn belongs(line: &Line<'_>, is_empty: bool) -> bool {
    let item = is_empty && (line.text == "-" || line.text.starts_with("- "));
    line.is_blank() || line.text.starts_with([' ', '\t']) || item
}

fn uncommented(value: &str) -> &str {
    let value = value.trim();
    if value.starts_with('#') { "" } else { value }
}

/// The key of a line, and the rest of it.
fn key<'a>(line: &Line<'a>) -> Result<(String, Line<'a>), Fault> {
    let hint = "write it as `key: value`";
    if line.text.starts_with('\t') {
        return Err(Fault::new(line.at, "a tab is not an indentation here", "use spaces"));
    }
    if line.text.starts_with(' ') {
        return Err(Fault::new(line.at, "this indented line belongs to no key", "remove its indentation"));
    }
    let colon = line.text.match_indices(':').map(|(at, _)| at).find(|at| {
        let after = line.text.get(at + 1..).unwrap_or_default();
        after.is_empty() || after.starts_with([' ', '\t'])
    });
    let Some((name, value)) = colon.and_then(|at| Some((line.text.get(..at)?, line.text.get(at + 1..)?)))
    else {
        let what = match line.text.split_once(':') {
            Some((name, _)) => format!("a space is missing after `{name}:`"),
            None => "this line has no key".into(),
        };
        return Err(Fault::new(line.at, what, hint));
    };
    let bare = name.trim_end();
    let unquoted = ['"', '\''].iter().find_map(|q| bare.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(bare);
    let plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    if !unquoted.starts_with(char::is_alphanumeric) || !unquoted.chars().all(plain) {
        return Err(Fault::new(line.at, format!("`{bare}` is not a key that is supported here"), hint));
    }
    Ok((unquoted.to_owned(), Line { at: line.at + name.len() + 1, text: value }))
}
