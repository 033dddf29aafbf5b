//! Rust: test modules, test functions, and doc comments with examples.

mod attributes;
mod docs;
mod lex;
mod mix;
mod outline;
mod scan;
mod sig;
#[cfg(test)]
mod tests;

use super::SourceSplit;
use mix::{comparable, mix, recognisable};
use outline::{Kind, Outline, outline};
use std::collections::BTreeSet;

/// Tests that moved from one file to another unchanged, as [`tests()`] gives them. They are no change of the oracle.
pub type Moved = BTreeSet<String>;

/// Takes a changed file apart; `before` is none if it is new. None if it cannot be read as Rust.
pub fn split(before: Option<&str>, now: &str, moved: &Moved) -> Option<SourceSplit> {
    let old = outline(before.unwrap_or_default());
    let new = outline(now);
    if !old.balanced || !new.balanced {
        return None;
    }
    if oracle(&old, moved) == oracle(&new, moved) {
        return Some(SourceSplit::Work);
    }
    if code(&old) == code(&new) {
        return Some(SourceSplit::Oracle);
    }
    Some(SourceSplit::Both {
        without_oracle: mix(&new, &old, moved),
        oracle_only: before.map(|_| mix(&old, &new, &Moved::new())),
    })
}

/// The texts of all tests in a file, without what layout adds, for finding moved ones.
pub fn tests(text: &str) -> BTreeSet<String> {
    let outline = outline(text);
    outline.items.iter().flat_map(|item| recognisable(&outline, item)).collect()
}

/// Whether the file has any test of its own or declares a test module.
pub fn has_tests(text: &str) -> bool {
    outline(text).items.iter().any(|item| match &item.kind {
        Kind::Test => true,
        Kind::Doc(doc) => !doc.examples.is_empty(),
    })
}

/// Names of modules that exist only for tests and lie in files of their own (`#[cfg(test)] mod tests;`), each with its
/// `#[path]`, if it has one.
pub fn test_modules(text: &str) -> Vec<(String, Option<String>)> {
    let outline = outline(text);
    let declared = outline.items.iter().filter(|item| outline.lexed.normal(item.span.clone()).ends_with(';'));
    declared
        .filter_map(|item| {
            let name = item.key.1.strip_prefix("mod ")?;
            let path = outline.text(item).split_once("path").and_then(|(_, rest)| {
                rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?.split_once('"')
            });
            Some((name.to_owned(), path.map(|(path, _)| path.to_owned())))
        })
        .collect()
}

/// Where code and literals are, in order; between them are comments and blanks.
pub(crate) fn code_spans(text: &str) -> Vec<std::ops::Range<usize>> {
    let lexed = lex::lex(text);
    let mut spans: Vec<_> = words(&lexed.code).collect();
    spans.extend(
        lexed.hidden.iter().filter(|(_, hides)| *hides == lex::Hides::Literal).map(|(span, _)| span.clone()),
    );
    spans.sort_by_key(|span| span.start);
    spans
}

/// The text in order, without ordinary comments: pieces of code, and between them literals and documentation.
pub(crate) fn literals_and_code(text: &str) -> Vec<(&str, bool)> {
    let lexed = lex::lex(text);
    let (mut pieces, mut from) = (Vec::new(), 0);
    for (span, hides) in &lexed.hidden {
        pieces.extend(text.get(from..span.start).map(|code| (code, true)));
        let kept = text.get(span.clone()).filter(|_| *hides != lex::Hides::Comment);
        pieces.extend(kept.map(|kept| (kept.trim_end(), false)));
        from = span.end;
    }
    pieces.extend(text.get(from..).map(|code| (code, true)));
    pieces
}

fn words(code: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    code.split_whitespace().map(|word| {
        let start = word.as_ptr().addr() - code.as_ptr().addr();
        start..start + word.len()
    })
}

/// Everything in a file that belongs to the oracle, in an order that does not depend on its place or owner.
fn oracle(outline: &Outline<'_>, moved: &Moved) -> Vec<String> {
    let mut parts: Vec<_> =
        outline.items.iter().filter_map(|item| comparable(outline, item, moved)).collect();
    parts.sort();
    parts
}

/// The rest, without layout.
fn code(outline: &Outline<'_>) -> String {
    let (mut made, mut from) = (String::new(), 0);
    for item in outline.items.iter().filter(|item| matches!(item.kind, Kind::Test)) {
        made.push_str(&outline.lexed.normal(from..item.span.start));
        from = item.span.end;
    }
    made.push_str(&outline.lexed.normal(from..outline.lexed.text.len()));
    made
}
