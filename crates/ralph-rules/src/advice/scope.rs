//! Whether the scope of a task is clear: what it names (files, code, options, numbers of issues), and the words that leave open when
//! it would be done. Goals without an end are vague unless something measures them; extents without a boundary are vague
//! unless a target is named.

use super::grammar::title;
use super::phrases::at;
use super::words::Word;
use serde::Serialize;

/// Targets that are listed.
const MOST_TARGETS: usize = 8;

/// How well a task is scoped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// Whether it can be told when the task is done.
    pub scoped: bool,
    /// What it names: files, code, options, issues.
    pub targets: Vec<String>,
    /// The words that leave open when it is done.
    pub vague: Vec<String>,
}

/// How well these words are scoped.
pub fn scope(words: &[Word<'_>]) -> Scope {
    let mut targets: Vec<String> = Vec::new();
    for word in words.iter().filter(|word| is_target(word)) {
        if targets.len() < MOST_TARGETS && targets.iter().all(|known| known != word.text) {
            targets.push(word.text.into());
        }
    }
    let measured = measured(words);
    let title = title(words);
    let phrases = |means: &str| -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for place in 0..title.len() {
            let Some(taken) = at("vague", means, title, place) else { continue };
            let said: Vec<&str> = title.iter().skip(place).take(taken).map(|word| word.text).collect();
            let code = title.get(place).is_some_and(|word| word.code);
            if !code && !found.contains(&said.join(" ")) {
                found.push(said.join(" "));
            }
        }
        found
    };
    let mut vague = if measured { Vec::new() } else { phrases("goal") };
    if !measured && targets.is_empty() {
        vague.extend(phrases("extent"));
    }
    let says_something = words.len() > 1 || !targets.is_empty();
    if !says_something {
        vague.extend(words.first().map(|word| word.text.to_owned()));
    }
    Scope { scoped: vague.is_empty() && says_something, targets, vague }
}

/// Whether the first paragraph says how the end is measured.
fn measured(words: &[Word<'_>]) -> bool {
    let first = words.iter().take_while(|word| word.first_paragraph).count();
    let first = words.get(..first).unwrap_or_default();
    (0..first.len()).any(|place| at("measure", "-", first, place).is_some())
        || first
            .windows(2)
            .any(|pair| matches!(pair, [n, unit] if is_number(&n.lower) && is_unit(&unit.lower)))
        || first.iter().any(|word| is_quantity(&word.lower) || word.text.contains('%'))
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

fn is_unit(word: &str) -> bool {
    matches!(
        word,
        "ms" | "s" | "seconds" | "second" | "minutes" | "mb" | "kb" | "gb" | "lines" | "times" | "bytes"
    )
}

/// `200ms`, `2x`.
fn is_quantity(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    unit.len() < word.len() && (is_unit(unit) || unit == "x")
}

/// Whether a word names something that can be found in a repository.
pub fn is_target(word: &Word<'_>) -> bool {
    let text = word.text;
    let numbered = text.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let option = text.starts_with("--") && text.len() > 2;
    let inner = |mark: char| text.trim_matches(mark).contains(mark);
    let mixed = text.chars().skip(1).any(char::is_uppercase) && text.chars().any(char::is_lowercase);
    word.code
        || numbered
        || option
        || is_path(word)
        || inner('_')
        || text.contains("()")
        || text.contains("::")
        || mixed
}

/// Whether a word is a path: `src/list.rs`, `docs/`, `/articles`, `.env`, `Cargo.toml`.
pub fn is_path(word: &Word<'_>) -> bool {
    let text = word.text;
    if matches!(
        word.lower.as_str(),
        "and/or" | "either/or" | "async/await" | "e.g" | "i.e" | "his/her" | "n/a" | "i/o"
    ) {
        return false;
    }
    let words_only = |part: &str| part.chars().all(|c| c.is_alphanumeric());
    if let Some((stem, end)) = text.rsplit_once('.') {
        let extension = !end.is_empty() && end.len() <= 5 && end.chars().all(|c| c.is_ascii_lowercase());
        if extension && (stem.is_empty() || stem.chars().any(char::is_alphabetic)) {
            return true;
        }
    }
    let slashes = text.matches('/').count();
    let begins = text.starts_with('.') && text.len() > 2;
    begins
        || slashes > 1
        || text.ends_with('/')
        || (text.starts_with('/') && text.len() > 1)
        || (slashes == 1 && text.split('/').all(|part| !part.is_empty()) && !text.split('/').all(words_only))
        || (slashes == 1 && DIRECTORIES.iter().any(|dir| text.starts_with(dir)))
}

/// What a path of two plain words begins with; other pairs are `client/server`.
const DIRECTORIES: &[&str] = &[
    "src/",
    "lib/",
    "app/",
    "docs/",
    "doc/",
    "tests/",
    "test/",
    "crates/",
    "packages/",
    "pkg/",
    "cmd/",
    "internal/",
    "config/",
    "scripts/",
    "tools/",
];
