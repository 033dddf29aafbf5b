//! The status block as values, and how it is written. `field.rs` reads the values, `block.rs` finds the block.

use serde::{Deserialize, Serialize};

/// First line of a block.
pub const HEAD: &str = "---RALPH_STATUS---";
/// Last line of a block.
pub const END: &str = "---END_RALPH_STATUS---";

/// STATUS: how far the agent says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Progress {
    /// There is more to do.
    InProgress,
    /// All planned work is finished.
    Complete,
    /// A person is needed.
    Blocked,
}

/// TESTS_STATUS: what the agent says of its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Tests {
    /// All pass.
    Passing,
    /// Some fail.
    Failing,
    /// They were not run.
    NotRun,
}

/// WORK_TYPE: the main activity of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WorkType {
    /// New code.
    Implementation,
    /// Writing or fixing tests.
    Testing,
    /// Docs, specs, comments.
    Documentation,
    /// New shape, same behaviour.
    Refactoring,
}

/// A readable status. In a block, missing or unreadable values default to the cautious one: IN_PROGRESS, NOT_RUN, false.
/// `None` is a value that a shorter form, such as a JSON reply, does not give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// STATUS.
    pub status: Option<Progress>,
    /// TASKS_COMPLETED_THIS_LOOP.
    pub tasks_completed: Option<u64>,
    /// FILES_MODIFIED.
    pub files_modified: Option<u64>,
    /// TESTS_STATUS.
    pub tests: Option<Tests>,
    /// WORK_TYPE.
    pub work_type: Option<WorkType>,
    /// EXIT_SIGNAL.
    pub exit_signal: Option<bool>,
    /// RECOMMENDATION, its first line.
    pub recommendation: String,
}

impl Progress {
    /// The word the block uses.
    pub fn word(self) -> &'static str {
        match self {
            Progress::InProgress => "IN_PROGRESS",
            Progress::Complete => "COMPLETE",
            Progress::Blocked => "BLOCKED",
        }
    }
}

impl Tests {
    /// The word the block uses.
    pub fn word(self) -> &'static str {
        match self {
            Tests::Passing => "PASSING",
            Tests::Failing => "FAILING",
            Tests::NotRun => "NOT_RUN",
        }
    }
}

impl WorkType {
    /// The word the block uses.
    pub fn word(self) -> &'static str {
        match self {
            WorkType::Implementation => "IMPLEMENTATION",
            WorkType::Testing => "TESTING",
            WorkType::Documentation => "DOCUMENTATION",
            WorkType::Refactoring => "REFACTORING",
        }
    }
}

/// The block in its exact format, without a line break at the end. The format cannot express unknown values: unknown
/// counts become 0, an unknown WORK_TYPE becomes IMPLEMENTATION, the others the cautious value, and the recommendation is
/// put on one line.
pub fn render(status: &Status) -> String {
    let recommendation = status.recommendation.split_whitespace().collect::<Vec<_>>().join(" ");
    let work_type = status.work_type.unwrap_or(WorkType::Implementation).word();
    format!(
        "{HEAD}\nSTATUS: {}\nTASKS_COMPLETED_THIS_LOOP: {}\nFILES_MODIFIED: {}\nTESTS_STATUS: {}\n\
         WORK_TYPE: {work_type}\nEXIT_SIGNAL: {}\nRECOMMENDATION: {recommendation}\n{END}",
        status.status.unwrap_or(Progress::InProgress).word(),
        status.tasks_completed.unwrap_or(0),
        status.files_modified.unwrap_or(0),
        status.tests.unwrap_or(Tests::NotRun).word(),
        status.exit_signal.unwrap_or(false),
    )
}
