//! Mixtures: the code of one version with the tests of another.

use super::Moved;
use super::docs::not_run;
use super::lex::{Lexed, lex};
use super::outline::{Item, Key, Kind, Outline, members};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The file `code` with the tests of `tests`. Tests that moved between files stay where `code` has them.
///
/// Tests of the same name are replaced, tests that only `code` has are removed, and tests that only `tests` has are
/// added where they were, or at the end. It compiles if both did, as long as the tests fit the code.
pub fn mix(code: &Outline<'_>, tests: &Outline<'_>, moved: &Moved) -> String {
    let theirs: BTreeMap<&Key, &Item> = tests.items.iter().map(|item| (&item.key, item)).collect();
    let mut used = BTreeSet::new();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for item in &code.items {
        let other = theirs.get(&item.key).copied().filter(|other| same_kind(other, item));
        let text = code.text(item);
        let made = match (&item.kind, other) {
            (Kind::Test, Some(other)) => Some(replaced(text, tests.text(other), moved)),
            (Kind::Test, None) => Some(removed(text, moved)),
            (Kind::Doc(_), Some(other)) if has_examples(item) || has_examples(other) => {
                Some(tests.text(other).to_owned())
            }
            (Kind::Doc(_), None) if has_examples(item) && !is_moved(code, item, moved) => Some(not_run(text)),
            (Kind::Doc(_), _) => None,
        };
        used.extend(other.map(|other| &other.key));
        edits.extend(made.map(|made| (item.span.clone(), made)));
    }
    let missing =
        tests.items.iter().filter(|item| !used.contains(&item.key) && !is_moved(tests, item, moved));
    let places = code.blocks.iter().rev().map(|block| (block.hash, block.close)).collect();
    let additions = Additions { code, tests, moved, places };
    edits.extend(missing.enumerate().filter_map(|(number, item)| additions.added(item, number)));
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    applied(code.lexed.text, &edits)
}

/// A part of the oracle, comparable between versions: without what moved to or from another file.
pub fn comparable(outline: &Outline<'_>, item: &Item, moved: &Moved) -> Option<String> {
    match &item.kind {
        Kind::Doc(doc) => {
            (!doc.examples.is_empty() && !is_moved(outline, item, moved)).then(|| doc.examples.join("\n\n"))
        }
        Kind::Test if is_moved(outline, item, moved) => None,
        Kind::Test if moved.is_empty() => Some(outline.lexed.normal(item.span.clone())),
        Kind::Test => {
            let lexed = lex(outline.text(item));
            let gone: Vec<_> = moved_members(&lexed, moved).collect();
            let kept = cut(lexed.text, gone.iter().map(|(span, _)| span.clone()));
            let only_moved = !gone.is_empty() && members(&lex(&kept)).is_empty();
            (!only_moved).then(|| lex(&kept).normal(0..kept.len()))
        }
    }
}

/// The texts by which a part is recognised in another file: its own and those of the test functions in it.
pub fn recognisable(outline: &Outline<'_>, item: &Item) -> Vec<String> {
    match &item.kind {
        Kind::Doc(doc) if doc.examples.is_empty() => Vec::new(),
        Kind::Doc(_) => own_text(outline, item).into_iter().collect(),
        Kind::Test => {
            let lexed = lex(outline.text(item));
            let inside = members(&lexed).into_iter().map(|span| lexed.normal(span)).collect::<Vec<_>>();
            own_text(outline, item).into_iter().chain(inside).collect()
        }
    }
}

fn own_text(outline: &Outline<'_>, item: &Item) -> Option<String> {
    match &item.kind {
        Kind::Test => Some(outline.lexed.normal(item.span.clone())),
        Kind::Doc(doc) => (!doc.examples.is_empty()).then(|| format!("doc {}", doc.examples.join("\n\n"))),
    }
}

fn is_moved(outline: &Outline<'_>, item: &Item, moved: &Moved) -> bool {
    !moved.is_empty() && own_text(outline, item).is_some_and(|text| moved.contains(&text))
}

fn has_examples(item: &Item) -> bool {
    matches!(&item.kind, Kind::Doc(doc) if !doc.examples.is_empty())
}

fn same_kind(a: &Item, b: &Item) -> bool {
    matches!((&a.kind, &b.kind), (Kind::Test, Kind::Test) | (Kind::Doc(_), Kind::Doc(_)))
}

fn moved_members<'a>(lexed: &'a Lexed<'_>, moved: &'a Moved) -> impl Iterator<Item = (Range<usize>, String)> {
    members(lexed)
        .into_iter()
        .map(|span| (span.clone(), lexed.normal(span)))
        .filter(|(_, text)| moved.contains(text))
}

/// The other version of a test, with the test functions that moved away taken out and those that moved here put in.
fn replaced(ours: &str, theirs: &str, moved: &Moved) -> String {
    if moved.is_empty() {
        return theirs.to_owned();
    }
    let (ours, theirs) = (lex(ours), lex(theirs));
    let here: Vec<_> = moved_members(&ours, moved).collect();
    let there: Vec<_> = moved_members(&theirs, moved).collect();
    let texts =
        |list: &[(Range<usize>, String)]| list.iter().map(|(_, text)| text.clone()).collect::<BTreeSet<_>>();
    let (ours_have, theirs_have) = (texts(&here), texts(&there));
    let gone = there.iter().filter(|(_, text)| !ours_have.contains(text)).map(|(span, _)| span.clone());
    let mut made = cut(theirs.text, gone);
    let arrived: Vec<_> = here.iter().filter(|(_, text)| !theirs_have.contains(text)).collect();
    if let Some(close) = made.rfind('}').filter(|_| !arrived.is_empty()) {
        let texts: Vec<_> = arrived.iter().filter_map(|(span, _)| ours.text.get(span.clone())).collect();
        made.insert_str(close, &format!("\n{}\n", texts.join("\n\n")));
    }
    made
}

/// What is left of a test that the other version has not: the test functions that moved here from another file.
fn removed(text: &str, moved: &Moved) -> String {
    let lexed = lex(text);
    if moved.is_empty() {
        return String::new();
    }
    if moved.contains(&lexed.normal(0..text.len())) {
        return text.to_owned();
    }
    let all = members(&lexed);
    let new = all.iter().filter(|span| !moved.contains(&lexed.normal((*span).clone()))).cloned();
    let new: Vec<_> = new.collect();
    if new.len() == all.len() { String::new() } else { cut(text, new.into_iter()) }
}

/// Puts parts where the other version had them.
struct Additions<'a> {
    code: &'a Outline<'a>,
    tests: &'a Outline<'a>,
    moved: &'a Moved,
    /// The end of each block of the code, by its hash.
    places: BTreeMap<u64, usize>,
}

impl Additions<'_> {
    fn added(&self, item: &Item, number: usize) -> Option<(Range<usize>, String)> {
        let end = self.code.lexed.text.len();
        let text = self.tests.text(item);
        if let Kind::Doc(doc) = &item.kind {
            return (!doc.examples.is_empty()).then(|| (end..end, kept_documentation(text, number)));
        }
        comparable(self.tests, item, self.moved)?;
        let mut text = match self.moved.is_empty() {
            true => text.to_owned(),
            false => cut(text, moved_members(&lex(text), self.moved).map(|(span, _)| span)),
        };
        let mut block = self.tests.blocks.get(item.block)?;
        if already_there(self.code, block.hash, &item.key.1) {
            return None;
        }
        // Out to the first block that both versions have; what lies between is made anew.
        for _ in 0..16 {
            let Some(parent) = block.parent else { return Some((end..end, format!("\n{text}\n"))) };
            if !["mod ", "impl", "trait "].iter().any(|start| block.name.starts_with(start)) {
                return None;
            }
            if let Some(close) = self.places.get(&block.hash) {
                return Some((*close..*close, format!("\n{text}\n")));
            }
            let header = self.tests.lexed.text.get(block.header.clone())?.trim();
            let names =
                if block.name.starts_with("mod ") { "#[allow(unused_imports)] use super::*;" } else { "" };
            text = format!("#[cfg(test)] {header} {{ {names}\n{text}\n}}");
            block = self.tests.blocks.get(parent)?;
        }
        None
    }
}

/// Whether the code itself defines what would be added: a helper or an import that is no longer for tests only.
fn already_there(code: &Outline<'_>, block: u64, name: &str) -> bool {
    let Some(import) = name.strip_prefix("use ") else {
        return code.defined.contains(&(block, name.to_owned()));
    };
    let from = (block, "use ".to_owned());
    let to = (block, "use!".to_owned());
    let ours: BTreeSet<&str> = code.defined.range(from..to).flat_map(|(_, name)| imported(name)).collect();
    let mut names = imported(import).peekable();
    names.peek().is_some() && names.all(|name| ours.contains(name))
}

/// The names that an import brings in.
fn imported(import: &str) -> impl Iterator<Item = &str> {
    let last =
        |part: &'_ str| part.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    import
        .split([',', '}'])
        .map(str::trim_end)
        .filter_map(move |part| part.get(last(part)..))
        .filter(|name| !name.is_empty() && *name != "self")
}

/// Examples of an item that is gone still have to hold.
fn kept_documentation(text: &str, number: usize) -> String {
    let outer = |line: &str| match line.trim_start() {
        line if line.starts_with("//!") => line.replacen("//!", "///", 1),
        line if line.starts_with("/*!") => line.replacen("/*!", "/**", 1),
        line if line.starts_with("#![") => line.replacen("#![", "#[", 1),
        line => line.to_owned(),
    };
    let lines: Vec<_> = text.lines().map(outer).collect();
    format!("\n{}\n#[doc(hidden)]\nmod kept_documentation_{number} {{}}\n", lines.join("\n"))
}

fn cut(text: &str, spans: impl Iterator<Item = Range<usize>>) -> String {
    let edits: Vec<_> = spans.map(|span| (span, String::new())).collect();
    applied(text, &edits)
}

fn applied(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let (mut made, mut from) = (String::with_capacity(text.len()), 0);
    for (span, replacement) in edits.iter() {
        made.push_str(text.get(from..span.start).unwrap_or_default());
        made.push_str(replacement);
        from = span.end.max(from);
    }
    made.push_str(text.get(from..).unwrap_or_default());
    made
}
