//! `ralph stats`: statistics over all runs in this workspace; `stats/text.rs` formats them.

mod text;

use super::{Here, resolve, runs};
use crate::print::{print, print_json, say};
use crate::problem::Problem;
use ralph_engine::clock::utc;
use ralph_engine::metrics::calendar::{stamp, today};
use ralph_engine::metrics::with_unsettled;
use ralph_rules::account::RunAccount;
use ralph_rules::counting::counted;
use ralph_rules::ending::Status;
use ralph_rules::estimate::Estimate;
use ralph_rules::money::Micro;
use ralph_rules::report::{Agent, Group, Overall, Span, Waste, report};
use ralph_store::AccountFilter;
use serde::Serialize;
use std::collections::BTreeMap;

/// Days that are shown one by one.
const DAYS: usize = 14;

/// Arguments of `ralph stats`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Include runs in all workspaces.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The answer of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    v: u32,
    /// None where every workspace's runs are counted.
    workspace: Option<String>,
    since: Option<String>,
    /// Runs of the scripted agent, which no other figure includes.
    scripted_runs: u32,
    overall: Overall,
    by_skill: Vec<Group>,
    by_agent: Vec<Agent>,
    estimates: Vec<Usual>,
    waste: Waste,
    abort_reasons: BTreeMap<&'static str, u32>,
    days: Vec<Day>,
}

/// What one agent with one model usually takes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usual {
    agent: String,
    model: Option<String>,
    runs: u32,
    iterations: u32,
    #[serde(rename = "costP50USD")]
    cost_p50: f64,
    #[serde(rename = "costP90USD")]
    cost_p90: f64,
    /// False where a part is unknown and counted as its estimate.
    cost_is_complete: bool,
    iterations_p50: u32,
    iterations_p90: u32,
}

/// One day with runs.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Day {
    day: String,
    loops: u32,
    completed: u32,
    #[serde(rename = "costUSD")]
    cost: f64,
    cost_is_complete: bool,
}

/// Prints the history.
pub fn stats(args: &Args, here: &Here) -> Result<u8, Problem> {
    let workspace = (!args.all).then(|| here.workspace.to_string_lossy().into_owned());
    let filter = AccountFilter { workspace: workspace.clone(), ..AccountFilter::default() };
    let mut runs = match here.home()?.store_if_any().map_err(|e| runs::broken(&e))? {
        Some(store) => with_unsettled(&store, &filter).map_err(|e| runs::broken(&e))?,
        None => Vec::new(),
    };
    runs.reverse();
    let all = runs.len();
    runs.retain(|run| !run.is_scripted());
    let scripted = u32::try_from(all - runs.len()).unwrap_or(u32::MAX);
    if runs.is_empty() && !args.json {
        let place = if args.all { "" } else { " in this workspace (--all includes other workspaces)" };
        say(&format!("No runs{place}.\n"));
        if scripted > 0 {
            say(&format!("Not counted: {}.\n", of_the_scripted_agent(scripted)));
        }
        return Ok(0);
    }
    let stats = Stats { scripted_runs: scripted, ..count(&runs, workspace, &resolve::zone(here)) };
    match args.json {
        true => print_json(&stats)?,
        false => print(&text::text(&stats, here.out_style())),
    }
    Ok(0)
}

fn of_the_scripted_agent(runs: u32) -> String {
    format!("{} of the scripted agent (sim)", counted(runs, "run"))
}

fn count(runs: &[RunAccount], workspace: Option<String>, zone: &str) -> Stats {
    let all = report(runs, &Span::default());
    Stats {
        v: 1,
        workspace,
        since: runs.first().map(|run| stamp(run.started)),
        scripted_runs: 0,
        overall: all.overall,
        by_skill: all.by_skill,
        by_agent: all.by_agent,
        estimates: usual(runs),
        waste: all.waste,
        abort_reasons: all.abort_reasons,
        days: days(runs, zone),
    }
}

fn usual(runs: &[RunAccount]) -> Vec<Usual> {
    let mut groups: BTreeMap<(&str, Option<&str>), Vec<RunAccount>> = BTreeMap::new();
    for run in runs {
        groups.entry((&run.agent, run.model.as_deref())).or_default().push(run.clone());
    }
    let usual = |((agent, model), runs): (&(&str, Option<&str>), &Vec<RunAccount>)| {
        let found = Estimate::of(runs)?;
        Some(Usual {
            agent: (*agent).into(),
            model: model.map(str::to_owned),
            runs: found.runs,
            iterations: found.iterations,
            cost_p50: found.cost_p50.usd(),
            cost_p90: found.cost_p90.usd(),
            cost_is_complete: runs.iter().all(|run| run.unpriced() == 0),
            iterations_p50: found.iterations_p50,
            iterations_p90: found.iterations_p90,
        })
    };
    groups.iter().filter_map(usual).collect()
}

/// The latest days with runs, oldest first. Runs come in order, so a day that is over does not come again, unless the
/// clock was set back.
fn days(runs: &[RunAccount], zone: &str) -> Vec<Day> {
    let mut days: BTreeMap<String, Vec<&RunAccount>> = BTreeMap::new();
    for run in runs {
        let Some(day) = today(run.started.min(utc()), zone) else { continue };
        days.entry(day.to_string()).or_default().push(run);
    }
    let skipped = days.len().saturating_sub(DAYS);
    let day = |(day, runs): (String, Vec<&RunAccount>)| {
        let completed = runs.iter().filter(|run| run.status == Some(Status::Completed));
        Day {
            day,
            loops: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            completed: u32::try_from(completed.count()).unwrap_or(u32::MAX),
            cost: runs.iter().map(|run| run.cost()).sum::<Micro>().usd(),
            cost_is_complete: runs.iter().all(|run| run.unpriced() == 0),
        }
    };
    days.into_iter().skip(skipped).map(day).collect()
}
