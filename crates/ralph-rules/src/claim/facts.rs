//! Makes a truthful status block from known facts (the two decision tables of the status protocol as one function), and
//! checks a block against known facts. `ralph block` uses both.

use super::evidence::Evidence;
use super::lint::{Code, Lint};
use super::status::{Progress, Status, Tests, WorkType, render};
use super::{phrases, prose};

/// What is known about an iteration. Unknown facts are not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Tasks finished in it.
    pub tasks_completed: u64,
    /// Tasks that remain.
    pub tasks_remaining: Option<u64>,
    /// Files that changed.
    pub files_modified: Option<u64>,
    /// How the tests ended.
    pub tests: Option<Tests>,
    /// Its main activity.
    pub work_type: Option<WorkType>,
    /// An error is unresolved.
    pub errors: bool,
    /// Meaningful work remains beside the tasks.
    pub work_remains: bool,
    /// What only a person can fix.
    pub blocker: Option<String>,
    /// The next action, or the summary of what was done.
    pub recommendation: String,
}

impl Facts {
    /// The block these facts allow: COMPLETE and EXIT_SIGNAL true only if nothing remains, no error is unresolved and tests
    /// pass. Otherwise there is work left, so STATUS is IN_PROGRESS: COMPLETE with EXIT_SIGNAL false contradicts itself.
    pub fn status(&self) -> Status {
        let tests = self.tests.unwrap_or(Tests::NotRun);
        let finished = self.tasks_remaining == Some(0) && !self.errors && !self.work_remains;
        let status = match &self.blocker {
            Some(_) => Progress::Blocked,
            None if finished && tests == Tests::Passing => Progress::Complete,
            None => Progress::InProgress,
        };
        let recommendation = match self.blocker.as_deref().map(str::trim) {
            Some(blocker) if self.recommendation.is_empty() && !blocker.is_empty() => {
                format!("Blocked: {blocker}")
            }
            _ => self.recommendation.clone(),
        };
        Status {
            status: Some(status),
            tasks_completed: Some(self.tasks_completed),
            files_modified: self.files_modified,
            tests: Some(tests),
            work_type: self.work_type,
            exit_signal: Some(status == Progress::Complete),
            recommendation,
        }
    }

    /// The block as text, or the first rule it would break: only the recommendation can be at fault.
    pub fn block(&self) -> Result<String, Lint> {
        let text = render(&self.status());
        super::read(&text, "").lints.into_iter().next().map_or(Ok(text), Err)
    }

    /// What stands in the way of COMPLETE, one lint for each condition that is not met.
    pub fn why_not_complete(&self) -> Vec<Lint> {
        let complete = Status {
            status: Some(Progress::Complete),
            tests: Some(Tests::Passing),
            tasks_completed: None,
            files_modified: None,
            work_type: None,
            exit_signal: Some(true),
            recommendation: String::new(),
        };
        let tests = Some(self.tests.unwrap_or(Tests::NotRun));
        Facts { tests, ..self.clone() }.against(&complete, 0)
    }

    /// Whether the words of the recommendation say that everything is done.
    pub fn recommends_end(&self) -> bool {
        phrases::families(&prose::of(&self.recommendation)).into_iter().any(Evidence::says_done)
    }

    /// How the words of the recommendation contradict these facts: done without checking, tests that probably pass.
    pub fn against_recommendation(&self) -> Option<Lint> {
        let said = phrases::families(&prose::of(&self.recommendation));
        let tests = self.tests.unwrap_or(Tests::NotRun);
        if said.contains(&Evidence::TestsPass) && tests != Tests::Passing {
            let why = format!("RECOMMENDATION says that the tests pass, but they are {}", tests.word());
            return Some(Lint::new(Code::TestsStatusNotAsRun, 0, &why));
        }
        let done = said.into_iter().find(|kind| kind.says_done())?;
        let first = self.why_not_complete().into_iter().next()?;
        let why =
            format!("RECOMMENDATION says that everything is done ({}), but {}", done.name(), first.detail);
        Some(Lint::new(first.code, 0, &why))
    }

    /// How a block contradicts these facts. `line` is the line of the block.
    pub fn against(&self, status: &Status, line: usize) -> Vec<Lint> {
        let mut lints = Vec::new();
        let complete = status.status == Some(Progress::Complete);
        if let Some(left) = self.tasks_remaining.filter(|left| complete && *left > 0) {
            let why = format!("STATUS says COMPLETE, but tasks remain: {left}");
            lints.push(Lint::new(Code::CompleteWithTasksRemaining, line, &why));
        }
        if complete && self.errors {
            lints.push(Lint::new(Code::CompleteWithErrors, line, "an error is unresolved"));
        }
        if complete && self.work_remains {
            lints.push(Lint::new(Code::CompleteWithWorkRemaining, line, "other work remains"));
        }
        if let (Some(said), Some(ran)) = (status.tests, self.tests)
            && said != ran
        {
            let why = format!("TESTS_STATUS says {}, but the tests are {}", said.word(), ran.word());
            lints.push(Lint::new(Code::TestsStatusNotAsRun, line, &why));
        }
        let said = status.files_modified;
        if let (Some(said), Some(counted)) = (said, self.files_modified)
            && said != counted
        {
            let why = format!("FILES_MODIFIED says {said}, but {counted} changed");
            lints.push(Lint::new(Code::FilesModifiedNotAsCounted, line, &why));
        }
        lints
    }
}
