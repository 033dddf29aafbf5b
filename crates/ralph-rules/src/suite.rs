//! How many tests a verification ran, read from what the test runner printed: cargo test and nextest, pytest and
//! unittest, jest, vitest, mocha, node and other TAP, go test, JUnit XML. Bytes in any pieces, bounded memory.
//! `line.rs` cuts and cleans lines, `runners.rs` reads one, `junit.rs` finds suites in XML. Counts come
//! from output that the agent can influence, so they can prevent completion but never cause it.

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

/// Counts in complete output; none without a known runner's summary.
pub fn counts(output: &[u8]) -> Option<Counts> {
    let mut counter = Counter::default();
    counter.feed(output);
    counter.finish()
}

/// Counts while an output streams by.
#[derive(Debug, Default)]
pub struct Counter {
    lines: line::Lines,
    runners: runners::RunnerOutput,
    xml: junit::Suites,
}

impl Counter {
    /// The next piece of the output, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Counter { lines, runners, xml } = self;
        xml.feed(bytes);
        lines.feed(bytes, |line| runners.line(line));
    }

    /// The end of the output. Several summaries are added up; XML counts only without a runner's summary, since it
    /// reports the same tests again.
    pub fn finish(self) -> Option<Counts> {
        let Counter { lines, mut runners, xml } = self;
        lines.finish(|line| runners.line(line));
        runners.total().or_else(|| xml.total())
    }
}
