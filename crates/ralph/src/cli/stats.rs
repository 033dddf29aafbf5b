//! `ralph stats`: statistics over all runs in this workspace.

use super::{Here, resolve, runs};
use crate::plain::plain;
use crate::print::{print, print_json, say};
use crate::problem::Problem;
use crate::style::Style;
use ralph_engine::clock::utc;
use ralph_engine::metrics::calendar::{stamp, today};
use ralph_engine::rows::accounts;
use ralph_rules::account::RunAccount;
use ralph_rules::counting::counted;
use ralph_rules::ending::Status;
use ralph_rules::estimate::Estimate;
use ralph_rules::money::Micro;
use ralph_rules::report::{Agent, Overall, Span, Typical, Waste, report};
use ralph_store::AccountFilter;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

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
    overall: Overall,
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
}

/// Prints the history.
pub fn stats(args: &Args, here: &Here) -> Result<u8, Problem> {
    let workspace = (!args.all).then(|| here.workspace.to_string_lossy().into_owned());
    let filter = AccountFilter { workspace: workspace.clone(), ..AccountFilter::default() };
    let mut runs = match here.home()?.store_if_any().map_err(|e| runs::broken(&e))? {
        Some(store) => accounts(&store, &filter).map_err(|e| runs::broken(&e))?,
        None => Vec::new(),
    };
    runs.reverse();
    if runs.is_empty() && !args.json {
        let place = if args.all { "" } else { " in this workspace (--all includes other workspaces)" };
        say(&format!("No runs{place}.\n"));
        return Ok(0);
    }
    let stats = count(&runs, workspace, &resolve::zone(here));
    match args.json {
        true => print_json(&stats)?,
        false => print(&text(&stats, here.out_style())),
    }
    Ok(0)
}

fn count(runs: &[RunAccount], workspace: Option<String>, zone: &str) -> Stats {
    let all = report(runs, &Span::default());
    Stats {
        v: 1,
        workspace,
        since: runs.first().map(|run| stamp(run.started)),
        overall: all.overall,
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
            iterations_p50: found.iterations_p50,
            iterations_p90: found.iterations_p90,
        })
    };
    groups.iter().filter_map(usual).collect()
}

/// The latest days with runs, oldest first. Runs come in order, so a day that is over does not come again, unless the
/// clock was set back.
fn days(runs: &[RunAccount], zone: &str) -> Vec<Day> {
    let mut days: BTreeMap<String, (u32, u32, Micro)> = BTreeMap::new();
    for run in runs {
        let Some(day) = today(run.started.min(utc()), zone) else { continue };
        let sum = days.entry(day.to_string()).or_default();
        sum.0 += 1;
        sum.1 += u32::from(run.status == Some(Status::Completed));
        sum.2 = sum.2.plus(run.cost());
    }
    let skipped = days.len().saturating_sub(DAYS);
    let day =
        |(day, (loops, completed, cost)): (_, (_, _, Micro))| Day { day, loops, completed, cost: cost.usd() };
    days.into_iter().skip(skipped).map(day).collect()
}

fn text(stats: &Stats, style: Style) -> String {
    let mut text = String::new();
    let all = &stats.overall;
    let mark = if all.cost_is_complete { "" } else { "~" };
    let usd = |amount: f64| Micro::from_usd(amount).unwrap_or_default().to_string();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    let open = if all.open > 0 { format!(", {} still open", all.open) } else { String::new() };
    row(
        "runs",
        format!(
            "{}, {:.0}% completed, {} proven or tested{open}",
            all.loops, all.completion_rate, all.verified
        ),
    );
    if !all.grades.is_empty() {
        let grades = all.grades.iter().map(|(grade, runs)| format!("{grade} {runs}"));
        row("proof", grades.collect::<Vec<_>>().join(", "));
    }
    let others = &all.not_completed.typical;
    row("iterations", iterations(&all.typical).map_or("-".into(), |it| it + " per completed run"));
    if let Some(it) = iterations(others) {
        row("", it + " per run that was not completed");
    }
    if !all.work_types.is_empty() {
        let work = all.work_types.iter().map(|(work, iterations)| format!("{work} {iterations}"));
        row("work types", work.collect::<Vec<_>>().join(", "));
    }
    row("cost", format!("{mark}{} total", usd(all.cost)));
    for (typical, kind) in [(&all.typical, "completed run"), (others, "run that was not completed")] {
        if let (Some(avg), Some(p95)) = (typical.avg_cost, typical.p95_cost) {
            row("", format!("{mark}{} per {kind} (p95: {})", usd(avg), usd(p95)));
        }
    }
    if let Some(cost) = all.cost_per_verified {
        row("", format!("{mark}{} per proven or tested run", usd(cost)));
    }
    row("tests", format!("{} fixed", all.tests_fixed));
    if all.claims > 0 {
        row("claims that held:", format!("{} of {}", all.claims_held, all.claims));
    }
    let claiming: Vec<&Agent> = stats.by_agent.iter().filter(|agent| agent.claims > 0).collect();
    for agent in claiming.iter().filter(|_| claiming.len() > 1) {
        let who = name(&agent.agent, agent.model.as_deref());
        row("", format!("{} of {} by {who}", agent.claims_held, agent.claims));
    }
    let waste = &stats.waste;
    let idle = format!("{} without progress", counted(waste.idle_iterations, "iteration"));
    let retries = if waste.retries == 1 { "1 retry".into() } else { format!("{} retries", waste.retries) };
    row("waste", format!("{idle} ({}), {retries}", usd(waste.idle_cost)));
    row("waited", format!("{} for a rate limit", counted(waste.limits, "time")));
    if !stats.abort_reasons.is_empty() {
        let reasons = stats.abort_reasons.iter().map(|(reason, n)| format!("{reason} {n}"));
        row("stopped by", reasons.collect::<Vec<_>>().join(", "));
    }
    tables(&mut text, stats, style);
    text
}

/// An agent with its model, if that is known, within a column.
fn name(agent: &str, model: Option<&str>) -> String {
    let whole = model.map_or_else(|| agent.to_owned(), |model| format!("{agent} {model}"));
    plain(&whole).chars().take(28).collect()
}

/// Mean and p95 of the iterations of some runs; none if there are no such runs.
fn iterations(of: &Typical) -> Option<String> {
    Some(format!("{:.1} (p95: {})", of.avg_iterations?, of.p95_iterations?))
}

fn tables(text: &mut String, stats: &Stats, style: Style) {
    let usd = |amount: f64| Micro::from_usd(amount).unwrap_or_default().to_string();
    let head = format!(
        "\n{:<28}  {:>5}  {:>10}  {:>10}  {:>9}  {:>7}",
        "TYPICAL", "RUNS", "ITER p50", "COST p50", "COST p90", "RUN p90"
    );
    let _ = writeln!(text, "{}", style.faint(head));
    for it in &stats.estimates {
        let _ = writeln!(
            text,
            "{:<28}  {:>5}  {:>10}  {:>10}  {:>9}  {:>7}",
            name(&it.agent, it.model.as_deref()),
            it.runs,
            it.iterations_p50,
            usd(it.cost_p50),
            usd(it.cost_p90),
            it.iterations_p90,
        );
    }
    let head = format!("\n{:<10}  {:>5}  {:>9}  {:>9}", "DAY", "RUNS", "COMPLETED", "COST");
    let _ = writeln!(text, "{}", style.faint(head));
    for day in &stats.days {
        let _ =
            writeln!(text, "{:<10}  {:>5}  {:>9}  {:>9}", day.day, day.loops, day.completed, usd(day.cost));
    }
}
