//! The list of agents, and finding one by its name. A name that is unknown gets the nearest one as a suggestion; one
//! that is known but has no adapter gets told so, and how to use it all the same.

use crate::agent_info::AgentInfo;
use crate::{
    aider, claude, codex, command, copilot, gemini, goose, grok, kimi, mini, opencode, pi, qwen, sim,
};
use thiserror::Error;

/// Every agent, in the order in which they are shown and preferred.
pub static AGENTS: &[&AgentInfo] = &[
    &claude::INFO,
    &codex::INFO,
    &opencode::INFO,
    &gemini::INFO,
    &qwen::INFO,
    &goose::INFO,
    &copilot::INFO,
    &kimi::INFO,
    &grok::INFO,
    &pi::INFO,
    &aider::INFO,
    &mini::INFO,
    &command::INFO,
    &sim::INFO,
];

/// Agents that exist and have no adapter.
const UNSUPPORTED: &[&str] = &["amp"];

/// Why there is no such agent here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownAgent {
    /// No agent has that name.
    #[error("unknown agent \"{name}\"{}; agents are: {}", did_you_mean(.suggestion), name_list())]
    Unknown {
        /// The name as typed.
        name: String,
        /// The nearest name.
        suggestion: Option<&'static str>,
    },
    /// A real agent whose output ralph cannot read.
    #[error(
        "agent \"{name}\" is known but not supported yet; run it as any program with \
         `--agent command -- {name} ARGS` (its prompt comes on stdin)"
    )]
    NotYet {
        /// Its name.
        name: String,
    },
}

/// The agent with this name.
pub fn find(name: &str) -> Result<&'static AgentInfo, UnknownAgent> {
    if let Some(info) = AGENTS.iter().find(|info| info.name == name) {
        return Ok(info);
    }
    let name = name.to_owned();
    if UNSUPPORTED.contains(&name.as_str()) {
        return Err(UnknownAgent::NotYet { name });
    }
    let suggestion = nearest(&name);
    Err(UnknownAgent::Unknown { name, suggestion })
}

/// The names of all agents, for help and messages.
pub fn name_list() -> String {
    names().collect::<Vec<_>>().join(", ")
}

/// The names of all agents.
pub fn names() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().map(|info| info.name)
}

fn nearest(name: &str) -> Option<&'static str> {
    let typed: String = name.to_lowercase().chars().take(64).collect();
    let distance = |known: &&str| strsim::damerau_levenshtein(&typed, known);
    let best = names().chain(UNSUPPORTED.iter().copied()).min_by_key(distance)?;
    let close = distance(&best) <= 2 && distance(&best) < best.len();
    (close || typed.starts_with(best)).then_some(best)
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map(|name| format!(" (did you mean \"{name}\"?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_agent() {
        for name in names() {
            assert_eq!(find(name).unwrap().name, name);
        }
    }

    #[test]
    fn other_names_are_explained() {
        let message = |name: &str| find(name).err().unwrap().to_string();
        assert_eq!(
            message("cluade"),
            "unknown agent \"cluade\" (did you mean \"claude\"?); agents are: claude, codex, opencode, gemini, qwen, \
             goose, copilot, kimi, grok, pi, aider, mini, command, sim"
        );
        assert!(message("claude-code").contains("did you mean \"claude\""));
        assert!(message("amp").contains("not supported yet"));
        assert!(message("zzz").starts_with("unknown agent \"zzz\"; agents are"));
    }
}
