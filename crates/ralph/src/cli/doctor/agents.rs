//! The agents that are installed, the one that would work, and whether it could log in.

use super::{Row, credentials};
use crate::cli::versions::Versions;
use crate::cli::{Here, agent};
use crate::config;
use crate::problem::Code;
use ralph_agents::registry;
use ralph_agents::roster::{self, CARDS};
use std::path::PathBuf;

/// One row for each agent that is installed, and one for the chosen one where it is not.
pub fn rows(here: &Here) -> Vec<Row> {
    let layers =
        config::load(&here.workspace, here.env.config_home.as_deref()).and_then(|l| l.under(&here.env)).ok();
    let chosen = layers.as_ref().and_then(|l| l.agent_name()).unwrap_or("claude").to_string();
    let program = |name: &str, usual: Option<&str>| {
        let own = layers.as_ref().and_then(|l| l.agent(name)).and_then(|over| over.command.clone());
        own.or(usual.map(Into::into)).and_then(|program| here.env.which(&program, &here.workspace))
    };
    let found: Vec<(&str, PathBuf)> =
        CARDS.iter().filter_map(|card| Some((card.name, program(card.name, card.program)?))).collect();
    let versions = versions(&found, here);
    let mut rows: Vec<Row> = found
        .iter()
        .zip(versions)
        .map(|((name, path), version)| {
            let version = version.unwrap_or_else(|| "version unknown".into());
            let mark = if *name == chosen { ", works here" } else { "" };
            installed(name, format!("{version}{mark} ({})", path.display()), here)
        })
        .collect();
    let brings_its_own = matches!(chosen.as_str(), "sim" | "command");
    if !brings_its_own && !found.iter().any(|(name, _)| *name == chosen) {
        rows.insert(0, missing(&chosen));
    }
    rows
}

fn installed(name: &'static str, fact: String, here: &Here) -> Row {
    match credentials::of(name, here) {
        None => Row::ok(name, fact),
        Some(credentials::Seen::There(what)) => Row::ok(name, format!("{fact}; credentials: {what}")),
        Some(credentials::Seen::Nowhere) => {
            let install = roster::card(name).map_or("", |card| card.install);
            let log_in = install.split_once("then ").map_or("log in with it once", |(_, rest)| rest);
            Row::warn(name, format!("{fact}; no credentials seen"), format!("{log_in}, or set its key"))
        }
    }
}

fn missing(chosen: &str) -> Row {
    match registry::find(chosen) {
        Err(unknown) => Row::of("agent", &agent::unknown(&unknown)),
        Ok(_) => {
            let card = roster::card(chosen);
            let remedy = card.map_or("check its name".into(), |card| {
                format!("{}; or choose another: `ralph agents`", card.install)
            });
            Row::bad(
                "agent",
                Code::Unavailable,
                format!("`{chosen}` would work here, but it is not installed"),
                remedy,
            )
        }
    }
}

/// What each says of itself: as remembered, else asked, all at once. Nothing is written down.
fn versions(found: &[(&str, PathBuf)], here: &Here) -> Vec<Option<String>> {
    let mut known = here.home().map(|home| Versions::load(home.dir())).unwrap_or_default();
    let programs: Vec<_> = found
        .iter()
        .filter_map(|(name, path)| Some((path.clone(), registry::find(name).ok()?.version_args())))
        .collect();
    known.recv(&programs);
    found.iter().map(|(_, path)| known.known(path)).collect()
}
