//! Status fields that a JSON reply gives beside its text, as the agent wrote them (`ralph-agents` finds them). They are
//! worth what a status block is worth: a claim. A block in the text counts instead of them.

use super::block::Found;
use super::field::{count, flag, progress, tests_status, work_type};
use super::lint::{Code, FieldLines, Lint, contradictions};
use super::status::{Progress, Status, Tests};
use serde::{Deserialize, Serialize};

/// The fields. What the reply does not give is `None`; two values that differ are given as both words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedStatus {
    /// STATUS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// TASKS_COMPLETED_THIS_LOOP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_completed: Option<String>,
    /// FILES_MODIFIED.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_modified: Option<String>,
    /// TESTS_STATUS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_status: Option<String>,
    /// WORK_TYPE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_type: Option<String>,
    /// EXIT_SIGNAL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<String>,
    /// RECOMMENDATION.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
    /// The reply says that there were errors. A block has no such field.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_errors: bool,
    /// The reply is not valid JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malformed: Option<Malformed>,
}

/// Why a reply is not valid JSON, and what that means for the rest of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Malformed {
    /// What is wrong, and where.
    pub what: String,
    /// What follows that place is unknown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The text may have gone on, so nothing in it is a claim.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub text_cut: bool,
}

impl ReportedStatus {
    /// Whether it says how the work stands. Other programs have fields of these names too: `"status": "success"` is not
    /// a STATUS.
    pub fn is_claim(&self) -> bool {
        self.exit_signal.is_some() || self.has_errors || self.status.as_deref().and_then(progress).is_some()
    }

    /// The values that the agent worded.
    pub fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let named = [&mut self.status, &mut self.tests_status, &mut self.work_type, &mut self.exit_signal];
        let counted = [&mut self.tasks_completed, &mut self.files_modified, &mut self.recommendation];
        named.into_iter().chain(counted).flatten()
    }

    /// Whether the text beside it may be read as a claim.
    pub(super) fn text_counts(&self) -> bool {
        !self.malformed.as_ref().is_some_and(|malformed| malformed.text_cut)
    }

    /// Adds itself to what was found in the text.
    pub(super) fn add_to(&self, found: &mut Found) {
        if found.status.is_none() && !found.attempted {
            let (status, lints) = self.read();
            found.status = status;
            found.lints.extend(lints);
            // What was lost may be an EXIT_SIGNAL false.
            let stopped = self.malformed.as_ref().is_some_and(|malformed| malformed.stopped);
            found.attempted = stopped && self.exit_signal.is_none();
            // What was lost may also be what contradicts it.
            if let Some(status) = found.status.as_mut().filter(|_| stopped) {
                status.exit_signal = Some(false);
            }
        }
        if let Some(malformed) = &self.malformed {
            found.lints.insert(0, Lint::new(Code::MalformedJson, 0, &malformed.what));
        }
    }

    /// The fields as a status, if they are one. A value that is given but not readable is the cautious one.
    fn read(&self) -> (Option<Status>, Vec<Lint>) {
        let progress_said = self.status.as_deref().and_then(progress);
        if self.exit_signal.is_none() && progress_said.is_none() {
            return (None, Vec::new());
        }
        let mut lints = Vec::new();
        let mut bad = |name: &str, value: &Option<String>, readable: bool| {
            if let Some(value) = value.as_ref().filter(|_| !readable) {
                lints.push(Lint::new(Code::BadValue, 0, &format!("{name}: {value}")));
            }
        };
        let tests = self.tests_status.as_deref().and_then(tests_status);
        let exit = self.exit_signal.as_deref().and_then(flag);
        let work_type = self.work_type.as_deref().and_then(work_type);
        let tasks_completed = self.tasks_completed.as_deref().and_then(count);
        let files_modified = self.files_modified.as_deref().and_then(count);
        bad("STATUS", &self.status, progress_said.is_some());
        bad("TASKS_COMPLETED_THIS_LOOP", &self.tasks_completed, tasks_completed.is_some());
        bad("FILES_MODIFIED", &self.files_modified, files_modified.is_some());
        bad("TESTS_STATUS", &self.tests_status, tests.is_some());
        bad("WORK_TYPE", &self.work_type, work_type.is_some());
        bad("EXIT_SIGNAL", &self.exit_signal, exit.is_some());
        let status = Status {
            status: self.status.as_ref().map(|_| progress_said.unwrap_or(Progress::InProgress)),
            tasks_completed,
            files_modified,
            tests: self.tests_status.as_ref().map(|_| tests.unwrap_or(Tests::NotRun)),
            work_type,
            exit_signal: self.exit_signal.as_ref().map(|_| exit.unwrap_or(false)),
            recommendation: self.recommendation.clone().unwrap_or_default(),
        };
        lints.extend(contradictions(&status, progress_said, FieldLines::default()));
        (Some(status), lints)
    }
}
