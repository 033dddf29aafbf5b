//! Constant patterns, compiled once. Every module that has one keeps it in a `LazyLock`.

use regex::Regex;

/// Compiles a pattern that is written in the code.
#[allow(clippy::expect_used)] // not input: a broken pattern fails the first test that touches it
pub(crate) fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern compiles")
}
