//! What the user of `ralph init` says instead of having it detected or asked for.

use crate::cli::agent;
use crate::problem::Problem;
use ralph_agents::registry;

/// Settings of the new ralph.toml.
#[derive(Debug, clap::Args)]
pub struct Given {
    /// Agent to use (default: the first one installed).
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Command that must pass before the work counts as done (repeatable; default: what was detected).
    #[arg(long, value_name = "CMD")]
    pub verify: Vec<String>,
}

impl Given {
    /// The agent's name, which must be a known one.
    pub fn agent(&self) -> Result<Option<&'static str>, Problem> {
        let find = |name: &String| registry::find(name).map_err(|e| agent::unknown(&e));
        Ok(self.agent.as_ref().map(find).transpose()?.map(|info| info.name))
    }

    /// A note on what has no effect, because ralph.toml exists.
    pub fn without_effect(&self) -> Option<String> {
        let flags = [("--agent", self.agent.is_some()), ("--verify", !self.verify.is_empty())];
        let flags: Vec<&str> = flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect();
        let verb = if flags.len() == 1 { "has" } else { "have" };
        let note = format!(
            "ralph.toml already exists and was not changed: {} {verb} no effect",
            flags.join(" and ")
        );
        (!flags.is_empty()).then_some(note)
    }
}
