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
    /// At most this many.
    pub limit: Option<u32>,
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
