//! One line of a test runner's summary → tests. Each runner's words are a table; the forms were taken from real output
//! (`tests/suites/`).

use super::Counts;

/// What a word after a number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Passed,
    Failed,
    Skipped,
    Nothing,
}

use Means::{Failed, Nothing, Passed, Skipped};

/// A runner's words.
type Words = &'static [(&'static str, Means)];

const CARGO: Words = &[
    ("passed", Passed),
    ("failed", Failed),
    ("ignored", Skipped),
    ("measured", Passed),
    ("filtered out", Nothing),
];
const NEXTEST: Words = &[
    ("passed", Passed),
    ("failed", Failed),
    ("exec failed", Failed),
    ("timed out", Failed),
    ("skipped", Skipped),
    ("leaky", Nothing),
];
const PYTEST: Words = &[
    ("passed", Passed),
    ("xpassed", Passed),
    ("failed", Failed),
    ("error", Failed),
    ("errors", Failed),
    ("skipped", Skipped),
    ("xfailed", Skipped),
    ("deselected", Nothing),
    ("warning", Nothing),
    ("warnings", Nothing),
    ("rerun", Nothing),
    ("subtests passed", Nothing),
];
const JEST: Words = &[
    ("passed", Passed),
    ("failed", Failed),
    ("skipped", Skipped),
    ("pending", Skipped),
    ("todo", Skipped),
    ("expected fail", Skipped),
    ("total", Nothing),
];
const UNITTEST: Words = &[
    ("failures", Failed),
    ("errors", Failed),
    ("unexpected successes", Failed),
    ("skipped", Skipped),
    ("expected failures", Skipped),
];
const MOCHA: Words = &[("passing", Passed), ("failing", Failed), ("pending", Skipped)];
const TAP: Words = &[
    ("pass", Passed),
    ("ok", Passed),
    ("fail", Failed),
    ("cancelled", Failed),
    ("skipped", Skipped),
    ("skip", Skipped),
    ("todo", Skipped),
];

/// What the runners of one output have said so far.
#[derive(Debug, Default)]
pub struct RunnerOutput {
    sum: Option<Counts>,
    /// `go test -v` and `-json` name each test; plain `go test` only packages.
    go: Go,
    /// unittest's number of tests, until the line with its verdict.
    unittest: Option<u32>,
    /// mocha and TAP spread a summary over lines.
    listing: Option<Words>,
}

#[derive(Debug, Default)]
struct Go {
    verbose: bool,
    tests: Counts,
    packages: Option<Counts>,
}

impl RunnerOutput {
    /// Reads one line, without colours; most say nothing.
    pub fn line(&mut self, line: &str) {
        let trimmed = line.trim_start();
        let found = match trimmed.as_bytes().first() {
            Some(b't') => line.strip_prefix("test result: ").and_then(cargo),
            Some(b'S') => trimmed.strip_prefix("Summary [").and_then(nextest),
            Some(b'T') => trimmed.strip_prefix("Tests").and_then(jest),
            Some(b'=') if line.starts_with("=== RUN") => {
                self.go.verbose = true;
                None
            }
            Some(b'=' | b'0'..=b'9' | b'n') => self.listed(trimmed).or_else(|| pytest(trimmed)),
            Some(b'#') | Some(0xe2) => self.tap(trimmed),
            Some(b'R' | b'O' | b'N') => self.unittest(line),
            Some(b'F') => self.unittest(line).or_else(|| self.go_package(line)),
            Some(b'-' | b'o' | b'?' | b'{') => {
                self.go_line(trimmed);
                self.go_package(line)
            }
            _ => None,
        };
        self.add(found);
    }

    /// The total; none without a runner's summary.
    pub fn total(&self) -> Option<Counts> {
        let go = if self.go.verbose { Some(self.go.tests) } else { self.go.packages };
        match (self.sum, go) {
            (Some(sum), Some(go)) => Some(sum + go),
            (sum, go) => sum.or(go),
        }
    }

    fn add(&mut self, found: Option<Counts>) {
        if let Some(found) = found {
            self.sum = Some(self.sum.unwrap_or_default() + found);
        }
    }

    /// mocha: `2 passing (18ms)`, then `1 pending`, `1 failing`.
    fn listed(&mut self, line: &str) -> Option<Counts> {
        let (number, word) = line.split_once(' ')?;
        let number: u32 = number.parse().ok()?;
        let word = match word.strip_prefix("passing (") {
            Some(_) => {
                self.listing = Some(MOCHA);
                "passing"
            }
            None if self.listing == Some(MOCHA) => word,
            None => return None,
        };
        one(number, meaning(MOCHA, word)?)
    }

    /// node and others: `# tests 4`, then `# pass 1` and so on; `ℹ` in place of `#` in node's own reporter.
    fn tap(&mut self, line: &str) -> Option<Counts> {
        let (word, number) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?.split_once(' ')?;
        let number: u32 = number.trim().parse().ok()?;
        if word == "tests" {
            self.listing = Some(TAP);
            return Some(Counts::default());
        }
        self.listing.filter(|words| *words == TAP)?;
        one(number, meaning(TAP, word)?)
    }

    /// unittest: `Ran 4 tests in 0.001s`, then `OK` or `FAILED (failures=1, skipped=1)`.
    fn unittest(&mut self, line: &str) -> Option<Counts> {
        if let Some(ran) = line.strip_prefix("Ran ") {
            let (number, rest) = ran.split_once(' ')?;
            self.unittest = if rest.starts_with("test in ") || rest.starts_with("tests in ") {
                number.parse().ok()
            } else {
                None
            };
            return None;
        }
        let verdict =
            ["OK", "FAILED", "NO TESTS RAN"].iter().find_map(|word| line.strip_prefix(word))?.trim();
        if !verdict.is_empty() && !verdict.starts_with('(') {
            return None;
        }
        let ran = self.unittest.take()?;
        let mut counts = Counts::default();
        for part in verdict.trim_matches(['(', ')']).split(", ").filter(|part| !part.is_empty()) {
            let (word, number) = part.split_once('=')?;
            counts = counts + one(number.parse().ok()?, meaning(UNITTEST, word)?)?;
        }
        // An error during class setup is not a test that ran.
        Some(Counts::new(ran.saturating_sub(counts.total), counts.failed, counts.skipped))
    }

    /// `--- PASS: TestA (0.00s)`, indented for subtests; or the same as JSON.
    fn go_line(&mut self, line: &str) {
        let means = if let Some(rest) = line.strip_prefix("--- ") {
            let word = rest.split_once(": ").map(|(word, _)| word);
            match word {
                Some("PASS") => Passed,
                Some("FAIL") => Failed,
                Some("SKIP") => Skipped,
                _ => return,
            }
        } else if line.starts_with("{\"") && line.contains("\"Test\":\"") {
            let action = line.split_once("\"Action\":\"").and_then(|(_, rest)| rest.split_once('"'));
            let means = match action.map(|(action, _)| action) {
                Some("pass") => Passed,
                Some("fail") => Failed,
                Some("skip") => Skipped,
                Some("run") => Nothing,
                _ => return,
            };
            self.go.verbose = true;
            means
        } else {
            return;
        };
        // A plain `go test` shows failing tests alone, and then its packages are what can be counted.
        self.go.verbose |= means == Passed;
        self.go.tests = self.go.tests + one(1, means).unwrap_or_default();
    }

    /// `ok`, `FAIL` or `?`, a tab, the package's name, a tab, the time.
    fn go_package(&mut self, line: &str) -> Option<Counts> {
        let means = match line.split_once('\t') {
            Some(("ok  ", rest)) if rest.contains("[no tests to run]") => Nothing,
            Some(("ok  ", _)) => Passed,
            Some(("FAIL", _)) => Failed,
            Some(("?   ", _)) => Nothing,
            _ => return None,
        };
        let found = one(1, means).unwrap_or_default();
        self.go.packages = Some(self.go.packages.unwrap_or_default() + found);
        None
    }
}

/// `ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`
fn cargo(verdict: &str) -> Option<Counts> {
    let (_, list) = verdict.split_once(". ")?;
    let list = list.split_once("; finished").map_or(list, |(list, _)| list);
    all(CARGO, list, ';')
}

/// `   0.122s] 3 tests run: 2 passed (1 slow), 1 failed, 1 skipped`
fn nextest(rest: &str) -> Option<Counts> {
    let (_, list) = rest.split_once("run: ")?;
    all(NEXTEST, list, ',')
}

/// jest: `:       1 failed, 3 passed, 4 total`; vitest: `  1 failed | 3 passed (4)`.
fn jest(rest: &str) -> Option<Counts> {
    if let Some(list) = rest.strip_prefix(':') {
        return all(JEST, list, ',').filter(|_| list.trim_end().ends_with(" total"));
    }
    let list = rest.strip_prefix("  ")?;
    all(JEST, list, '|').filter(|_| list.trim_end().ends_with(')'))
}

/// `==== 1 failed, 2 passed in 0.03s ====`; without the lines under `-q`.
fn pytest(line: &str) -> Option<Counts> {
    let line = line.trim_matches(['=', ' ']);
    let (list, time) = line.rsplit_once(" in ")?;
    let seconds = time.split_once('s').map_or("", |(seconds, _)| seconds);
    seconds.parse::<f64>().ok()?;
    if list == "no tests ran" { Some(Counts::default()) } else { all(PYTEST, list, ',') }
}

/// A list of numbers with words, all of them known.
fn all(words: Words, list: &str, between: char) -> Option<Counts> {
    list.split(between)
        .map(|part| {
            let part = part.split_once('(').map_or(part, |(part, _)| part).trim();
            let (number, word) = part.split_once(' ')?;
            Some(one(number.parse().ok()?, meaning(words, word)?).unwrap_or_default())
        })
        .sum()
}

fn meaning(words: Words, word: &str) -> Option<Means> {
    words.iter().find(|(name, _)| *name == word).map(|(_, means)| *means)
}

fn one(number: u32, means: Means) -> Option<Counts> {
    match means {
        Passed => Some(Counts::new(number, 0, 0)),
        Failed => Some(Counts::new(0, number, 0)),
        Skipped => Some(Counts::new(0, 0, number)),
        Nothing => None,
    }
}
