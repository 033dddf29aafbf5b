//! Constant patterns, compiled once. Every module that has one keeps it in a `LazyLock`.

use regex::Regex;

/// Compiles a constant pattern.
// A pattern that does not compile is a mistake in the source, and the tests of its module find it.
#[allow(clippy::expect_used)]
pub fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern compiles")
}
