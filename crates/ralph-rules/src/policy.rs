//! The policy of a run: limits, thresholds, what the gate requires. Resolved from flags and config files by the command
//! line, recorded in `RunStarted`, read from the state by the guards. Ceilings are applied before a policy is made.

use crate::claim::UserPattern;
use crate::grade::Grade;
use crate::money::Micro;
use crate::record::Ms;
use serde::{Deserialize, Serialize};

/// One second.
pub const SECOND: Ms = 1_000;
/// One minute.
pub const MINUTE: Ms = 60 * SECOND;

/// Every setting that decisions depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Maximum number of iterations.
    pub max_iterations: u32,
    /// Maximum cost of this run.
    pub max_cost: Micro,
    /// Maximum cost per calendar day over all runs.
    pub daily_cost: Micro,
    /// Reserved before a call.
    pub estimate: Micro,
    /// Maximum active time, waits included.
    pub max_time: Option<Ms>,
    /// Maximum time per call.
    pub timeout: Ms,
    /// Maximum time without output.
    pub idle_timeout: Ms,
    /// Maximum time per verify command.
    pub verify_timeout: Ms,
    /// Maximum total time waiting for a provider.
    pub max_wait: Ms,
    /// Pause between iterations.
    pub pause_between: Ms,
    /// Do not wait for limits: exit with 75.
    pub no_wait: bool,
    /// Calls in any hour, over all runs.
    pub calls_per_hour: Option<u32>,
    /// Tokens in any hour, over all runs.
    pub tokens_per_hour: Option<u64>,
    /// What completes a run.
    pub gate: GatePolicy,
    /// When stagnation stops a run.
    pub breaker: BreakerPolicy,
    /// What a changed protected path leads to.
    pub on_violation: OnViolation,
    /// What a changed oracle leads to.
    pub oracle: Oracle,
    /// How long a run may look for hunks that no check notices.
    #[serde(default, skip_serializing_if = "MapTime::is_off")]
    pub map_time: MapTime,
    /// No agent is called while no snapshot can be taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undo_required: bool,
    /// The agent is called even if a verify command cannot run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub start_anyway: bool,

    /// One iteration, if the verification before the first call does not end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
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
            map_time: MapTime::Off,
            undo_required: false,
            start_anyway: false,

            fallback: false,
        }
    }
}

/// How long the map of a change may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MapTime {
    /// No map.
    #[default]
    Off,
    /// As long as the verifications before it took.
    Auto,
    /// This long.
    AtMost(Ms),
}

impl MapTime {
    #[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
    fn is_off(&self) -> bool {
        *self == MapTime::Off
    }

    /// The time limit, if the verifications before it took this long; none if there is to be no map.
    pub fn limit(self, verified: Ms) -> Option<Ms> {
        match self {
            MapTime::Off => None,
            MapTime::Auto => Some(verified),
            MapTime::AtMost(ms) => Some(ms),
        }
    }
}

/// What completes a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatePolicy {
    /// A claim with evidence, or a passing verification alone.
    pub until: Until,
    /// Distinct indicators required without a verify command.
    pub indicators: u32,
    /// Iterations in a row with enough indicators, required without an explicit signal; 0 never completes a run without a
    /// verify command.
    pub done_signals: u32,
    /// The fields of one status block count as one indicator without a verify command.
    #[serde(default)]
    pub block_as_one: bool,
    /// Completion signals in a row required with an explicit signal, itself included.
    #[serde(default = "one")]
    pub exit_signals: u32,
    /// The completion promise's inner text.
    pub promise: String,
    /// A file in the workspace that counts as an explicit signal if the message has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker_file: Option<String>,
    /// An explicit exit signal needs no indicators without a verify command.
    pub explicit_alone: bool,
    /// The least grade that completes a run.
    #[serde(default = "unbroken")]
    pub require: Grade,
    /// How often the agent is asked for a test that fails without its work.
    #[serde(default)]
    pub ask_for_test: u32,
    /// The user's own phrases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<UserPattern>,
}

impl Default for GatePolicy {
    fn default() -> Self {
        GatePolicy {
            until: Until::Claimed,
            indicators: 2,
            done_signals: 0,
            block_as_one: true,
            exit_signals: 1,
            promise: "COMPLETE".into(),
            explicit_alone: false,
            marker_file: None,
            require: Grade::Unbroken,
            ask_for_test: 1,
            patterns: Vec::new(),
        }
    }
}

/// Default for journals written before this setting existed.
fn one() -> u32 {
    1
}

/// Default for journals written before there were grades.
fn unbroken() -> Grade {
    Grade::Unbroken
}

/// What a run requires to complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The agent claims completion and verification passes.
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
    /// The same error this often in a row means stuck.
    pub stuck: u32,
    /// The same error this often in a row opens the breaker.
    pub same_error: u32,
    /// Test-only iterations in a row that stop the run.
    pub saturation: u32,
    /// Iterations in a row with denials and no progress that stop the run.
    pub denials: u32,
    /// A final message below this percentage of the average is a decline.
    pub decline_below: u32,
    /// What a decline leads to.
    pub decline: Decline,
    /// An open breaker of the workspace closes by itself after this long; none means never.
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
    /// A warning.
    Warn,
    /// The breaker opens.
    Open,
}

/// What a changed protected path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnViolation {
    /// The run ends.
    Abort,
    /// The paths are restored and the run may continue, at most three times.
    Restore,
}

/// What changed tests or test configuration lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Oracle {
    /// Verification must also pass with the baseline's tests.
    Guard,
    /// The change is reported.
    Flag,
    /// The change is allowed.
    Allow,
}

/// Numbers that only the user's or the system's own config may raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Iterations per run.
    pub max_iterations: u32,
    /// Cost per run.
    pub max_cost: Micro,
    /// Cost per day over all runs.
    pub daily_cost: Micro,
}

impl Default for Ceilings {
    fn default() -> Self {
        Ceilings { max_iterations: 50, max_cost: Micro(10_000_000), daily_cost: Micro(50_000_000) }
    }
}
