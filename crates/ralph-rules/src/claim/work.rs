//! The kind of work a message reports: its WORK_TYPE or, without a block, testing if the sentences mention running tests
//! and no change. Other kinds are not guessed.

use super::status::{Status, WorkType};
use super::word_match::{after, after_any, has_stem, starts};

/// Programs with a test command.
const BUILDERS: &[&str] =
    &["bun", "npm", "pnpm", "yarn", "cargo", "go", "make", "mix", "swift", "dotnet", "gradle", "mvn"];
/// Test runners.
const RUNNERS: &[&str] = &["bats", "pytest", "jest", "vitest", "mocha", "rspec", "phpunit", "nextest"];
const RAN: &[&str] = &["ran", "reran", "re-ran", "running", "executed"];
const TESTS: &[&str] = &[
    "tests",
    "the tests",
    "all tests",
    "all the tests",
    "unit tests",
    "the unit tests",
    "integration tests",
    "the integration tests",
    "the test suite",
    "the test",
    "the full test suite",
];

/// Something was made or changed.
const MADE: &[&str] = &[
    "implement",
    "creat",
    "writ",
    "wrote",
    "add",
    "chang",
    "fix",
    "updat",
    "modif",
    "refactor",
    "remov",
    "delet",
    "renam",
    "replac",
    "extract",
    "mov",
    "edit",
    "document",
    "built",
    "introduc",
    "improv",
];

/// The kind of work, as far as the message says.
pub(super) fn work_type(block: Option<&Status>, sentences: &str) -> Option<WorkType> {
    if let Some(block) = block {
        return block.work_type;
    }
    let text = sentences.to_ascii_lowercase();
    let mut tested = false;
    for at in starts(&text) {
        let rest = text.get(at..).unwrap_or_default();
        if has_stem(rest, MADE) {
            return None;
        }
        tested |= runs_tests(rest);
    }
    tested.then_some(WorkType::Testing)
}

fn runs_tests(rest: &str) -> bool {
    let told = |rest: &str| {
        let rest = rest.strip_prefix(" run").unwrap_or(rest);
        rest.strip_prefix(' ').is_some_and(|rest| after(rest, "test").is_some())
    };
    let ran = |rest: &str| rest.strip_prefix(' ').is_some_and(|rest| after_any(rest, TESTS).is_some());
    after_any(rest, RUNNERS).is_some()
        || after_any(rest, BUILDERS).is_some_and(told)
        || after_any(rest, RAN).is_some_and(ran)
}
