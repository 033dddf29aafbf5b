//! Names of failing tests, as the runners that ralph knows print them.

use crate::pattern::pattern;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Each pattern's first group is a name. They are tried on every line by itself.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let sources = [
        // cargo test, as it goes and in its summary
        r"^test (\S.*?)(?: - should panic)? \.\.\. FAILED\b",
        r"^---- (\S.*?) stdout ----$",
        // nextest
        r"^\s+(?:FAIL|TIMEOUT|SIGABRT|SIGSEGV|ABORT) \[\s*[\d.]+s\](?: \(\s*\d+/\d+\))? (\S.*)$",
        // pytest: the short summary, the verbose list
        r"^(?:FAILED|ERROR) (\S+?\.py(?:::.+?)?)(?: - .*)?$",
        r"^(\S+\.py::\S.*?) (?:FAILED|ERROR)(?:\s+\[\s*\d+%\])?$",
        // unittest
        r"^(?:FAIL|ERROR): (\S+ \([^()]+\)|\S+)",
        // TAP: node:test, bats, prove, mocha's and vitest's reporters
        r"^\s*not ok \d+ (?:- )?(\S.*?)$",
        r"^\s*not ok - (\S.*?)$",
        // node:test's spec reporter, mocha's spec reporter
        r"^\s*✖ (\S.*?)(?: \([\d.]+m?s\))?$",
        r"^\s*[✗✕×] (\S.*?)(?:\s+\(?[\d.]+\s?m?s\)?)?$",
        // jest, vitest
        r"^\s*● (\S.*)$",
        r"^\s*FAIL\s+(\S+\.[cm]?[jt]sx?(?: > .+))$",
        // mocha's summary
        r"^\s+\d+\) (\S.*?):?$",
        // go test
        r"^\s*--- FAIL: (\S+)",
        // ctest
        r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run|Exception|ILLEGAL|NUMERICAL|OTHER_FAULT|Subprocess aborted)[^)]*\)",
        // rspec
        r"^rspec (\S+) #",
        // phpunit, JUnit as maven, surefire and gradle print it
        r"^\d+\) (\S+::\S+)",
        r"^(?:\[ERROR\]\s+)?(\S+(?:\.\S+|\(\S+\))).*<<< (?:FAILURE|ERROR)!",
        r"^(\S+ > \S.*?) FAILED$",
        // Google Test, dotnet test, deno
        r"^\[  FAILED  \] (\S+\.\S+?)(?:,| \(|$)",
        r"^\s+Failed (\S.*?) \[[^\]]+\]$",
        r"^(\S.*?) => \S+:\d+:\d+$",
    ];
    sources.into_iter().map(pattern).collect()
});

/// Lines that look like a name and are none.
static NOISE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^(?:# (?:todo|skip)|.*\s# (?:todo|skip)\b|failing tests:?$|tests? (?:suites?|files)? ?failed|",
        r"console\.\w+$|validation (?:error|warning)|deprecat\w+|cannot log after tests|test suite failed to run$|",
        r"\d+ (?:of \d+ )?(?:tests?|suites?|specs?) failed|failed tests?\b|test failed$)"
    ))
});

static COLOUR: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))"));
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?: \(line \d+\)| # time=[\d.]+m?s| in \d+m?s| \(\d+(?:\.\d+)? ?m?s\)| \d+ms)$")
});

/// No name is longer; a longer line is not looked at.
const LONGEST_LINE: usize = 2000;

/// The names in this output; empty for a runner that is not known.
pub fn failed_tests(output: &str) -> BTreeSet<String> {
    let plain = COLOUR.replace_all(output, "");
    let lines = plain.split(['\n', '\r']).filter(|line| line.len() <= LONGEST_LINE);
    lines.filter_map(name).collect()
}

fn name(line: &str) -> Option<String> {
    let line = line.trim_end();
    let name = PATTERNS.iter().find_map(|pattern| pattern.captures(line)?.get(1))?;
    let name = DURATION.replace(name.as_str().trim(), "").into_owned();
    (!NOISE.is_match(&name)).then_some(name)
}

#[cfg(test)]
#[path = "failed_tests/tests.rs"]
mod tests;
