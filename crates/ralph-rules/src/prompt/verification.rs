//! The latest verification as templates see it: what failed, the end of its output, and how many tests pass. Counts are
//! those that ralph read from the commands' output (`suite.rs`); without any, none are shown.

use super::tail;
use crate::objection::Objection;
use crate::record::{CheckOutcome, CheckResult, Verified};
use crate::suite::Counts;
use serde::Serialize;

/// Maximum evidence in one prompt, in bytes.
pub const EVIDENCE_BYTES: usize = 6 * 1024;

/// The latest verification.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)] // names and meaning are those of the documentation of templates
pub struct Verification {
    pub passed: bool,
    pub tests: Option<TestCounts>,
    pub failing: Vec<Failing>,
}

/// A command that did not pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Failing {
    pub command: String,
    pub said: String,
    pub tests: Option<TestCounts>,
    pub tail: String,
    pub fence: String,
}

/// How many tests pass and fail.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct TestCounts {
    pub passing: u32,
    pub failing: u32,
    pub skipped: u32,
    pub said: String,
}

impl TestCounts {
    /// The counts and their wording.
    pub fn new(counts: Counts) -> TestCounts {
        let Counts { passed: passing, failed: failing, skipped, .. } = counts;
        let skips = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
        TestCounts { passing, failing, skipped, said: format!("{passing} passing, {failing} failing{skips}") }
    }
}

/// The facts of a verification; if the prompt must be `short`, without output.
pub(super) fn verification(verified: &Verified, short: bool) -> Verification {
    let failing: Vec<_> = verified.results.iter().filter(|r| r.how != CheckOutcome::Passed).collect();
    let room = if short { 0 } else { EVIDENCE_BYTES / failing.len().max(1) };
    let failing: Vec<Failing> = failing.into_iter().map(|result| described(result, room)).collect();
    let known: Vec<Counts> = verified.results.iter().filter_map(counted).collect();
    let tests = (!known.is_empty()).then(|| TestCounts::new(known.into_iter().sum()));
    Verification { passed: failing.is_empty(), tests, failing }
}

fn described(result: &CheckResult, room: usize) -> Failing {
    let objection = Objection::VerificationFailed {
        command: result.command.clone(),
        how: result.how,
        exit: result.exit,
        claimed: false,
    };
    let end = tail(&result.tail, room).trim_end();
    Failing {
        command: result.command.clone(),
        said: objection.say(),
        tests: counted(result).map(TestCounts::new),
        tail: if end.trim().is_empty() { String::new() } else { end.into() },
        fence: fence(end),
    }
}

/// The tests of a command that ran to its end; one that was cut short has counted only some of them.
fn counted(result: &CheckResult) -> Option<Counts> {
    let ended = matches!(result.how, CheckOutcome::Passed | CheckOutcome::Failed);
    result.counts.filter(|_| ended)
}

/// A fence longer than any in the text, so that output cannot break out of it.
pub(super) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
