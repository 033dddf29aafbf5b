//! Finds errors in a message: lines in the format in which programs print them. Sentences about errors do not count.
//! Used for responses analyzed outside of a run; in a run ralph sees the verify commands' output itself.

use crate::claim::pattern::pattern;
use crate::fingerprint::Fingerprint;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Distinct errors reported per message, at most.
const MOST: usize = 10;
/// How much of a line is looked at.
const WIDTH: usize = 400;

/// Compilers, interpreters, test runners, package managers.
static REPORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?i:(?:fatal |internal |compile |build |syntax |api )?error(?: ?\[?[A-Z]*[0-9]+\]?)?: )|",
        r"[^ :]+(?::[0-9]+){1,2}: (?:fatal )?error: |[^ (]+\([0-9]+,[0-9]+\): error |",
        r"(?:[A-Za-z_]+\.)*[A-Z][A-Za-z]*(?:Error|Exception)(?:: |$)|",
        r"(?i:fatal: )|FATAL[: ]|panic: |thread '[^']*' .{0,40}panicked at |Traceback \(most recent call last\)|",
        r"npm (?:ERR!|error) |FAILED |--- FAIL: |not ok [0-9]+|test [^ ]+ \.\.\. FAILED)",
    ))
});

/// Every such line has one of these. Most messages have none, and the pattern is expensive to compile.
const SIGNS: [&str; 10] =
    ["rror", "RROR", "ERR!", "xception", "atal", "FATAL", "panic", "Traceback", "FAIL", "not ok "];

/// The errors a message reports, each kind once, in their order.
pub fn reported(message: &str) -> Vec<Fingerprint> {
    if !SIGNS.iter().any(|sign| message.contains(sign)) {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let errors = lines(message).map(Fingerprint::of).filter(|error| seen.insert(error.hash.clone()));
    errors.take(MOST).collect()
}

/// One fingerprint for all errors of a message, independent of their order.
pub fn signature(errors: &[Fingerprint]) -> Option<Fingerprint> {
    let first = errors.first()?;
    let mut hashes: Vec<&str> = errors.iter().map(|error| error.hash.as_str()).collect();
    hashes.sort_unstable();
    let hash = if errors.len() == 1 { first.hash.clone() } else { Fingerprint::of(&hashes.join("\n")).hash };
    Some(Fingerprint { hash, head: first.head.clone() })
}

fn lines(message: &str) -> impl Iterator<Item = &str> {
    let cut = |line: &'_ str| line.floor_char_boundary(WIDTH);
    let lines = message.split('\n').map(str::trim).map(move |line| line.get(..cut(line)).unwrap_or(line));
    lines.filter(|line| REPORT.is_match(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_shape_of_an_error_are_found() {
        for line in [
            "error: could not compile `x`",
            "Error: Cannot find module 'y'",
            "ERROR: it broke",
            "error[E0308]: mismatched types",
            "src/a.c:3:4: error: expected ';'",
            "src/a.ts(3,4): error TS2322: Type 'x'",
            "TypeError: undefined is not a function",
            "java.lang.NullPointerException: x",
            "fatal: not a git repository",
            "thread 'main' panicked at src/lib.rs:3:9: boom",
            "Traceback (most recent call last):",
            "npm ERR! missing script: test",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "--- FAIL: TestA (0.00s)",
            "test a::b ... FAILED",
            "not ok 3 - adds numbers",
        ] {
            assert_eq!(reported(&format!("I ran it:\n```\n  {line}\n```\n")).len(), 1, "{line}");
        }
    }

    #[test]
    fn words_about_errors_are_none() {
        for line in [
            "{\"is_error\": false}",
            "I fixed the error: it was a typo",
            "Errors: 0",
            "The error handling now says Error: x",
            "- Error messages are clearer",
            "error",
            "No errors.",
            "FAILED_STATES is a table",
            "it fails with TypeError: x when empty",
        ] {
            assert_eq!(reported(line), [], "{line}");
        }
    }

    #[test]
    fn the_same_errors_have_the_same_signature() {
        let sign = |text: &str| signature(&reported(text)).map(|error| error.hash);
        let first = sign("error: a at line 3\nTypeError: b");
        assert!(first.is_some());
        assert_eq!(first, sign("TypeError: b\nTypeError: b\nerror: a at line 99"));
        assert_ne!(first, sign("TypeError: b"));
        assert_eq!(sign("nothing"), None);
    }
}
