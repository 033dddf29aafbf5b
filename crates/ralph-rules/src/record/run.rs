//! How a run began, went on and was changed.

use super::{Ms, PlanGiven, PlanSeen};
use crate::money::Micro;
use crate::policy::Policy;
use serde::{Deserialize, Serialize};

/// Everything a run was given, read once at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The run's id (UUIDv7).
    pub run: String,
    /// The rules' number at the start.
    pub rules: u32,
    /// ralph's version.
    pub version: String,
    /// Absolute path of the workspace.
    pub workspace: String,
    /// The user's prompt, unchanged.
    pub prompt: String,
    /// Where the prompt came from: a file name, or `argument`.
    pub prompt_from: String,
    /// Who works.
    pub agent: AgentChoice,
    /// The numbers the run obeys.
    pub policy: Policy,
    /// The commands that prove the work.
    pub verify: Vec<String>,
    /// The protected globs.
    pub protect: Vec<String>,
    /// The user's time zone, for the calendar day of the budget.
    pub zone: String,
    /// What contains the agent; `none` until there is a sandbox.
    pub sandbox: String,
    /// The commit the workspace was at, where it is a repository.
    pub base: Option<String>,
    /// The tree before the run.
    #[serde(with = "crate::record::tree_id")]
    pub tree: u128,
    /// The plan that binds, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanGiven>,
    /// What the marker file looked like before the run; only a later one is the agent's claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker_before: Option<String>,
}

/// Which agent, how it was started, and what it can report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentChoice {
    /// The adapter's name.
    pub name: String,
    /// The program that is started.
    pub program: String,
    /// Model, where one was chosen.
    pub model: Option<String>,
    /// Arguments the user passes on.
    pub args: Vec<String>,
    /// Shows usage while it works: a call can be ended by cost.
    pub live_usage: bool,
    /// Shows when tools start: silence during a tool is no silence.
    pub shows_tool_start: bool,
    /// Takes the protocol as a system prompt; else it goes into the prompt's footer.
    pub system_prompt: bool,
}

/// The run goes on in a new process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// ralph's version now.
    pub version: String,
    /// The rules' number now.
    pub rules: u32,
    /// How the bound plan stands now, where one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanSeen>,
}

/// A person changed limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyChanged {
    /// The numbers from now on.
    pub policy: Policy,
}

/// Which attempt of which iteration: the id of a call, its reservation and its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attempt {
    /// Iteration, from 1.
    pub iteration: u32,
    /// Attempt within it, from 1.
    pub attempt: u32,
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:03}.a{}", self.iteration, self.attempt)
    }
}

/// What a run may spend at most, by whom it is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The run's cap.
    pub run: Micro,
    /// The day's cap over all runs.
    pub day: Micro,
    /// Calls in any hour over all runs; none is no limit.
    pub calls_per_hour: Option<u32>,
    /// Tokens in any hour over all runs; none is no limit.
    pub tokens_per_hour: Option<u64>,
}

/// A span of an hour, the rate windows' length.
pub const HOUR: Ms = 3_600_000;

/// Tree ids as 32 hex digits: JSON numbers cannot hold them.
pub mod tree_id {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// As hex.
    #[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
    pub fn serialize<S: Serializer>(id: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{id:032x}"))
    }

    /// From hex.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        u128::from_str_radix(&text, 16).map_err(|_| D::Error::custom("a tree id is 32 hex digits"))
    }
}
