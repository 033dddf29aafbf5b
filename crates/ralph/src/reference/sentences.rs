//! Every sentence in the sources that a person may read: string literals of all crates outside tests, classified by the
//! call they stand in. New messages appear by themselves, so docs/reference/messages.md cannot miss one.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Crates without text for users.
const SKIPPED_CRATES: &[&str] = &["ralph-testkit"];

/// Parts of paths of files whose strings are not messages, or stand in the section of help already.
const SKIPPED_FILES: &[&str] = &[
    // In the section of help.
    "cli/examples.rs",
    "cli/exit_codes.rs",
    "cli/files.rs",
    "cli/topics.rs",
    // Compared with what agents and test runners print.
    "error_phrases.rs",
    "gemini/failure.rs",
    "gemini/stderr.rs",
    "goose/failure.rs",
    "ralph-agents/src/reset.rs",
    "ralph-rules/src/claim/qualifiers.rs",
    "ralph-rules/src/claim/field.rs",
    "ralph-rules/src/claim/phrases.rs",
    "ralph-rules/src/claim/questions.rs",
    "ralph-rules/src/claim/work.rs",
    "ralph-rules/src/suite/",
    // The scripted agent's imitation of Claude Code.
    "ralph-sim/src/play/",
    "ralph-sim/src/voice/",
    // The protocol between ralph and its supervisor.
    "ralph-supervisor/src/wire.rs",
];

/// Calls whose strings are compared, not printed.
const COMPARED: &[&str] = &[
    "contains",
    "starts_with",
    "ends_with",
    "strip_prefix",
    "strip_suffix",
    "trim_start_matches",
    "split_once",
    "find",
    "matches",
    "replace",
    "execute",
    "execute_batch",
    "prepare",
    "prepare_cached",
    "query_row",
    "assert",
    "assert_eq",
    "debug_assert",
    "debug",
    "trace",
    "debug_span",
    "concat",
];

/// What a sentence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What happened.
    Error,
    /// What to do next.
    Hint,
    /// Anything else: screens, notes, reasons, warnings.
    Text,
}

/// One sentence with placeholders in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub kind: Kind,
    pub text: String,
}

/// The sentences of every source file, by path below `crates/`.
pub fn all() -> Vec<(String, Vec<Sentence>)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for dir in children(crates).filter(|dir| !SKIPPED_CRATES.iter().any(|name| dir.ends_with(name))) {
        sources(&dir.join("src"), &mut files);
    }
    let parsed: Vec<(PathBuf, TokenStream)> = files
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let tokens = text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (path, tokens)
        })
        .collect();
    let tests: BTreeSet<PathBuf> =
        parsed.iter().flat_map(|(path, tokens)| test_modules(path, tokens)).collect();
    let product = parsed.into_iter().filter(|(path, _)| {
        let name = path.display().to_string();
        !SKIPPED_FILES.iter().any(|part| name.contains(part))
            && !tests.iter().any(|test| path.starts_with(test) || path == &test.with_extension("rs"))
    });
    let named = product.map(|(path, tokens)| {
        let name = path.strip_prefix(crates).unwrap().display().to_string();
        (name, of(tokens))
    });
    named.filter(|(_, sentences)| !sentences.is_empty()).collect()
}

fn children(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all.into_iter()
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    if !dir.is_dir() {
        return;
    }
    for path in children(dir) {
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// The modules that a file declares under `#[cfg(test)]`, as paths without `.rs`.
fn test_modules(file: &Path, tokens: &TokenStream) -> Vec<PathBuf> {
    let dir = file.parent().unwrap();
    let stem = file.file_stem().unwrap();
    let base =
        if ["main", "lib", "mod"].iter().any(|root| stem == *root) { dir.into() } else { dir.join(stem) };
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let declared = trees.windows(4).filter_map(|four| match four {
        [
            TokenTree::Punct(mark),
            TokenTree::Group(attribute),
            TokenTree::Ident(word),
            TokenTree::Ident(name),
        ] if mark.as_char() == '#' && is_test(attribute) && word == "mod" => {
            Some(base.join(name.to_string()))
        }
        _ => None,
    });
    declared.collect()
}

fn is_test(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    text == "cfg(test)" || text == "test" || text.starts_with("cfg(all(test")
}

/// The sentences in one file, in order, each once.
fn of(tokens: TokenStream) -> Vec<Sentence> {
    let mut found = Vec::new();
    walk(tokens, Some(Kind::Text), &mut found);
    let mut seen = Vec::new();
    found
        .into_iter()
        .filter(|sentence| {
            !seen.contains(sentence) && {
                seen.push(sentence.clone());
                true
            }
        })
        .collect()
}

/// `kind` is none inside calls whose strings are not printed.
fn walk(tokens: TokenStream, kind: Option<Kind>, found: &mut Vec<Sentence>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut n, outer, mut kind) = (0, kind, kind);
    while let Some(tree) = trees.get(n) {
        n += 1;
        match tree {
            // `let message = …;` becomes the text of a problem.
            TokenTree::Ident(word) if word == "message" && follows(&trees, n, '=') => {
                kind = outer.map(|_| Kind::Error);
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => kind = outer,
            TokenTree::Punct(mark) if mark.as_char() == '#' => n = attribute(&trees, n, found),
            TokenTree::Group(group) => walk(group.stream(), inside(&trees[..n - 1], group, kind), found),
            TokenTree::Literal(literal) => {
                let text = unquoted(&literal.to_string()).filter(|text| is_sentence(text));
                found.extend(kind.zip(text).map(|(kind, text)| Sentence { kind, text }));
            }
            _ => {}
        }
    }
}

fn follows(trees: &[TokenTree], n: usize, mark: char) -> bool {
    matches!(trees.get(n), Some(TokenTree::Punct(next)) if next.as_char() == mark)
}

/// Reads an attribute at `n`: `#[error("…")]` is a message, an item under `#[cfg(test)]` is skipped.
fn attribute(trees: &[TokenTree], n: usize, found: &mut Vec<Sentence>) -> usize {
    // `#![…]` has a mark before the group.
    let n =
        if matches!(trees.get(n), Some(TokenTree::Punct(mark)) if mark.as_char() == '!') { n + 1 } else { n };
    let Some(TokenTree::Group(group)) = trees.get(n) else { return n };
    if is_test(group) {
        let item = trees[n + 1..].iter().position(|tree| match tree {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(mark) => mark.as_char() == ';',
            _ => false,
        });
        return item.map_or(trees.len(), |end| n + 1 + end + 1);
    }
    if matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == "error") {
        walk(group.stream(), Some(Kind::Error), found);
    }
    n + 1
}

/// What the strings in a group are for, by the call before it.
fn inside(before: &[TokenTree], group: &Group, outer: Option<Kind>) -> Option<Kind> {
    let mut idents = before.iter().rev().filter_map(|tree| match tree {
        TokenTree::Ident(word) => Some(Some(word.to_string())),
        TokenTree::Punct(mark) if matches!(mark.as_char(), ':' | '!' | '.') => None,
        _ => Some(None),
    });
    let (last, previous) = (idents.next().flatten(), idents.next().flatten());
    if group.delimiter() == Delimiter::Brace {
        return outer;
    }
    match (previous.as_deref(), last.as_deref()) {
        (Some("Problem"), Some("new")) | (_, Some("Err" | "bad_value")) => outer.map(|_| Kind::Error),
        (_, Some("hint")) => outer.map(|_| Kind::Hint),
        (_, Some(name)) if COMPARED.contains(&name) => None,
        _ => outer,
    }
}

/// The value of a string literal.
fn unquoted(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        let inner = raw.trim_matches('#');
        return inner.strip_prefix('"')?.strip_suffix('"').map(Into::into);
    }
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some('t')) => text.push('\t'),
            ('\\', Some('\n')) => while chars.next_if(|c| c.is_whitespace()).is_some() {},
            ('\\', Some(c @ ('"' | '\\' | '\''))) => text.push(c),
            // Control characters and escapes by number are for terminals, not for readers.
            ('\\', _) => return None,
            (c, _) => text.push(c),
        }
    }
    Some(text)
}

/// Words for a person: at least two, outside placeholders, and not SQL.
fn is_sentence(text: &str) -> bool {
    let mut depth = 0;
    let outside: String = text
        .chars()
        .filter(|c| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth <= 0 && *c != '}'
        })
        .collect();
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.len() > 1
            && word.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '-')
            && word.contains(|c: char| c.is_lowercase())
    };
    outside.split_whitespace().filter(is_word).count() >= 2 && !is_sql(text)
}

fn is_sql(text: &str) -> bool {
    let lower = text.to_lowercase();
    let starts = ["select ", "insert ", "update ", "delete from", "create table", "pragma ", "begin "];
    starts.iter().any(|start| lower.starts_with(start))
        || [" = ?", " limit ?", "?1"].iter().any(|p| lower.contains(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_found_and_classified() {
        let source = r##"
            //! A comment is not a message.
            #[derive(Error)]
            enum Wrong { #[error("cannot read {path}")] Read }
            fn f() {
                let message = format!("the {x} is bad");
                let e = Problem::new(Code::Usage, message).hint("use a good one");
                say(&format!("Run {id} \
                    continues.\n"));
                if text.contains("not a message") { store.execute("SELECT a FROM b"); }
            }
            #[cfg(test)]
            mod tests { fn g() { say("only in a test"); } }
        "##;
        let found = of(source.parse().unwrap());
        let shown: Vec<(Kind, &str)> = found.iter().map(|s| (s.kind, s.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                (Kind::Error, "cannot read {path}"),
                (Kind::Error, "the {x} is bad"),
                (Kind::Hint, "use a good one"),
                (Kind::Text, "Run {id} continues.\n"),
            ]
        );
    }
}
