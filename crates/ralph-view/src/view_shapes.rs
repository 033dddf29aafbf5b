//! `status.json` and `progress.json` as other programs read them. The other two views have the analyzer seed's shapes and
//! live with the rules (`analysis/shape.rs`).

use jiff::Timestamp;
use ralph_engine::circuit::Change;
use ralph_rules::breaker::Breaker as State;
use ralph_rules::record::Ms;
use serde::Serialize;

/// `status.json`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // the contract names each field
pub struct Status {
    pub timestamp: String,
    pub run: String,
    pub loop_count: u32,
    pub status: &'static str,
    pub last_action: String,
    pub exit_reason: Option<&'static str>,
    pub calls_made_this_hour: i64,
    pub max_calls_per_hour: Option<u32>,
    pub tokens_used_this_hour: i64,
    pub next_reset: Option<String>,
    pub cost: f64,
    pub budget: f64,
    pub breaker: Breaker,
    pub exit_signals: ExitSignals,
}

/// The breaker of the run.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Breaker {
    pub state: State,
    pub reason: Option<String>,
    pub since: Option<String>,
    pub history: Vec<Change>,
}

/// Numbers of the latest iterations with signs of completion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct ExitSignals {
    pub test_only_loops: Vec<u32>,
    pub done_signals: Vec<u32>,
    pub completion_indicators: Vec<u32>,
}

/// `progress.json`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Progress {
    pub status: &'static str,
    pub iteration: u32,
    pub elapsed_seconds: u64,
    pub current_file: Option<String>,
    pub last_activity: Option<String>,
    pub waiting_until: Option<String>,
    pub timestamp: String,
}

/// A moment as RFC 3339, in whole seconds, UTC.
pub fn stamp(at: Ms) -> String {
    let moment = Timestamp::from_second(at.div_euclid(1000)).unwrap_or_default();
    moment.to_string()
}
