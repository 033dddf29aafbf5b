//! How many tests a verification ran, read from what the test runner printed: cargo test and nextest, pytest and
//! unittest, jest, vitest, mocha, node and other TAP, go test, JUnit XML. Bytes in any pieces, bounded memory.
//! `line.rs` cuts and cleans lines, `runners.rs` reads one, `junit.rs` finds suites in XML. A count is what a program
//! said of itself: it can lower a verdict, never raise one.

mod junit;
mod line;
mod runners;

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::Add;

/// Tests of one or several suites. An expected failure and a "todo" count as skipped: neither proves anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Ran and held.
    pub passed: u32,
    /// Ran and did not.
    pub failed: u32,
    /// Were there and did not run.
    pub skipped: u32,
    /// All of them.
    pub total: u32,
}

impl Counts {
    /// With their total.
    pub fn new(passed: u32, failed: u32, skipped: u32) -> Counts {
        Counts { passed, failed, skipped, total: passed.saturating_add(failed).saturating_add(skipped) }
    }

    /// Tests that ran.
    pub fn ran(&self) -> u32 {
        self.passed.saturating_add(self.failed)
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts::new(
            self.passed.saturating_add(other.passed),
            self.failed.saturating_add(other.failed),
            self.skipped.saturating_add(other.skipped),
        )
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(all: I) -> Counts {
        all.fold(Counts::default(), Add::add)
    }
}

/// Counts of an output that is there already; none where no known runner speaks.
pub fn counts(output: &[u8]) -> Option<Counts> {
    let mut counter = Counter::default();
    counter.feed(output);
    counter.finish()
}

/// Counts while an output streams by.
#[derive(Debug, Default)]
pub struct Counter {
    lines: line::Lines,
    heard: runners::RunnerOutput,
    xml: junit::Suites,
}

impl Counter {
    /// The next piece of the output, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Counter { lines, heard, xml } = self;
        xml.feed(bytes);
        lines.feed(bytes, |line| heard.line(line));
    }

    /// The output is over. Several summaries are added; XML counts only where no runner spoke for itself, since it
    /// tells the same tests again.
    pub fn finish(self) -> Option<Counts> {
        let Counter { lines, mut heard, xml } = self;
        lines.finish(|line| heard.line(line));
        heard.total().or_else(|| xml.total())
    }
}
