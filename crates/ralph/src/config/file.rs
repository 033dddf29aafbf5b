//! One config file, as it may be written. Unknown keys are errors. Keys that the contract names but this version does
//! not honour are named too, so that they can be refused with a plain word instead of being ignored.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A whole file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // the keys of the contract, section by section
pub struct File {
    pub preset: Option<String>,
    pub run: Run,
    pub agent: Agent,
    pub agents: BTreeMap<String, AgentOverride>,
    pub verify: Verify,
    pub gate: Gate,
    pub breaker: Breaker,
    pub protect: Protect,
    pub prompt: Prompt,
    pub ceilings: Ceilings,
    pub sandbox: Sandbox,
    pub ladder: Option<toml::Value>,
    pub plan: Option<toml::Value>,
    pub views: Option<toml::Value>,
    pub notify: Option<toml::Value>,
}

/// `[run]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Run {
    pub max_iterations: Option<u32>,
    pub max_cost_usd: Option<f64>,
    pub max_time: Option<Duration>,
    pub timeout: Option<Duration>,
    pub idle_timeout: Option<Duration>,
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
    pub args: Vec<String>,
    pub model: Option<String>,
    pub env: Option<toml::Value>,
    pub timeout: Option<Duration>,
}

/// `[verify]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Verify {
    pub commands: Vec<String>,
    pub timeout: Option<Duration>,
    pub oracle: Option<toml::Value>,
    pub oracle_paths: Option<toml::Value>,
}

/// `[gate]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Gate {
    pub until: Option<Until>,
    pub indicators: Option<u32>,
    pub promise: Option<String>,
    pub done_signals: Option<u32>,
    pub marker_file: Option<toml::Value>,
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
    pub half_open_after: Option<u32>,
    pub open_after: Option<u32>,
    pub same_error: Option<u32>,
    pub saturation: Option<u32>,
    pub denials: Option<u32>,
    pub decline: Option<Decline>,
    pub cooldown: Option<toml::Value>,
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
    pub on_violation: Option<toml::Value>,
}

/// `[prompt]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Prompt {
    pub file: Option<String>,
    pub templates: Option<toml::Value>,
    pub context: Option<toml::Value>,
}

/// `[ceilings]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Ceilings {
    pub max_iterations: Option<u32>,
    pub max_cost_usd: Option<f64>,
    pub daily_cost_usd: Option<f64>,
}

/// `[sandbox]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Sandbox {
    pub mode: Option<String>,
    pub network: Option<toml::Value>,
    pub writable: Option<toml::Value>,
}

/// A duration in a file, such as `"15m"`.
#[derive(Clone, Copy, Debug)]
pub struct Duration(pub i64);

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        super::parse_duration(&text).map(Duration).map_err(serde::de::Error::custom)
    }
}

impl File {
    /// Keys of the contract that are set but not honoured by this version.
    pub fn not_yet(&self) -> Vec<&'static str> {
        let set = [
            (self.ladder.is_some(), "[[ladder]]"),
            (self.plan.is_some(), "[plan]"),
            (self.views.is_some(), "[views]"),
            (self.notify.is_some(), "[notify]"),
            (self.verify.oracle.is_some(), "verify.oracle"),
            (self.verify.oracle_paths.is_some(), "verify.oracle_paths"),
            (self.gate.marker_file.is_some(), "gate.marker_file"),
            (self.breaker.cooldown.is_some(), "breaker.cooldown"),
            (self.protect.on_violation.is_some(), "protect.on_violation"),
            (self.prompt.templates.is_some(), "prompt.templates"),
            (self.prompt.context.is_some(), "prompt.context"),
            (self.sandbox.network.is_some(), "sandbox.network"),
            (self.sandbox.writable.is_some(), "sandbox.writable"),
            (self.sandbox.mode.as_deref().is_some_and(|m| m != "off" && m != "auto"), "sandbox.mode"),
            (self.agents.values().any(|a| a.env.is_some()), "agents.NAME.env"),
            (self.preset.as_deref().is_some_and(|p| p != "strict"), "preset"),
        ];
        set.into_iter().filter(|(on, _)| *on).map(|(_, key)| key).collect()
    }
}
