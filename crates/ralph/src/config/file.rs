//! One config file, as it may be written. Unknown keys are errors. Keys that the contract names but this version does
//! not honour are named too, so that they can be refused with a plain word instead of being ignored.

use super::prices::PriceKeys;
use super::values::{Dollars, Duration, Inside, Limit, Promise, Variable, View};
use ralph_agents::registry;
use ralph_engine::redact::Secret;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// A whole file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // the keys of the contract, section by section
pub struct File {
    pub preset: Option<Preset>,
    pub run: Run,
    pub agent: Agent,
    pub agents: BTreeMap<String, AgentOverride>,
    pub verify: Verify,
    pub gate: Gate,
    pub breaker: Breaker,
    pub protect: Protect,
    pub redact: Redact,
    pub prompt: Prompt,
    pub ceilings: Ceilings,
    pub prices: PriceKeys,
    pub sandbox: Sandbox,
    pub ladder: Vec<Rung>,
    pub plan: Plan,
    pub views: Views,
    pub notify: Option<toml::Value>,
}

/// `[run]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Run {
    pub max_iterations: Option<NonZeroU32>,
    pub max_cost_usd: Option<Dollars>,
    pub max_time: Option<Limit>,
    pub timeout: Option<Limit>,
    pub idle_timeout: Option<Limit>,
    pub max_wait: Option<Duration>,
    pub pause_between: Option<Duration>,
    pub calls_per_hour: Option<u32>,
    pub tokens_per_hour: Option<u64>,
}

/// `[agent]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Agent {
    pub name: Option<String>,
    pub model: Option<String>,
}

/// `[agents.NAME]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct AgentOverride {
    pub command: Option<String>,
    pub args: Option<Vec<String>>,
    pub model: Option<String>,
    pub env: BTreeMap<Variable, Secret>,
    pub timeout: Option<Limit>,
}

/// `[[ladder]]`: who works where the run is stuck, one rung after the other. What is left out is as it was.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Rung {
    pub agent: Option<String>,
    pub model: Option<String>,
    pub args: Vec<String>,
}

impl Rung {
    /// A rung that changes nothing is a mistake.
    fn is_empty(&self) -> bool {
        self.agent.is_none() && self.model.is_none() && self.args.is_empty()
    }
}

/// `[verify]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Verify {
    pub commands: Vec<String>,
    pub timeout: Option<Limit>,
    pub oracle: Option<Oracle>,
    /// Globs that add to what is known as tests and their configuration; `!` takes out.
    pub oracle_paths: Vec<String>,
}

/// `verify.oracle`: what changed tests lead to, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Oracle {
    Allow,
    Flag,
    Guard,
}

impl Oracle {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Oracle::Allow => "allow",
            Oracle::Flag => "flag",
            Oracle::Guard => "guard",
        }
    }
}

/// `[gate]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Gate {
    pub until: Option<Until>,
    /// 0: an explicit signal needs none.
    pub indicators: Option<u32>,
    pub promise: Option<Promise>,
    pub exit_signals: Option<NonZeroU32>,
    pub done_signals: Option<NonZeroU32>,
    pub marker_file: Option<Inside>,
}

/// `gate.until`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Until {
    Claimed,
    Verified,
}

/// `[breaker]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Breaker {
    pub half_open_after: Option<NonZeroU32>,
    /// 0: no recovery iteration.
    pub open_after: Option<u32>,
    pub same_error: Option<NonZeroU32>,
    /// 0: off.
    pub saturation: Option<u32>,
    /// 0: off.
    pub denials: Option<u32>,
    pub decline: Option<Decline>,
    pub cooldown: Option<Limit>,
}

/// `breaker.decline`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Decline {
    Warn,
    Open,
}

/// `[protect]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Protect {
    pub paths: Vec<String>,
    pub on_violation: Option<OnViolation>,
}

/// `protect.on_violation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum OnViolation {
    Abort,
    Restore,
}

/// `[redact]`: what is secret besides what names and shapes tell. Never the values themselves.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Redact {
    pub files: Vec<String>,
    pub env: Vec<String>,
}

/// `[prompt]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Prompt {
    pub file: Option<String>,
    pub templates: Option<String>,
    pub context: Option<bool>,
}

/// `[plan]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Plan {
    pub file: Option<String>,
}

/// `[views]`: other places for the files in `.ralph/`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Views {
    pub status: Option<View>,
    pub progress: Option<View>,
    pub session: Option<View>,
    pub analysis: Option<View>,
}

/// `[ceilings]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Ceilings {
    pub max_iterations: Option<NonZeroU32>,
    pub max_cost_usd: Option<Dollars>,
    pub daily_cost_usd: Option<Dollars>,
}

/// `[sandbox]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Sandbox {
    pub mode: Option<SandboxMode>,
    pub network: Option<toml::Value>,
    pub writable: Option<toml::Value>,
}

/// `sandbox.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum SandboxMode {
    Auto,
    Require,
    Off,
}

/// `preset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Preset {
    Strict,
    Classic,
    Analyzer,
    Wrapper,
}

impl File {
    /// The first key of the contract that is set but not honoured by this version.
    pub fn not_yet(&self) -> Option<String> {
        let set = [
            (self.notify.is_some(), "notify"),
            (self.sandbox.network.is_some(), "sandbox.network"),
            (self.sandbox.writable.is_some(), "sandbox.writable"),
            (self.sandbox.mode == Some(SandboxMode::Require), "sandbox.mode"),
        ];
        set.into_iter().find(|(on, _)| *on).map(|(_, key)| key.to_string())
    }

    /// What is wrong with the ladder.
    pub fn bad_rung(&self) -> Option<String> {
        let bad = |(n, rung): (usize, &Rung)| {
            let n = n + 1;
            if rung.is_empty() {
                return Some(format!("rung {n} changes nothing: name an agent, a model or args"));
            }
            let unknown = registry::find(rung.agent.as_deref()?).err()?;
            Some(format!("rung {n}: {unknown}"))
        };
        self.ladder.iter().enumerate().find_map(bad)
    }

    /// The first key that only the user's or the system's own file may set.
    pub fn not_here(&self) -> Option<&'static str> {
        let Ceilings { max_iterations, max_cost_usd, daily_cost_usd } = &self.ceilings;
        let ceilings = max_iterations.is_some() || max_cost_usd.is_some() || daily_cost_usd.is_some();
        let takes_out = |paths: &[String]| paths.iter().any(|path| path.trim_start().starts_with('!'));
        let exempts = takes_out(&self.protect.paths);
        let looser = takes_out(&self.verify.oracle_paths);
        let goes_on = self.protect.on_violation == Some(OnViolation::Restore);
        let prices = !self.prices.is_empty();
        let uncontained = self.sandbox.mode == Some(SandboxMode::Off);
        ceilings
            .then_some("ceilings")
            .or(prices.then_some("prices"))
            .or(exempts.then_some("protect.paths"))
            .or(looser.then_some("verify.oracle_paths"))
            .or(uncontained.then_some("sandbox.mode"))
            .or(goes_on.then_some("protect.on_violation"))
    }
}
