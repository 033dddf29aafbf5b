//! The read model: what lists and screens show without folding a journal.
//! Written in the same transaction as the records it sums up, so it can never disagree with them for long.

use serde::{Deserialize, Serialize};

/// One run as lists show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    /// The run's id.
    pub id: String,
    /// The workspace it works in.
    pub workspace: String,
    /// First line of the task.
    pub task: String,
    /// The agent's name.
    pub agent: String,
    /// When it started, UTC milliseconds.
    pub started: i64,
    /// When it was last written to, UTC milliseconds.
    pub updated: i64,
    /// Running, waiting, or how it ended.
    pub status: String,
    /// Why it is so, when there is more to say.
    pub reason: Option<String>,
    /// Exit code, once ended.
    pub exit_code: Option<i32>,
    /// Iterations so far.
    pub iterations: u32,
    /// Micro-dollars booked so far.
    pub cost_micro: i64,
    /// False when a part of the cost was unpriced and booked at its reservation.
    pub cost_complete: bool,
    /// Result of the last verification, if there was one.
    pub verified: Option<bool>,
    /// What the verifications show, once ended.
    pub proof: Option<String>,
    /// Number of the newest record this row knows of.
    pub head: u64,
    /// Process that holds the run, if one does.
    pub pid: Option<u32>,
    /// The run can be taken up again.
    pub resumable: bool,
    /// The model that was asked for.
    pub model: Option<String>,
    /// Iterations at most; 0 in rows of an older ralph.
    pub max_iterations: u32,
    /// Micro-dollars at most; 0 in rows of an older ralph.
    pub max_cost_micro: i64,
    /// Milliseconds of active time at most, if that is limited.
    pub max_ms: Option<i64>,
    /// When a wait ends, UTC milliseconds, while the run waits and that is known.
    pub until: Option<i64>,
    /// State of the circuit breaker.
    pub breaker: Option<String>,
    /// Micro-dollars seen in the call under way, not booked yet.
    pub live_micro: i64,
    /// The latest reason in words: why it ended, why it continues.
    pub why: Option<String>,
    /// Failing tests before the first call, where they could be counted.
    pub failing_before: Option<u32>,
}

/// One attempt of one iteration as lists show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationRow {
    /// The run's id.
    pub run: String,
    /// Number of the iteration, from 1.
    pub n: u32,
    /// Attempt within the iteration, from 1.
    pub attempt: u32,
    /// When it began, UTC milliseconds.
    pub at: i64,
    /// How long it took.
    pub dur_ms: i64,
    /// Micro-dollars booked for it.
    pub cost_micro: i64,
    /// Files changed.
    pub files: u32,
    /// Result of its verification, if there was one.
    pub verified: Option<bool>,
    /// What was decided after it.
    pub decision: String,
    /// Class of the failure, if it failed.
    pub failure: Option<String>,
    /// It brought the files to a state not seen before in the run; none while it is under way.
    pub progress: Option<bool>,
    /// Failing tests in its verification, where they could be counted.
    pub failing: Option<u32>,
    /// Rung of the ladder that worked, from 0.
    pub rung: u32,
    /// Fingerprint of the error it ended with.
    pub error: Option<String>,
    /// What it cost is not known exactly: its call was never settled, or settled with an estimate.
    pub cost_unknown: bool,
}

/// Which runs to list; newest first, in the order in which they were started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only this workspace.
    pub workspace: Option<String>,
    /// Only ids that begin so.
    pub prefix: Option<String>,
    /// Only runs that can (or cannot) be resumed.
    pub resumable: Option<bool>,
    /// Only runs without an exit code (`true`), or with one.
    pub open: Option<bool>,
    /// Only runs with one of these in `status` or `reason`; empty: all.
    pub states: Vec<String>,
    /// Only runs of this agent.
    pub agent: Option<String>,
    /// Only runs with this text, in upper or lower case, in id, task, workspace, agent or model.
    pub text: Option<String>,
    /// Only runs that were started before this one; none at all if there is no such run.
    pub before: Option<String>,
    /// At most this many.
    pub limit: Option<u32>,
}

impl RunFilter {
    /// Whether a run is asked for, its place in the order aside.
    pub(crate) fn admits(&self, run: &RunRow) -> bool {
        let holds = |text: &str| {
            let within = |whole: &str| whole.to_ascii_lowercase().contains(&text.to_ascii_lowercase());
            let model = run.model.as_deref().unwrap_or_default();
            [&run.id, &run.task, &run.workspace, &run.agent].into_iter().any(|part| within(part))
                || within(model)
        };
        let is_state = |state: &String| run.status == *state || run.reason.as_ref() == Some(state);
        self.workspace.as_ref().is_none_or(|wanted| run.workspace == *wanted)
            && self.prefix.as_ref().is_none_or(|prefix| run.id.starts_with(prefix.as_str()))
            && self.resumable.is_none_or(|wanted| run.resumable == wanted)
            && self.open.is_none_or(|open| run.exit_code.is_none() == open)
            && (self.states.is_empty() || self.states.iter().any(is_state))
            && self.agent.as_ref().is_none_or(|agent| run.agent == *agent)
            && self.text.as_deref().is_none_or(holds)
    }
}

/// One run's account, as reports and estimates read it. The body is JSON text that this crate never reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountRow {
    /// The run's id.
    pub run: String,
    /// The workspace it works in.
    pub workspace: String,
    /// When it started, UTC milliseconds.
    pub started: i64,
    /// What runs have in common that say something about each other.
    pub key: String,
    /// The account itself.
    pub body: String,
}

/// Which accounts to read; newest first, in the order in which their runs were started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountFilter {
    /// Only this run.
    pub run: Option<String>,
    /// Only this workspace.
    pub workspace: Option<String>,
    /// Only this key.
    pub key: Option<String>,
    /// Only runs that started at this moment or later.
    pub from: Option<i64>,
    /// Only runs that started before this moment.
    pub before: Option<i64>,
    /// At most this many.
    pub limit: Option<u32>,
}
