//! One call of an agent: what it is given (`Call`), how it is started (`Launch`), how its program ended (`Exit`).

use ralph_rules::money::Micro;
use ralph_rules::prices::Prices;
use serde::{Deserialize, Serialize};

/// What one call needs, resolved; nothing here is looked up by the adapter itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The whole prompt of this call.
    pub prompt: String,
    /// The protocol text for agents that take a system prompt.
    pub system: String,
    /// Model, where one was chosen.
    pub model: Option<String>,
    /// Program to start instead of the adapter's own (an override, or the found path).
    pub program: Option<String>,
    /// Arguments the user passes on (`-- ARGS`).
    pub args: Vec<String>,
    /// What may be spent in this call at most, for agents with a budget of their own.
    pub budget: Option<Micro>,
    /// A directory for this call's own files, outside the workspace; `Launch::files` are written there.
    pub scratch: String,
    /// What models cost, for agents that tell tokens and no dollars.
    pub prices: Prices,
    /// It must not change anything: the agent's read-only mode is used, where it has one.
    pub read_only: bool,
    /// It runs inside ralph's sandbox, which decides what it may do.
    pub contained: bool,
}

impl Call {
    /// Whether the user's own arguments set one of these flags. One that ends in `=` is also found inside an argument,
    /// as settings are that follow another flag.
    pub fn sets(&self, flags: &[&str]) -> bool {
        self.args.iter().any(|arg| {
            let name = arg.split('=').next().unwrap_or(arg);
            flags.iter().any(|flag| *flag == name || (flag.ends_with('=') && arg.contains(flag)))
        })
    }
}

/// How to start an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Program name or path.
    pub program: String,
    /// Its arguments; never the prompt itself, which could overflow them.
    pub args: Vec<String>,
    /// Environment to add.
    pub env: Vec<(String, String)>,
    /// Environment to take away.
    pub env_remove: Vec<String>,
    /// Files to write into the call's scratch directory before the start: a name and its bytes. For a prompt
    /// that an agent takes neither from stdin nor safely as an argument.
    pub files: Vec<(String, Vec<u8>)>,
    /// Names in the scratch directory that the agent may have written; the reader gets them at the end.
    pub reports: Vec<String>,
}

/// How the program ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Exit code, where it exited.
    pub code: Option<i32>,
    /// Signal, where it was killed by one.
    pub signal: Option<i32>,
    /// The program could not be started at all.
    pub not_started: bool,
    /// ralph ended it (deadline, budget, a person), so a missing result is not its failure.
    pub by_us: bool,
}

impl Exit {
    /// Whether a signal ended it, also where a shell or the program itself turned that into an exit code.
    pub fn was_killed(self) -> bool {
        self.signal.is_some() || self.code.is_some_and(|code| code > 128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_with_and_without_its_value() {
        let args =
            ["--model", "m", "--mode=json", "-c", "a.sandbox=\"x\"", "text"].map(str::to_owned).to_vec();
        let call = Call { args, ..Call::default() };
        assert!(call.sets(&["--model"]) && call.sets(&["-x", "--mode"]) && call.sets(&["sandbox="]));
        assert!(!call.sets(&["--mod", "json", "m=", "sandbox"]));
    }
}
