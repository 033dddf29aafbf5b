//! Error text to a stable signature: the same error gives the same signature however its numbers, times, places
//! and colours vary. Called on the output of something that failed; what passed has no fingerprint. The guard
//! against repeated errors compares them.

use crate::claim::pattern::pattern;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

/// Distinct error lines per fingerprint: enough to distinguish two failures, few enough to stay cheap.
const LINES: usize = 40;
/// Last lines used if no line looks like an error.
const TAIL: usize = 6;
/// How much of one line takes part, in bytes.
const WIDTH: usize = 400;
/// How much of the first line is shown.
const SHOWN: usize = 100;

/// A signature: a hash to compare, and a few words a person can recognise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint {
    /// 16 hexadecimal digits.
    pub hash: String,
    /// The first error line, normalised and cut.
    pub head: String,
}

/// The signature as one string: the hash, then the words.
pub fn fingerprint(text: &str) -> String {
    Fingerprint::of(text).to_string()
}

impl Fingerprint {
    /// The hash of an output without a line: all that failed in silence has it, whatever failed.
    pub const SILENT: &'static str = "cbf29ce484222325";

    /// Takes the signature of a failing output. The order in which lines come does not matter: parallel test
    /// runners shuffle them.
    pub fn of(text: &str) -> Fingerprint {
        let plain = without_escapes(text);
        let lines =
            || plain.split(['\n', '\r']).map(|line| cut(line.trim(), WIDTH)).filter(|line| !line.is_empty());
        let mut kept = distinct(lines().filter(|line| is_error(line)));
        if kept.is_empty() {
            let mut tail: Vec<_> = lines().rev().take(TAIL).collect();
            tail.reverse();
            kept = distinct(tail.into_iter());
        }
        let head = kept.first().map_or("no output", |line| cut(line, SHOWN)).to_owned();
        kept.sort_unstable();
        Fingerprint { hash: format!("{:016x}", fnv(&kept)), head }
    }
}

/// How much is wrong: the larger one of two outputs of the same error is the one further from done. Numbers are not part of
/// a fingerprint, so it is this that tells "3 errors" from "78 errors".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Failed tests, or errors.
    pub failed: u32,
    /// Tests that pass, if they were counted.
    pub passed: u32,
}

impl ErrorCount {
    /// Counts in a failing output: a number that it names ("3 errors"), otherwise its distinct error lines.
    pub fn of(text: &str) -> ErrorCount {
        let plain = ESCAPE.replace_all(text, "");
        let named = NAMED.captures_iter(&plain).filter_map(|found| found.get(1)?.as_str().parse().ok()).max();
        let lines = || {
            let lines: BTreeSet<&str> =
                plain.split(['\n', '\r']).map(str::trim).filter(|l| is_error(l)).collect();
            u32::try_from(lines.len()).unwrap_or(u32::MAX)
        };
        ErrorCount { failed: named.unwrap_or_else(lines), passed: 0 }
    }

    /// Whether this is better than the best so far.
    pub fn improves(self, best: ErrorCount) -> bool {
        self.failed < best.failed || self.passed > best.passed
    }

    /// The better of both.
    pub fn best(self, other: ErrorCount) -> ErrorCount {
        ErrorCount { failed: self.failed.min(other.failed), passed: self.passed.max(other.passed) }
    }
}

/// "3 errors", "78 type errors remain", "2 tests failed".
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i-u)\b([0-9]{1,9}) (?:[a-z]+ ){0,2}(?:errors?|failed|failures?|failing|problems?)\b")
});

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.hash, self.head)
    }
}

/// Text without what a terminal would obey.
pub(crate) fn without_escapes(text: &str) -> Cow<'_, str> {
    ESCAPE.replace_all(text, "")
}

/// The position of the line that a fingerprint with this `head` shows.
pub(crate) fn shown_line(lines: &[&str], head: &str) -> Option<usize> {
    lines.iter().position(|line| cut(&normal(cut(line, WIDTH)), SHOWN) == head)
}

/// Colours, cursor movements and titles of a terminal.
static ESCAPE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\^-~])"));

/// Words of a line that reports an error.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i-u)error|exception|fail|fatal|panic|traceback|assert|undefined|unresolved|cannot|can't|could not|",
        r"not found|no such|denied|refused|timed? ?out|segmentation|killed|abort|unexpected|expected|invalid|",
        r"missing|mismatch|not ok\b|unable to|^e  ",
    ))
});

/// A line that reports a pass although it mentions errors.
static FINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?i-u)^(?:ok|pass|passed|--- pass)\b|\.\.\. ok$|\bpassed$|"is_error": ?false|"errors?": ?(?:null|false|\[\])|"#,
        r"^(?:[ 0-9.,;:=]*\b(?:0|no) (?:errors?|failures?|failed|warnings?))+[ .!]*$|test result: ok",
    ))
});

fn is_error(line: &str) -> bool {
    ERROR.is_match(line) && !FINE.is_match(line)
}

/// What varies between two occurrences of one error, and its replacement. The order matters.
static VARIES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let day = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*";
    let month = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*";
    let unit = r"(?:ns|us|ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)";
    [
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]+(?: ?(?:Z|UTC|[+-][0-9:]{4,6}))?".to_owned(), "#"),
        (format!(r"\b(?:{day},? )?(?:[0-9]{{1,2}} )?{month} +[0-9]{{1,4}}\b(?:,? [0-9:]+)*"), "#"),
        (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b".to_owned(), "#"),
        (r"\b0x[0-9a-f]+\b".to_owned(), "#"),
        (r"\b(?:req|msg|call|toolu|run|sess|session|id)_[0-9a-z]{8,}\b".to_owned(), "#"),
        // The directories of a path; its last name stays.
        (r"(?:\b[a-z]:)?(?:[0-9a-z_.@~+-]*[/\\])+".to_owned(), ""),
        (r"\.?\btmp[._-]?[0-9a-z_]{6,}\b".to_owned(), "#"),
        (r"\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}\b".to_owned(), "#"),
        (format!(r"\b[0-9]+(?:\.[0-9]+)? ?(?:µs|{unit}\b)(?: ?[0-9]+(?:\.[0-9]+)? ?{unit}\b)*"), "#"),
        (r"[0-9]+(?:[:.,][0-9]+)*(?:e[+-]?[0-9]+)?".to_owned(), "#"),
        (
            r"# (error|warning|test|failure|file|problem|line|item|byte|assertion|example|suite)s\b"
                .to_owned(),
            "# $1",
        ),
        (r"[\s\x00-\x1f\x7f]+".to_owned(), " "),
    ]
    .into_iter()
    .map(|(source, stands)| (pattern(&format!("(?i-u){source}")), stands))
    .collect()
});

/// A line without what varies.
fn normal(line: &str) -> String {
    let mut line = line.to_owned();
    for (varies, stands) in VARIES.iter() {
        if let Cow::Owned(other) = varies.replace_all(&line, *stands) {
            line = other;
        }
    }
    line.trim().to_owned()
}

/// The lines, normalised, each once, in the order they came.
fn distinct<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let fresh = lines.map(normal).filter(|line| !line.is_empty() && seen.insert(line.clone()));
    fresh.take(LINES).collect()
}

fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// FNV-1a over the lines: no secret is kept by it, it only has to be the same tomorrow and on every machine.
fn fnv(lines: &[String]) -> u64 {
    let bytes = lines.iter().flat_map(|line| line.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row holds showings of one error; all rows are different errors.
    const SAME: [&[&str]; 8] = [
        &[
            "error[E0308]: mismatched types\n --> /home/a/x/src/main.rs:12:5\n",
            "\x1b[1m\x1b[31merror[E0308]\x1b[0m: mismatched types\n --> src/main.rs:113:15\n",
            "error[E0308]: mismatched types\r\n --> C:\\work\\src\\main.rs:1:1\r\n",
        ],
        &[
            "thread 'main' (4711) panicked at src/lib.rs:3:9: index 7 out of range",
            "thread 'main' (99) panicked at /tmp/tmp.Ab3dE9/src/lib.rs:310:19: index 12 out of range",
        ],
        &[
            "2026-01-02T03:04:05.678Z ERROR connection refused by 127.0.0.1:5432 after 1.5s",
            "2025-11-30 23:59:59 ERROR connection refused by 10.0.0.7:80 after 820ms",
            "2025-11-30T23:59:59+02:00 ERROR connection refused by 10.0.0.7:80 after 1m 2s",
        ],
        &[
            "fatal: bad object 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
            "fatal: bad object 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
        ],
        &[
            "job 123e4567-e89b-12d3-a456-426614174000 failed",
            "job 00000000-0000-4000-8000-0123456789ab failed",
        ],
        &[
            "test a::b ... FAILED\ntest result: FAILED. 3 passed; 1 failed; finished in 0.02s",
            "test c::parse_error ... ok\ntest a::b ... FAILED\ntest result: FAILED. 4 passed; 1 failed; finished in 12.30s",
        ],
        &["Found 1 error in main.py", "Found 12 errors in lib/main.py"],
        &["API Error 500: req_011CSHoEeqs5C35K2UUqR7Fy", "API Error 529: req_99ZZyoEeqs5C35K2UUq0001"],
    ];

    #[test]
    fn one_error_has_one_signature_and_another_error_another() {
        let mut seen = BTreeSet::new();
        for row in SAME {
            let first = Fingerprint::of(row[0]);
            for text in row {
                assert_eq!(first.hash, Fingerprint::of(text).hash, "{:?}", normal(text));
            }
            assert!(seen.insert(first.hash), "not told apart: {}", row[0]);
        }
    }

    #[test]
    fn shuffled_failures_are_the_same() {
        assert_eq!(
            Fingerprint::of("test a ... FAILED\ntest b ... FAILED").hash,
            Fingerprint::of("test b ... FAILED\ntest x ... ok\ntest a ... FAILED").hash
        );
        assert_ne!(fingerprint("test a ... FAILED"), fingerprint("test b ... FAILED"));
    }

    #[test]
    fn lines_that_passed_are_not_the_error() {
        for line in
            ["{\"is_error\": false}", "0 errors, 0 failed", "ok 3 - error paths", "No errors.", "PASS errors"]
        {
            assert!(!is_error(line), "{line}");
        }
        let loud = Fingerprint::of("{\"is_error\": false}\nassertion failed: a == b");
        assert_eq!(loud.head, "assertion failed: a == b");
    }

    #[test]
    fn it_is_short_and_the_same_for_ever() {
        assert_eq!(fingerprint(""), "cbf29ce484222325 no output");
        for silent in ["", " \n\t\r\n", "\x1b[0m\n"] {
            assert_eq!(Fingerprint::of(silent).hash, Fingerprint::SILENT, "{silent:?}");
        }
        let long = fingerprint(&"error: x ".repeat(10_000));
        assert!(long.len() <= 17 + SHOWN, "{}", long.len());
        assert_eq!(fingerprint("error: exit 3"), fingerprint("error: exit 77"));
    }
}
