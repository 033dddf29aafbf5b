//! The line that other programs read, one a run: the loop wrapper's `RalphMetrics`, every field of it under its own
//! name, and a few more. Made from a run's account.

use crate::account::RunAccount;
use crate::ending::Status;
use serde::{Deserialize, Serialize};

/// One run, as metrics have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RalphMetrics {
    /// The run's id.
    pub loop_id: String,
    /// The skill; `none` where none was named.
    pub skill: String,
    /// feature, bug, refactor, test, docs, chore, question or subjective.
    pub task_type: String,
    /// RFC 3339, UTC.
    pub start_time: String,
    /// RFC 3339, UTC.
    pub end_time: String,
    /// COMPLETED, ABORTED or ERROR.
    pub status: String,
    /// Why, where it was not completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_reason: Option<String>,
    /// Iterations that counted.
    pub iterations: u32,
    /// Cost in dollars.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// Active time.
    pub duration_seconds: f64,
    /// Files changed.
    pub files_modified: u32,
    /// Tests that failed before and do not now; 0 where they could not be counted.
    pub tests_fixed: i64,
    /// The promise was given.
    pub completion_promise_detected: bool,
    /// The verification passed at the end.
    pub verification_passed: bool,
    /// What the verifications show; none in runs of older rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// False if some cost is unknown and counted as its estimate.
    pub cost_is_complete: bool,
    /// Whether failing tests could be counted before and after.
    pub tests_counted: bool,
    /// Who worked.
    pub agent: String,
    /// The model that was asked for.
    pub model: Option<String>,
}

impl RalphMetrics {
    /// The metrics of a run that ended; none while it is active. `time` formats a time.
    pub fn of(account: &RunAccount, time: impl Fn(i64) -> String) -> Option<RalphMetrics> {
        let (status, reason, ended) = (account.status?, account.reason?, account.ended?);
        let fixed = account.tests_fixed();
        // The format has no word for an interruption; a run that is resumed later gets a new line.
        let word = match status {
            Status::Completed => "COMPLETED",
            Status::Aborted | Status::Interrupted => "ABORTED",
            Status::Error => "ERROR",
        };
        #[allow(clippy::cast_precision_loss)] // milliseconds of a run fit a double exactly
        let duration_seconds = account.ran as f64 / 1000.0;
        Some(RalphMetrics {
            loop_id: account.run.clone(),
            skill: account.skill.clone().unwrap_or_else(|| "none".into()),
            task_type: account.task_type.name().into(),
            start_time: time(account.started),
            end_time: time(ended),
            status: word.into(),
            abort_reason: (status != Status::Completed).then(|| reason.name().into()),
            iterations: account.iterations(),
            cost_usd: account.cost().usd(),
            duration_seconds,
            files_modified: account.files,
            tests_fixed: fixed.unwrap_or(0),
            completion_promise_detected: account.promise,
            verification_passed: account.verified,
            proof: account.grade.map(|grade| grade.to_string()),
            cost_is_complete: account.unpriced() == 0,
            tests_counted: fixed.is_some(),
            agent: account.agent.clone(),
            model: account.model.clone(),
        })
    }
}
