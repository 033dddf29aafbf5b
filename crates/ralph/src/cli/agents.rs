//! `ralph agents`: which agents are installed here, their versions, and what each can report.

use super::Here;
use super::versions::Versions;
use crate::config;
use crate::print::{print, print_json};
use crate::problem::Problem;
use crate::style::Style;
use ralph_agents::registry::AGENTS;
use ralph_agents::{Abilities, AgentInfo};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// The arguments of `ralph agents`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// One agent as it is here.
struct Found {
    info: &'static AgentInfo,
    /// Where its program is; none where it is not installed or has no program of its own.
    program: Option<PathBuf>,
    version: Option<String>,
}

impl Found {
    fn installed(&self) -> bool {
        self.program.is_some() || self.info.program.is_none()
    }
}

/// Lists the agents.
pub fn agents(args: &Args, here: &Here) -> Result<u8, Problem> {
    let mut found = find(here)?;
    let mut versions = Versions::load(here.home()?.dir());
    let programs: Vec<_> =
        found.iter().filter_map(|it| Some((it.program.clone()?, it.info.version_args))).collect();
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
    let settings = config::load_files(&here.workspace, &here.env)?.settings;
    let found = AGENTS.iter().map(|info| {
        let own = settings.agents.get(info.name).and_then(|own| own.command.as_deref());
        let program = own.or(info.program).and_then(|name| here.env.which(name, &here.workspace));
        Found { info, program, version: None }
    });
    Ok(found.collect())
}

fn as_json(it: &Found) -> Value {
    let info = it.info;
    json!({
        "name": info.name,
        "title": info.title,
        "installed": it.installed(),
        "program": it.program,
        "version": it.version,
        "tried": info.tried,
        "transport": info.transport(),
        "can": abilities(info.abilities),
        "install": info.install(),
        "tier": info.tier.words(),
        "permissions": info.permissions.summary,
        "model_reported": info.model.reported,
        "credentials": { "env": info.credentials.env, "files": info.credentials.files },
        "state_dirs": info.state_dirs,
        "hosts": info.hosts,
        "any_provider": info.any_provider,
    })
}

/// What it can report and do. Version 0.1 also had two abilities that no agent had; scripts may read them.
fn abilities(can: Abilities) -> Value {
    json!({
        "live_usage": can.live_usage,
        "cost": can.cost,
        "shows_tool_start": can.shows_tool_start,
        "native_budget": can.native_budget,
        "asks_permission": false,
        "can_cancel": false,
        "resumes": can.resumes,
        "system_prompt": can.system_prompt,
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
            (None, true) if it.info.program.is_some() => {
                style.warn(format!("{:<22}", "installed, version ?"))
            }
            (None, true) => format!("{:<22}", "-"),
        };
        let (transport, reports) = (it.info.transport(), reports(it.info.abilities));
        let _ = writeln!(text, "{:<9}  {version}  {transport:<30}  {reports}", it.info.name);
    }
    let missing: Vec<&Found> = found.iter().filter(|it| !it.installed()).collect();
    if !missing.is_empty() {
        let _ = writeln!(text, "\nNot installed here:");
    }
    for it in missing {
        let line = format!("  {:<9}  {}", it.info.name, it.info.install());
        let _ = writeln!(text, "{}", style.faint(line));
    }
    text
}

/// What it reports, in a few words.
fn reports(can: Abilities) -> String {
    let words = [
        (can.cost, "cost"),
        (can.live_usage, "live usage"),
        (can.shows_tool_start, "tool starts"),
        (can.native_budget, "its own budget limit"),
    ];
    let known: Vec<&str> = words.into_iter().filter(|(on, _)| *on).map(|(_, word)| word).collect();
    if known.is_empty() { "final message only".to_owned() } else { known.join(", ") }
}
