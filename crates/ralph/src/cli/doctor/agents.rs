//! The agents that are installed, the one a run would use, and whether it could log in.

use super::{Row, credentials};
use crate::cli::versions::Versions;
use crate::cli::{Here, agent};
use crate::config;
use crate::problem::Code;
use ralph_agents::AgentInfo;
use ralph_agents::registry::{self, AGENTS};
use ralph_sandbox::policy::Mode;
use std::path::PathBuf;

/// One row for each agent that is installed, and one for the chosen one where it is not.
pub fn rows(here: &Here) -> Vec<Row> {
    // Where the settings cannot be read, nobody knows which agent a run would use: the row about them says so.
    let loaded = config::load(&here.workspace, &here.env).map(|config| config.settings).ok();
    let chosen = loaded.as_ref().map(|settings| settings.agent.clone());
    let settings = loaded.unwrap_or_default();
    let program = |info: &AgentInfo| {
        let own = settings.agents.get(info.name).and_then(|own| own.command.clone());
        own.or(info.program.map(Into::into)).and_then(|program| here.env.which(&program, &here.workspace))
    };
    let found: Vec<(&AgentInfo, PathBuf)> =
        AGENTS.iter().filter_map(|info| Some((*info, program(info)?))).collect();
    let versions = versions(&found, here);
    let mut rows: Vec<Row> = found
        .iter()
        .zip(versions)
        .map(|((info, path), version)| {
            let version = version.unwrap_or_else(|| "version unknown".into());
            let mark = if chosen.as_deref() == Some(info.name) { ", used here" } else { "" };
            installed(info, format!("{version}{mark} ({})", path.display()), here)
        })
        .collect();
    // Whether an image has its agent is said with the sandbox.
    let chosen = chosen.filter(|_| settings.sandbox.mode != Mode::Container);
    if let Some(chosen) = chosen.filter(|chosen| !found.iter().any(|(info, _)| info.name == chosen)) {
        rows.splice(0..0, missing(&chosen));
    }
    rows
}

fn installed(info: &AgentInfo, fact: String, here: &Here) -> Row {
    match credentials::look_for(info, here) {
        None => Row::ok(info.name, fact),
        Some(credentials::Seen::Found(what)) => Row::ok(info.name, format!("{fact}; credentials: {what}")),
        Some(credentials::Seen::Missing) => {
            let log_in = if info.setup.is_empty() { "log in with it once" } else { info.setup };
            Row::warn(info.name, format!("{fact}; no credentials found"), format!("{log_in}, or set its key"))
        }
    }
}

/// The chosen agent's row where it is not installed; none for one without a program of its own.
fn missing(chosen: &str) -> Option<Row> {
    let info = match registry::find(chosen) {
        Err(unknown) => return Some(Row::of("agent", &agent::unknown(&unknown))),
        Ok(info) => info,
    };
    info.program?;
    let fact = format!("the chosen agent `{chosen}` is not installed");
    let remedy = format!("{}; or choose another: `ralph agents`", info.install());
    Some(Row::bad("agent", Code::Unavailable, fact, remedy))
}

/// The version of each, remembered or asked for, all at once. Nothing is written down.
fn versions(found: &[(&AgentInfo, PathBuf)], here: &Here) -> Vec<Option<String>> {
    let mut known = here.home().map(|home| Versions::load(home.dir())).unwrap_or_default();
    let programs: Vec<_> = found.iter().map(|(info, path)| (path.clone(), info.version_args)).collect();
    known.ask_unknown(&programs);
    found.iter().map(|(_, path)| known.known(path)).collect()
}
