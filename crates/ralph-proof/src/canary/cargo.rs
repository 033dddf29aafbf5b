//! cargo test and cargo nextest.

use super::commands::Commands;
use super::{Canary, MOST_PLACES, directory, ended, file_name, is_foreign};
use crate::files::Files;
use crate::parts::rust::has_tests;
use crate::pattern::pattern;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static RUNNER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\bcargo\s+(?:[+\-]\S+\s+)*(?:t|test|nextest|llvm-cov|tarpaulin)\b"));

const STYLES: [(&str, &str); 4] = [
    ("panic", "panic!(\"canary\");"),
    ("equal", "assert_eq!(String::from(\"a\"), \"b\");"),
    ("differ", "assert_ne!(String::from(\"a\"), \"a\");"),
    ("assert", "assert!(String::new().contains('a'));"),
];

pub fn canary(room: &Files<'_>, commands: &Commands, token: &str) -> Option<Canary> {
    if !RUNNER.is_match(&commands.text) {
        return None;
    }
    let mut canary = Canary::default();
    for (number, path) in targets(room).into_iter().take(MOST_PLACES).enumerate() {
        let Some(text) = room.text(&path) else { continue };
        let prefix = format!("ralph_{token}_{number}");
        canary.names.extend(STYLES.iter().map(|(style, _)| format!("{prefix}_{style}")));
        let made = format!("{}\n{}", ended(&text), module(&prefix));
        canary.files.push((path, made.into_bytes()));
    }
    (!canary.files.is_empty()).then_some(canary)
}

/// The roots of crates that have tests: each library, binary and file of integration tests.
fn targets(room: &Files<'_>) -> Vec<Vec<u8>> {
    let sources = room.paths().filter(|path| path.ends_with(b".rs") && !is_foreign(path));
    let mut found = BTreeMap::<Vec<u8>, ()>::new();
    for path in sources {
        let roots = roots(room, path);
        let new = roots.iter().any(|root| !found.contains_key(root));
        if new && room.text(path).is_some_and(|text| has_tests(&text)) {
            found.extend(roots.into_iter().map(|root| (root, ())));
        }
        if found.len() >= MOST_PLACES {
            break;
        }
    }
    found.into_keys().collect()
}

/// The crates that a source belongs to.
fn roots(room: &Files<'_>, path: &[u8]) -> Vec<Vec<u8>> {
    let directory = directory(path);
    if directory.ends_with(b"src/bin/") {
        return vec![path.to_vec()];
    }
    let integration = directory == b"tests/" || directory.ends_with(b"/tests/");
    if integration && !file_name(path).starts_with(b"mod.") && !within_sources(directory) {
        return vec![path.to_vec()];
    }
    let Some(end) = memchr::memmem::rfind(directory, b"src/").map(|at| at + 4) else { return Vec::new() };
    let sources = directory.get(..end).unwrap_or_default();
    let roots = [&b"lib.rs"[..], b"main.rs"].map(|name| [sources, name].concat());
    roots.into_iter().filter(|root| room.contains(root)).collect()
}

fn within_sources(directory: &[u8]) -> bool {
    directory.starts_with(b"src/") || memchr::memmem::find(directory, b"/src/").is_some()
}

/// Laid out as rustfmt and clippy want it, so that a check of those before the tests passes.
fn module(prefix: &str) -> String {
    let tests: Vec<_> = STYLES
        .iter()
        .map(|(style, line)| format!("    #[test]\n    fn {prefix}_{style}() {{\n        {line}\n    }}\n"))
        .collect();
    format!("#[cfg(test)]\nmod {prefix} {{\n{}}}\n", tests.join("\n"))
}
