//! Python: doc strings with examples, where a verify command runs doctests.

#[cfg(test)]
mod tests;
pub(crate) mod tokens;

use super::SourceSplit;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tokens::{Kind, Token, tokens};

/// A doc string, by the names around it.
struct DocString {
    span: Range<usize>,
    /// Its examples: from each prompt to the next blank line.
    examples: Vec<String>,
}

type DocStrings = BTreeMap<(String, usize), DocString>;

/// Takes a changed file apart; `before` is none if it is new. None if it cannot be read.
pub fn split(before: Option<&str>, now: &str) -> Option<SourceSplit> {
    let old = doc_strings(before.unwrap_or_default())?;
    let new = doc_strings(now)?;
    if examples_of(&old) == examples_of(&new) {
        return Some(SourceSplit::Work);
    }
    let without_oracle = mix((now, &new), (before.unwrap_or_default(), &old));
    let Some(before) = before else { return Some(SourceSplit::Both { without_oracle, oracle_only: None }) };
    let oracle_only = mix((before, &old), (now, &new));
    Some(if oracle_only == now {
        SourceSplit::Oracle
    } else {
        SourceSplit::Both { without_oracle, oracle_only: Some(oracle_only) }
    })
}

/// Where code is, in order; between it are comments, doc strings and blanks. None if the text cannot be read.
pub(crate) fn code_spans(text: &str) -> Option<Vec<Range<usize>>> {
    let tokens = tokens(text)?;
    let docs: BTreeSet<usize> =
        doc_tokens(text, &tokens).into_iter().map(|(_, token)| token.span.start).collect();
    let code = tokens.into_iter().filter(|token| token.kind != Kind::Comment && !token.span.is_empty());
    let code = code.filter(|token| token.kind != Kind::Newline && !docs.contains(&token.span.start));
    Some(code.map(|token| token.span).collect())
}

fn examples_of(docs: &DocStrings) -> Vec<&[String]> {
    let mut all: Vec<_> =
        docs.values().map(|doc| doc.examples.as_slice()).filter(|e| !e.is_empty()).collect();
    all.sort();
    all
}

fn doc_strings(text: &str) -> Option<DocStrings> {
    let tokens = tokens(text)?;
    let mut docs = DocStrings::new();
    let mut seen = BTreeMap::<String, usize>::new();
    for (name, token) in doc_tokens(text, &tokens) {
        let number = seen.entry(name.clone()).or_default();
        let examples = examples(text.get(token.span.clone())?);
        docs.insert((name, *number), DocString { span: token.span.clone(), examples });
        *number += 1;
    }
    Some(docs)
}

/// Doc strings with the qualified names of what they document.
fn doc_tokens<'a>(text: &str, tokens: &'a [Token]) -> Vec<(String, &'a Token)> {
    let meant: Vec<&Token> = tokens.iter().filter(|token| token.kind != Kind::Comment).collect();
    let word =
        |token: Option<&&Token>| token.and_then(|token| text.get(token.span.clone())).unwrap_or_default();
    let (mut found, mut names) = (Vec::new(), Vec::<&str>::new());
    // The name whose block comes next, and whether a doc string may stand here.
    let (mut next, mut possible, mut line_start) = ("", true, true);
    for (index, token) in meant.iter().enumerate() {
        match token.kind {
            Kind::Indent => {
                possible = !next.is_empty();
                names.push(std::mem::take(&mut next));
                continue;
            }
            Kind::Dedent => {
                names.pop();
            }
            Kind::Text if possible && meant.get(index + 1).is_some_and(|next| next.kind == Kind::Newline) => {
                let plain = !word(Some(token))
                    .split(['"', '\''])
                    .next()
                    .unwrap_or_default()
                    .contains(['b', 'B', 'f', 'F', 't', 'T']);
                found.extend(plain.then(|| (qualified(&names), *token)));
            }
            Kind::Name if line_start && matches!(word(Some(token)), "def" | "class" | "async") => {
                let offset = if word(Some(token)) == "async" { 2 } else { 1 };
                let named = matches!(word(meant.get(index + offset - 1)), "def" | "class");
                next = if named { word(meant.get(index + offset)) } else { "" };
            }
            Kind::Name if line_start => next = "",
            _ => {}
        }
        possible = false;
        line_start = matches!(token.kind, Kind::Newline | Kind::Dedent);
    }
    found
}

fn qualified(names: &[&str]) -> String {
    names.iter().filter(|name| !name.is_empty()).copied().collect::<Vec<_>>().join(".")
}

fn examples(doc: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut example: Option<String> = None;
    for line in doc.lines().map(str::trim) {
        let line = line.trim_start_matches(['"', '\'']);
        if line.starts_with(">>>") {
            example.get_or_insert_default();
        } else if line.is_empty() {
            found.extend(example.take());
        }
        if let Some(example) = &mut example {
            example.push_str(line);
            example.push('\n');
        }
    }
    found.extend(example);
    found
}

/// The code of one version with the examples of the other.
fn mix((code, ours): (&str, &DocStrings), (tests, theirs): (&str, &DocStrings)) -> String {
    let text = |doc: &DocString| tests.get(doc.span.clone()).unwrap_or_default();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (name, doc) in ours {
        let made = match theirs.get(name) {
            Some(other) if !doc.examples.is_empty() || !other.examples.is_empty() => text(other).to_owned(),
            None if !doc.examples.is_empty() => {
                code.get(doc.span.clone()).unwrap_or_default().replace(">>>", "> >")
            }
            _ => continue,
        };
        edits.push((doc.span.clone(), made));
    }
    edits.sort_by_key(|(span, _)| span.start);
    let (mut made, mut from) = (String::with_capacity(code.len()), 0);
    for (span, replacement) in edits {
        made.push_str(code.get(from..span.start).unwrap_or_default());
        made.push_str(&replacement);
        from = span.end;
    }
    made.push_str(code.get(from..).unwrap_or_default());
    let gone = theirs.iter().filter(|(name, doc)| !doc.examples.is_empty() && !ours.contains_key(name));
    for (number, (_, doc)) in gone.enumerate() {
        let end = if made.is_empty() || made.ends_with('\n') { "" } else { "\n" };
        made.push_str(&format!("{end}\n\ndef kept_documentation_{number}():\n    {}\n", text(doc)));
    }
    made
}
