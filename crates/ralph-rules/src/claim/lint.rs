//! Lints: the rules of the status block that a message breaks. A lint decides nothing; it is shown to the user and to the
//! agent. Most are found by `field.rs` and `block.rs`. The details are part of decisions in journals, so they keep their
//! wording.

use super::status::{Progress, Status, Tests};
use serde::{Deserialize, Serialize};

/// Which rule was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Neither a status block nor a promise.
    NoBlock,
    /// More than one complete block; the last one counts.
    MultipleBlocks,
    /// A first line without an end line.
    UnterminatedBlock,
    /// Something follows the block.
    TextAfterBlock,
    /// The block is in a code fence with other text.
    QuotedBlock,
    /// The delimiters are not the exact ones.
    ChangedDelimiter,
    /// The values are the placeholders of the template.
    TemplateValues,
    /// Keys or delimiters in another case, or with bold marks.
    LooseFormat,
    /// The fields are not in their order.
    FieldOrder,
    /// A line in the block that is not a field.
    StrayText,
    /// One of the seven fields is missing.
    MissingField,
    /// A field occurs twice.
    DuplicateField,
    /// A field that is not one of the seven.
    ExtraField,
    /// A value that the field does not allow.
    BadValue,
    /// RECOMMENDATION is empty.
    EmptyRecommendation,
    /// RECOMMENDATION has more than one line.
    MultiLineRecommendation,
    /// BLOCKED always has EXIT_SIGNAL false.
    ExitTrueWhileBlocked,
    /// IN_PROGRESS, yet EXIT_SIGNAL is true.
    ExitTrueWhileInProgress,
    /// Tests fail, yet EXIT_SIGNAL is true.
    ExitTrueWithFailingTests,
    /// Tests were not run, yet EXIT_SIGNAL is true.
    ExitTrueWithTestsNotRun,
    /// Tests fail, so the work is not COMPLETE.
    CompleteWithFailingTests,
    /// COMPLETE, yet EXIT_SIGNAL is false.
    CompleteWithExitFalse,
    /// COMPLETE, yet RECOMMENDATION names a next task.
    CompleteWithNextTask,
    /// BLOCKED, yet RECOMMENDATION does not say by what.
    BlockedWithoutReason,
    /// COMPLETE, yet the plan has open tasks. Needs the plan; never found from the message alone.
    CompleteWithTasksRemaining,
    /// COMPLETE, yet an error is unresolved. Needs to be told so.
    CompleteWithErrors,
    /// COMPLETE, yet work remains besides the tasks. Needs to be told so.
    CompleteWithWorkRemaining,
    /// TESTS_STATUS differs from the test run. Needs a test run.
    TestsStatusNotAsRun,
    /// FILES_MODIFIED differs from the count. Needs a count.
    FilesModifiedNotAsCounted,
    /// The promise is given, the block says EXIT_SIGNAL false: the block decides.
    PromiseAgainstBlock,
    /// The message ends with a promise that is not this run's.
    OtherPromise,
    /// The promise is part of a sentence that denies or postpones it.
    PromiseInSentence,
    /// The promise is given, but not alone on the last line.
    PromiseNotAlone,
    /// TASKS_COMPLETED_THIS_LOOP differs from the plan. Needs the plan.
    TasksCompletedNotAsCounted,
    /// A JSON reply reports errors, yet EXIT_SIGNAL is true.
    ExitTrueWithErrors,
    /// A JSON reply is not valid JSON; it is read as far as possible.
    MalformedJson,
}

/// One broken rule and its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lint {
    /// The rule.
    pub code: Code,
    /// Line of the message, from 1; 0 when it is about the whole message.
    pub line: usize,
    /// What was found there, short.
    pub detail: String,
}

impl Lint {
    /// A lint with its detail cut to a readable length.
    pub fn new(code: Code, line: usize, detail: &str) -> Lint {
        const LONGEST: usize = 120;
        let cut = detail.get(..detail.floor_char_boundary(LONGEST)).unwrap_or_default();
        let detail = if cut.len() < detail.len() { format!("{cut}…") } else { cut.to_owned() };
        Lint { code, line, detail }
    }
}

impl Code {
    /// Its name in records and on screen.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Whether it is about the promise and not about the block.
    pub fn is_about_promise(self) -> bool {
        matches!(self, Code::OtherPromise | Code::PromiseInSentence | Code::PromiseNotAlone)
    }

    /// Whether the block contradicts what was observed.
    pub fn is_about_facts(self) -> bool {
        matches!(
            self,
            Code::CompleteWithTasksRemaining
                | Code::TestsStatusNotAsRun
                | Code::FilesModifiedNotAsCounted
                | Code::TasksCompletedNotAsCounted
        )
    }

    /// Whether the block's own values contradict each other.
    pub fn is_contradiction(self) -> bool {
        matches!(
            self,
            Code::ExitTrueWhileBlocked
                | Code::ExitTrueWhileInProgress
                | Code::ExitTrueWithFailingTests
                | Code::ExitTrueWithTestsNotRun
                | Code::ExitTrueWithErrors
                | Code::CompleteWithFailingTests
                | Code::CompleteWithNextTask
                | Code::CompleteWithTasksRemaining
                | Code::CompleteWithErrors
                | Code::CompleteWithWorkRemaining
                | Code::TestsStatusNotAsRun
        )
    }
}

/// Line numbers of the fields that can contradict each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldLines {
    pub status: usize,
    pub exit: usize,
    pub recommendation: usize,
}

/// The contradictions among a block's values. `progress` is the STATUS as written, if it is readable.
pub(super) fn contradictions(status: &Status, progress: Option<Progress>, lines: FieldLines) -> Vec<Lint> {
    let exit = status.exit_signal == Some(true);
    let denied = status.exit_signal == Some(false);
    let complete = progress == Some(Progress::Complete);
    let blocked = progress == Some(Progress::Blocked);
    let working = progress == Some(Progress::InProgress);
    let failing = status.tests == Some(Tests::Failing);
    let next = status.recommendation.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("next:"));
    let unsaid = blocked && status.recommendation.is_empty();
    let table = [
        (exit && blocked, Code::ExitTrueWhileBlocked, lines.exit, "blocked is not complete"),
        (exit && working, Code::ExitTrueWhileInProgress, lines.exit, "work is still going on"),
        (exit && failing, Code::ExitTrueWithFailingTests, lines.exit, "tests fail"),
        (
            exit && status.tests == Some(Tests::NotRun),
            Code::ExitTrueWithTestsNotRun,
            lines.exit,
            "tests were not run",
        ),
        (complete && failing, Code::CompleteWithFailingTests, lines.status, "tests fail"),
        (complete && denied, Code::CompleteWithExitFalse, lines.status, "fix STATUS or EXIT_SIGNAL"),
        (complete && next, Code::CompleteWithNextTask, lines.recommendation, "a next task is named"),
        (unsaid, Code::BlockedWithoutReason, lines.recommendation, "say what blocks"),
    ];
    let broken = table.into_iter().filter(|row| row.0);
    broken.map(|(_, code, line, why)| Lint::new(code, line, why)).collect()
}
