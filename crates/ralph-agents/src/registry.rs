//! The agents by name. A name that is unknown gets the nearest one as a suggestion; one that is known but
//! has no adapter yet gets told so, and how to use it all the same.

use crate::aider::Aider;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::command::Command;
use crate::copilot::Copilot;
use crate::gemini::Gemini;
use crate::goose::Goose;
use crate::grok::Grok;
use crate::kimi::Kimi;
use crate::mini::Mini;
use crate::opencode::Opencode;
use crate::pi::Pi;
use crate::qwen::Qwen;
use crate::seam::Agent;
use crate::sim::Sim;
use thiserror::Error;

/// The agents that can be used.
pub const NAMES: &[&str] = &[
    "claude", "codex", "opencode", "gemini", "qwen", "goose", "copilot", "kimi", "grok", "pi", "aider",
    "mini", "command", "sim",
];

/// Agents that exist and have no adapter yet.
const LATER: &[&str] = &["amp", "acp"];

/// Why there is no such agent here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownAgent {
    /// Nobody by that name.
    #[error("unknown agent \"{name}\"{}; agents are: {}", did_you_mean(.suggestion), NAMES.join(", "))]
    Unknown {
        /// The name as typed.
        name: String,
        /// The nearest name.
        suggestion: Option<&'static str>,
    },
    /// A real agent that ralph cannot read yet.
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
pub fn find(name: &str) -> Result<Box<dyn Agent>, UnknownAgent> {
    match name {
        "claude" => Ok(Box::new(Claude)),
        "command" => Ok(Box::new(Command)),
        "codex" => Ok(Box::new(Codex)),
        "opencode" => Ok(Box::new(Opencode)),
        "gemini" => Ok(Box::new(Gemini)),
        "qwen" => Ok(Box::new(Qwen)),
        "goose" => Ok(Box::new(Goose)),
        "copilot" => Ok(Box::new(Copilot)),
        "kimi" => Ok(Box::new(Kimi)),
        "grok" => Ok(Box::new(Grok)),
        "pi" => Ok(Box::new(Pi)),
        "aider" => Ok(Box::new(Aider)),
        "mini" => Ok(Box::new(Mini)),
        "sim" => Ok(Box::new(Sim)),
        later if LATER.contains(&later) => Err(UnknownAgent::NotYet { name: later.to_owned() }),
        other => Err(UnknownAgent::Unknown { name: other.to_owned(), suggestion: nearest(other) }),
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    let typed: String = name.to_lowercase().chars().take(64).collect();
    let distance = |known: &&&str| strsim::damerau_levenshtein(&typed, known);
    let best = NAMES.iter().chain(LATER).min_by_key(distance)?;
    let close = distance(&best) <= 2 && distance(&best) < best.len();
    (close || typed.starts_with(best)).then_some(*best)
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map(|name| format!(" (did you mean \"{name}\"?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_agent() {
        for name in NAMES {
            assert_eq!(find(name).unwrap().name(), *name);
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
