//! Python: the same tokens, with the same blocks.

use super::commas::{Rules, without_trailing};
use super::tells_a_tool;
use crate::parts::python::tokens::{Kind, tokens};
use std::collections::BTreeMap;

const RULES: Rules = Rules {
    tuples: true,
    subscripts: true,
    empty_arguments: false,
    keywords: &[
        "return", "in", "is", "if", "elif", "else", "while", "not", "and", "or", "yield", "assert", "del",
        "for", "from", "import", "lambda", "await", "raise", "with", "as", "case", "match", "print", "exec",
        "except",
    ],
};

/// Modules of the standard library that do nothing when they are imported, and that no runner looks for.
const PLAIN_MODULES: [&str; 40] = [
    "abc",
    "argparse",
    "base64",
    "bisect",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "glob",
    "hashlib",
    "heapq",
    "inspect",
    "io",
    "itertools",
    "json",
    "math",
    "operator",
    "os",
    "pathlib",
    "pprint",
    "random",
    "re",
    "shutil",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "time",
    "types",
    "typing",
    "uuid",
];

/// A logical line: its depth and its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    depth: usize,
    tokens: Vec<String>,
}

pub fn same_meaning(before: &str, now: &str) -> bool {
    let (Some(before), Some(now)) = (lines(before), lines(now)) else { return false };
    before == now || without_unused_imports(before) == without_unused_imports(now)
}

/// The logical lines without what only formatters care about; none if the text is not surely read right.
fn lines(text: &str) -> Option<Vec<Line>> {
    let (mut lines, mut line, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    for token in tokens(text)? {
        let word = text.get(token.span.clone())?;
        match token.kind {
            Kind::Indent => depth += 1,
            Kind::Dedent => depth = depth.saturating_sub(1),
            Kind::Comment if tells_a_tool(word) => line.push(word.to_owned()),
            Kind::Comment => {}
            Kind::Newline if line.is_empty() => {}
            Kind::Newline => lines.push(Line { depth, tokens: normal(std::mem::take(&mut line)) }),
            Kind::Text => line.push(string(word)),
            Kind::Name | Kind::Number | Kind::Operator => line.push(word.to_owned()),
        }
    }
    lines.extend((!line.is_empty()).then(|| Line { depth, tokens: normal(line) }));
    Some(lines)
}

fn normal(line: Vec<String>) -> Vec<String> {
    without_parentheses(without_trailing(line, &RULES))
}

/// Formatters put parentheses around what is too long for a line: the names of an import, the rest of a statement.
fn without_parentheses(mut line: Vec<String>) -> Vec<String> {
    let is = |index: usize, word: &str| line.get(index).is_some_and(|token| token == word);
    let import = line
        .first()
        .is_some_and(|word| word == "from")
        .then(|| line.iter().position(|word| word == "import"));
    let begins = import.flatten().or_else(|| {
        let first = (is(0, "return") || is(0, "assert")).then_some(0);
        first.or_else(|| line.iter().position(|word| word == "="))
    });
    let Some(open) = begins.map(|at| at + 1).filter(|open| is(*open, "(")) else { return line };
    let (mut depth, mut plain, last) = (0_usize, import.flatten().is_some(), line.len() - 1);
    let words = ["for", "yield", "async", ":=", ",", "*", "**"];
    plain |= last > open + 1;
    for (index, token) in line.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                plain &= depth > 0 || index == last;
            }
            word if depth == 1 && import.flatten().is_none() => plain &= !words.contains(&word),
            _ => {}
        }
    }
    if plain && last > open + 1 && depth == 0 {
        line.pop();
        line.remove(open);
    }
    line
}

/// A string as it would be written in double quotes.
fn string(token: &str) -> String {
    let quote = token.find(['"', '\'']).unwrap_or(0);
    let (prefix, quoted) = token.split_at_checked(quote).unwrap_or(("", token));
    let prefix = prefix.to_ascii_lowercase().replace('u', "");
    let width = if quoted.starts_with("\"\"\"") || quoted.starts_with("'''") { 3 } else { 1 };
    let inside = quoted.get(width..quoted.len().saturating_sub(width)).unwrap_or_default();
    if !inside.contains(['"', '\'']) {
        return format!("\"{prefix}:{inside}");
    }
    if prefix.contains(['r', 'f', 't', 'b']) {
        return format!("\"{prefix}:{quoted}");
    }
    format!("\"{prefix}:{}", unquoted(inside))
}

/// The inside of a string without the escapes that only its quotes need.
pub fn unquoted(inside: &str) -> String {
    let mut made = String::with_capacity(inside.len());
    let mut chars = inside.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('"' | '\'')) => {}
            ('\\', Some(_)) => {
                made.push(c);
                made.extend(chars.next());
            }
            _ => made.push(c),
        }
    }
    made
}

/// The file without imports that nothing in it uses, where importing does nothing else.
fn without_unused_imports(lines: Vec<Line>) -> Vec<Line> {
    let mut uses = BTreeMap::<String, usize>::new();
    for token in lines.iter().flat_map(|line| &line.tokens) {
        for word in token.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            *uses.entry(word.to_owned()).or_default() += 1;
        }
    }
    lines.into_iter().filter_map(|line| used_import(line, &uses)).collect()
}

/// The line, or what of it is used.
fn used_import(line: Line, uses: &BTreeMap<String, usize>) -> Option<Line> {
    let words: Vec<&str> = line.tokens.iter().map(String::as_str).collect();
    let unused = |name: &str| uses.get(name) == Some(&1);
    match words.as_slice() {
        ["import", module] if line.depth == 0 && PLAIN_MODULES.contains(module) && unused(module) => None,
        ["from", module, "import", names @ ..] if line.depth == 0 && PLAIN_MODULES.contains(module) => {
            let simple = names.iter().enumerate().all(|(index, name)| (index % 2 == 1) == (*name == ","));
            if !simple {
                return Some(line);
            }
            let kept: Vec<&str> = names.iter().step_by(2).copied().filter(|name| !unused(name)).collect();
            let words = [&["from", module, "import"][..], &kept].concat();
            (!kept.is_empty())
                .then(|| Line { depth: 0, tokens: words.into_iter().map(str::to_owned).collect() })
        }
        _ => Some(line),
    }
}
