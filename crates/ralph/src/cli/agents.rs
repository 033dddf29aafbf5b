//! `ralph agents`: who can work here. Installed or not, which version, how ralph talks to it and what it can report.

use super::versions::Versions;
use super::{Here, agent};
use crate::config;
use crate::print::{print, print_json};
use crate::problem::Problem;
use crate::style::Style;
use ralph_agents::roster::{CARDS, Card};
use ralph_agents::{Abilities, registry};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// One agent as it is here.
struct Found {
    card: &'static Card,
    can: Abilities,
    /// Where its program is; none where it is not installed or names its own.
    program: Option<PathBuf>,
    version: Option<String>,
    version_args: &'static [&'static str],
}

impl Found {
    fn installed(&self) -> bool {
        self.program.is_some() || self.card.program.is_none()
    }
}

/// Lists the agents.
pub fn agents(args: &Args, here: &Here) -> Result<u8, Problem> {
    let mut found = find(here)?;
    let mut versions = Versions::load(here.home()?.dir());
    let programs: Vec<_> =
        found.iter().filter_map(|it| Some((it.program.clone()?, it.version_args))).collect();
    versions.ask(&programs);
    for it in &mut found {
        it.version = it.program.as_ref().and_then(|program| versions.known(program));
    }
    if args.json {
        let list: Vec<Value> = found.iter().map(as_json).collect();
        print_json(&json!({ "agents": list }))?;
    } else {
        print(&table(&found, here.out_style()));
    }
    Ok(0)
}

fn find(here: &Here) -> Result<Vec<Found>, Problem> {
    let layers = config::load(&here.workspace, here.env.config_home.as_deref())?;
    CARDS
        .iter()
        .map(|card| {
            let adapter = registry::find(card.name).map_err(|e| agent::unknown(&e))?;
            let own = layers.agent(card.name).and_then(|over| over.command.as_deref());
            let program = own.or(card.program).and_then(|name| here.env.which(name, &here.workspace));
            let (can, version_args) = (adapter.can(), adapter.version_args());
            Ok(Found { card, can, program, version: None, version_args })
        })
        .collect()
}

fn as_json(it: &Found) -> Value {
    json!({
        "name": it.card.name,
        "title": it.card.title,
        "installed": it.installed(),
        "program": it.program,
        "version": it.version,
        "tried": it.card.tried,
        "transport": it.card.transport,
        "can": it.can,
        "install": it.card.install,
    })
}

fn table(found: &[Found], style: Style) -> String {
    let mut text = String::new();
    let head = format!("{:<9}  {:<22}  {:<30}  REPORTS", "AGENT", "VERSION", "TRANSPORT");
    let _ = writeln!(text, "{}", style.faint(head));
    for it in found {
        let version = match (&it.version, it.installed()) {
            (Some(version), _) => style.good(format!("{version:<22}")),
            (None, false) => style.faint(format!("{:<22}", "not installed")),
            (None, true) if it.card.program.is_some() => {
                style.warn(format!("{:<22}", "installed, version ?"))
            }
            (None, true) => format!("{:<22}", "-"),
        };
        let _ =
            writeln!(text, "{:<9}  {version}  {:<30}  {}", it.card.name, it.card.transport, reports(it.can));
    }
    let missing: Vec<&Found> = found.iter().filter(|it| !it.installed()).collect();
    if !missing.is_empty() {
        let _ = writeln!(text, "\nNot installed here:");
    }
    for it in missing {
        let _ = writeln!(text, "{}", style.faint(format!("  {:<9}  {}", it.card.name, it.card.install)));
    }
    text
}

/// What it tells, in a few words.
fn reports(can: Abilities) -> String {
    let words = [
        (can.cost, "cost"),
        (can.live_usage, "usage while it works"),
        (can.shows_tool_start, "tools as they start"),
        (can.native_budget, "a budget of its own"),
    ];
    let known: Vec<&str> = words.into_iter().filter(|(on, _)| *on).map(|(_, word)| word).collect();
    if known.is_empty() { "its final message".to_owned() } else { known.join(", ") }
}
