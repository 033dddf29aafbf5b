//! The numbers a run obeys: limits, thresholds, what the gate asks for. Resolved by the face from flags and
//! files, written down in `RunStarted`, read by the guards from the state. Money's ceilings are applied
//! before a policy is made.

use crate::money::Micro;
use crate::record::Ms;
use serde::{Deserialize, Serialize};

/// One second.
pub const SECOND: Ms = 1_000;
/// One minute.
pub const MINUTE: Ms = 60 * SECOND;

/// Everything a user may set that decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Iterations at most.
    pub max_iterations: u32,
    /// Spend at most in this run.
    pub max_cost: Micro,
    /// Spend at most in a calendar day, over all runs.
    pub daily_cost: Micro,
    /// Reserved before a call when there is no history.
    pub estimate: Micro,
    /// Active time at most; waits count.
    pub max_time: Option<Ms>,
    /// One call at most.
    pub timeout: Ms,
    /// Silence at most.
    pub idle_timeout: Ms,
    /// One verification command at most.
    pub verify_timeout: Ms,
    /// Waiting for a provider at most, in all.
    pub max_wait: Ms,
    /// Pause between iterations.
    pub pause_between: Ms,
    /// Do not wait for limits: leave with 75.
    pub no_wait: bool,
    /// Calls in any hour, over all runs.
    pub calls_per_hour: Option<u32>,
    /// Tokens in any hour, over all runs.
    pub tokens_per_hour: Option<u64>,
    /// What ends a run as done.
    pub gate: GatePolicy,
    /// When stagnation stops a run.
    pub breaker: BreakerPolicy,
    /// What a touched protected path leads to.
    pub on_violation: OnViolation,
    /// What a changed oracle leads to.
    pub oracle: Oracle,
}

impl Policy {
    /// The strict preset with the two limits that have no default.
    pub fn strict(max_iterations: u32, max_cost: Micro) -> Policy {
        Policy {
            max_iterations,
            max_cost,
            daily_cost: Ceilings::default().daily_cost,
            estimate: crate::estimate::DEFAULT,
            max_time: None,
            timeout: 15 * MINUTE,
            idle_timeout: 5 * MINUTE,
            verify_timeout: 10 * MINUTE,
            max_wait: 6 * 60 * MINUTE,
            pause_between: 0,
            no_wait: false,
            calls_per_hour: Some(100),
            tokens_per_hour: None,
            gate: GatePolicy::default(),
            breaker: BreakerPolicy::default(),
            on_violation: OnViolation::Abort,
            oracle: Oracle::Guard,
        }
    }
}

/// What ends a run as done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatePolicy {
    /// A claim with evidence, or a passing verification alone.
    pub until: Until,
    /// Distinct indicators that count as evidence where nothing is verified.
    pub indicators: u32,
    /// Iterations running with enough indicators, where the agent gives no explicit signal.
    pub done_signals: u32,
    /// Completion signals running that an explicit one needs, itself included.
    #[serde(default = "one")]
    pub exit_signals: u32,
    /// The completion promise's inner text.
    pub promise: String,
    /// A file within the workspace that counts as an explicit signal, where the message has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker_file: Option<String>,
    /// An explicit exit signal needs no indicators where nothing is verified.
    pub explicit_alone: bool,
}

impl Default for GatePolicy {
    fn default() -> Self {
        GatePolicy {
            until: Until::Claimed,
            indicators: 2,
            done_signals: 2,
            exit_signals: 1,
            promise: "COMPLETE".into(),
            explicit_alone: false,
            marker_file: None,
        }
    }
}

/// Journals older than the number mean one.
fn one() -> u32 {
    1
}

/// What a run goes on until.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The agent claims it and ralph proved it.
    Claimed,
    /// The verification passes, whatever the agent says.
    Verified,
}

/// When stagnation stops a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerPolicy {
    /// Iterations without progress before HALF_OPEN.
    pub half_open_after: u32,
    /// Further ones before OPEN.
    pub open_after: u32,
    /// The same error this often is called stuck.
    pub stuck: u32,
    /// The same error this often opens the breaker.
    pub same_error: u32,
    /// Test-only iterations running that end the run.
    pub saturation: u32,
    /// Iterations running with denials and no progress.
    pub denials: u32,
    /// A final message under this percentage of the mean is a decline.
    pub decline_below: u32,
    /// What a decline leads to.
    pub decline: Decline,
    /// An open breaker of the workspace closes by itself after this long; none is never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown: Option<Ms>,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        BreakerPolicy {
            half_open_after: 3,
            open_after: 1,
            stuck: 3,
            same_error: 5,
            saturation: 3,
            denials: 3,
            decline_below: 30,
            decline: Decline::Warn,
            cooldown: None,
        }
    }
}

/// What shrinking answers lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decline {
    /// A word in the analysis.
    Warn,
    /// The breaker opens.
    Open,
}

/// What a touched protected path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnViolation {
    /// The run ends.
    Abort,
    /// The paths are put back and the run may go on, at most three times.
    Restore,
}

/// What changed tests or runner files lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Oracle {
    /// Completion must also pass with the baseline's tests.
    Guard,
    /// It is reported.
    Flag,
    /// It is the task.
    Allow,
}

/// Numbers that only the user's or the system's own config may raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Iterations a run.
    pub max_iterations: u32,
    /// Spend a run.
    pub max_cost: Micro,
    /// Spend a day over all runs.
    pub daily_cost: Micro,
}

impl Default for Ceilings {
    fn default() -> Self {
        Ceilings { max_iterations: 50, max_cost: Micro(10_000_000), daily_cost: Micro(50_000_000) }
    }
}
