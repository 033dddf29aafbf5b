//! Reads what libtest prints while it passes by: how many tests passed and failed, and the names that matter.

/// A test that did not run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name, with the test program's where that is known.
    pub test: String,
    /// The reason.
    pub why: String,
}

/// What the tests of one command came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests that passed.
    pub passed: usize,
    /// Names of those that failed, each once per failure.
    pub failed: Vec<String>,
    /// Tests marked `#[ignore]`.
    pub skipped: Vec<Skipped>,
    /// The line that has not ended yet.
    line: Vec<u8>,
}

impl Tally {
    /// Takes the next bytes of the output, cut anywhere.
    pub fn feed(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.read(String::from_utf8_lossy(&line).trim_end());
            }
        }
    }

    fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += number_before(counts, " passed;").unwrap_or(0);
        } else if let Some((name, ended)) =
            line.strip_prefix("test ").and_then(|test| test.split_once(" ... "))
        {
            let name = name.strip_suffix(" - should panic").unwrap_or(name).to_owned();
            if ended == "FAILED" {
                self.failed.push(name);
            } else if let Some(why) = ended.strip_prefix("ignored") {
                let why = why.trim_start_matches(", ");
                let why = if why.is_empty() { "marked #[ignore]" } else { why };
                self.skipped.push(Skipped { test: name, why: why.to_owned() });
            }
        }
    }

    /// Tests that passed only because they returned early and said so are skipped, not passed.
    pub fn skip(&mut self, recorded: &str) {
        for line in recorded.lines() {
            let (test, why) = line.split_once('\t').unwrap_or((line, "no reason given"));
            self.skipped.push(Skipped { test: test.to_owned(), why: why.to_owned() });
            self.passed = self.passed.saturating_sub(1);
        }
    }
}

fn number_before(text: &str, word: &str) -> Option<usize> {
    let (before, _) = text.split_once(word)?;
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 4 tests
test trees::background_children ... ok
test layer::only_the_program_sees_the_layer ... FAILED
test slow ... ignored, takes an hour
test odd - should panic ... FAILED

failures:

---- layer::only_the_program_sees_the_layer stdout ----
    assertion failed

failures:
    layer::only_the_program_sees_the_layer
    odd

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s

running 2 tests
test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 5.01s
";

    #[test]
    fn it_counts_the_same_however_the_output_is_cut() {
        for size in [1, 7, 64, OUTPUT.len()] {
            let mut tally = Tally::default();
            OUTPUT.as_bytes().chunks(size).for_each(|chunk| tally.feed(chunk));
            assert_eq!(tally.passed, 13);
            assert_eq!(tally.failed, ["layer::only_the_program_sees_the_layer", "odd"]);
            assert_eq!(tally.skipped, [Skipped { test: "slow".into(), why: "takes an hour".into() }]);
        }
    }

    #[test]
    fn what_returned_early_did_not_pass() {
        let mut tally = Tally { passed: 3, ..Tally::default() };
        tally.skip("supervisor layer::a\tno overlay\nstore full\tneeds root\n");
        assert_eq!((tally.passed, tally.skipped.len()), (1, 2));
        assert_eq!(
            tally.skipped[0],
            Skipped { test: "supervisor layer::a".into(), why: "no overlay".into() }
        );
    }
}
