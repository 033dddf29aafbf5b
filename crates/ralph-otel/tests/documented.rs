//! docs/traces.md lists every attribute, and no other.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![allow(missing_docs, clippy::disallowed_methods)] // traces know no files; their tests read journals

use std::collections::BTreeSet;
use std::path::Path;

/// The names between this character and the next one of its kind that look like attributes.
fn attributes(text: &str, quote: char) -> BTreeSet<&str> {
    let known = |word: &&str| ["gen_ai.", "ralph.", "error."].iter().any(|start| word.starts_with(start));
    let plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '.' || c == '_');
    text.split(quote).filter(known).filter(plain).collect()
}

#[test]
fn the_page_lists_every_attribute() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/traces.md")).unwrap();
    let table = page.split_once("## Attributes").unwrap().1;
    let mut sources = String::new();
    for entry in std::fs::read_dir(root.join("src/span")).unwrap() {
        sources += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    sources += &std::fs::read_to_string(root.join("src/span.rs")).unwrap();
    let (documented, used) = (attributes(table, '`'), attributes(&sources, '"'));
    assert!(used.len() > 40, "{used:?}");
    assert_eq!(documented, used);
}
