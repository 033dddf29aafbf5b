//! Rust: test modules, test functions, and doc comments with examples.

use super::SourceSplit;
use std::collections::BTreeSet;

/// Tests that moved from one file to another unchanged: their squeezed texts. They are no change of the oracle.
pub type Moved = BTreeSet<String>;

/// Takes a changed file apart; `before` is none if it is new. None if it cannot be read as Rust.
pub fn split(_before: Option<&str>, _now: &str, _moved: &Moved) -> Option<SourceSplit> {
    None
}

/// The squeezed texts of all tests in a file, for finding moved ones.
pub fn tests(_text: &str) -> BTreeSet<String> {
    BTreeSet::new()
}

/// Whether the file has any test of its own or declares a test module.
pub fn has_tests(_text: &str) -> bool {
    false
}

/// Names of modules that exist only for tests and lie in files of their own (`#[cfg(test)] mod tests;`), each with its
/// `#[path]`, if it has one.
pub fn test_modules(_text: &str) -> Vec<(String, Option<String>)> {
    Vec::new()
}
