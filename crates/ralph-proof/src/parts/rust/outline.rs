//! The outline of a Rust source: its blocks, and in them the tests and the doc comments.

use super::docs::{self, DocBlock};
use super::lex::{Lexed, lex};
use super::scan::{Found, Scan};
use std::collections::BTreeSet;
use std::ops::Range;

/// Names an item across versions of a file: a hash of the blocks around it, its signature, and its number among equals.
pub type Key = (u64, String, usize);

/// A block in braces.
#[derive(Clone, Debug)]
pub struct Block {
    /// The block around it; none for the file itself.
    pub parent: Option<usize>,
    /// Where the attributes before its header begin.
    pub start: usize,
    /// What stands before the brace.
    pub header: Range<usize>,
    /// Its signature.
    pub name: String,
    /// The same in two versions if the blocks around it have the same names.
    pub hash: u64,
    /// Where its closing brace is.
    pub close: usize,
}

/// What belongs to the oracle.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A test, or an item that exists only for tests.
    Test,
    /// Documentation; it is a test if it has examples.
    Doc(DocBlock),
}

/// A part that may belong to the oracle.
#[derive(Clone, Debug)]
pub struct Item {
    /// From its first attribute or doc comment to its end.
    pub span: Range<usize>,
    /// Its name across versions.
    pub key: Key,
    /// The block that it is in.
    pub block: usize,
    /// Test or documentation.
    pub kind: Kind,
}

/// A source, taken apart.
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    /// The source itself.
    pub lexed: Lexed<'a>,
    /// The file is the first block.
    pub blocks: Vec<Block>,
    /// In the order of the file.
    pub items: Vec<Item>,
    /// Block and signature of what is defined outside of tests.
    pub defined: BTreeSet<(u64, String)>,
    /// Braces and brackets match.
    pub balanced: bool,
}

impl Outline<'_> {
    /// The text of an item.
    pub fn text(&self, item: &Item) -> &str {
        self.lexed.text.get(item.span.clone()).unwrap_or_default()
    }
}

/// Takes a source apart.
pub fn outline(text: &str) -> Outline<'_> {
    let lexed = lex(text);
    let mut scan = Scan::new(&lexed.code, false);
    scan.run();
    let Scan { blocks, mut found, attribute_docs, defined, balanced, whole_file, .. } = scan;
    if whole_file {
        found =
            vec![Found { span: 0..text.len(), name: "#![cfg(test)]".to_owned(), block: 0, function: false }];
    }
    let mut items = docs::attach(&lexed, &blocks, &mut found, &attribute_docs);
    items.extend(found.into_iter().map(|found| Item {
        key: (blocks.get(found.block).map_or(0, |block| block.hash), found.name, 0),
        span: found.span,
        block: found.block,
        kind: Kind::Test,
    }));
    items.sort_by_key(|item| item.span.start);
    number(&mut items);
    Outline { lexed, blocks, items, defined, balanced }
}

/// The test functions inside a test module, at any depth.
pub fn members(lexed: &Lexed<'_>) -> Vec<Range<usize>> {
    let mut scan = Scan::new(&lexed.code, true);
    scan.run();
    scan.found.into_iter().map(|found| found.span).collect()
}

fn number(items: &mut [Item]) {
    let mut seen = std::collections::BTreeMap::<(u64, String), usize>::new();
    for item in items {
        let count = seen.entry((item.key.0, item.key.1.clone())).or_default();
        item.key.2 = *count;
        *count += 1;
    }
}
