//! Formats the statistics for a terminal.

use super::of_the_scripted_agent;
use crate::plain::plain;
use crate::style::Style;
use ralph_rules::counting::counted;
use ralph_rules::money::Micro;
use ralph_rules::report::{Agent, Rate, Typical};
use ralph_view::statistics::{Rates, Statistics};
use std::fmt::Write;

/// An amount in dollars; `~` marks one that is partly estimated.
fn usd(amount: f64, complete: bool) -> String {
    let amount = Micro::from_usd(amount).unwrap_or_default();
    format!("{}{amount}", if complete { "" } else { "~" })
}

/// `50%, 95% interval 24% to 76%`.
fn interval(rate: Rate) -> String {
    format!("{:.0}%, 95% interval {:.0}% to {:.0}%", rate.percent, rate.low, rate.high)
}

/// As a person reads them.
pub fn text(stats: &Statistics, style: Style) -> String {
    let mut text = String::new();
    let all = &stats.overall;
    let usd = |amount: f64| usd(amount, all.cost_is_complete);
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    let open = if all.open > 0 { format!(", {} still open", all.open) } else { String::new() };
    row("runs", format!("{}{open}", all.loops));
    match stats.rates.completed.of {
        0 => row("", "none has ended".into()),
        of => {
            let Rates { completed, proven, .. } = stats.rates;
            row("", format!("{} of {of} completed ({})", completed.n, interval(completed)));
            row("", format!("{} of {of} proven or tested ({})", proven.n, interval(proven)));
        }
    }
    if stats.scripted_runs > 0 {
        row("", format!("not counted: {}", of_the_scripted_agent(stats.scripted_runs)));
    }
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
    row("cost", format!("{} total", usd(all.cost)));
    for (typical, kind) in [(&all.typical, "completed run"), (others, "run that was not completed")] {
        if let (Some(avg), Some(p95)) = (typical.avg_cost, typical.p95_cost) {
            row("", format!("{} per {kind} (p95: {})", usd(avg), usd(p95)));
        }
    }
    if let Some(cost) = all.cost_per_verified {
        row("", format!("{} per proven or tested run", usd(cost)));
    }
    row("tests", format!("{} fixed", all.tests_fixed));
    if all.claims > 0 {
        row("claims that held:", format!("{} of {}", all.claims_held, all.claims));
    }
    for line in word_of_agents(&stats.by_agent) {
        row("", line);
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

/// How often each agent's claims held, if there are several, and what each reported wrongly.
fn word_of_agents(agents: &[Agent]) -> Vec<String> {
    let claiming: Vec<&Agent> = agents.iter().filter(|agent| agent.claims > 0).collect();
    let who = |agent: &Agent| name(&agent.agent, agent.model.as_deref());
    let several = claiming.iter().filter(|_| claiming.len() > 1);
    let held = several.map(|agent| format!("{} of {} by {}", agent.claims_held, agent.claims, who(agent)));
    let wrong = claiming.iter().filter(|agent| !agent.differences.is_empty()).map(|agent| {
        let kinds = agent.differences.iter().map(|(kind, times)| format!("{kind} {times}"));
        format!("reported wrongly by {}: {}", who(agent), kinds.collect::<Vec<_>>().join(", "))
    });
    held.chain(wrong).collect()
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

fn tables(text: &mut String, stats: &Statistics, style: Style) {
    typical(text, stats, style);
    skills(text, stats, style);
    let head = format!("\n{:<10}  {:>5}  {:>9}  {:>9}", "DAY", "RUNS", "COMPLETED", "COST");
    let _ = writeln!(text, "{}", style.faint(head));
    for day in &stats.days {
        let cost = usd(day.cost, day.cost_is_complete);
        let _ = writeln!(text, "{:<10}  {:>5}  {:>9}  {cost:>9}", day.day, day.loops, day.completed);
    }
}

/// What each agent usually takes, if any run says something about it.
fn typical(text: &mut String, stats: &Statistics, style: Style) {
    if stats.estimates.is_empty() {
        return;
    }
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
            usd(it.cost_p50, it.cost_is_complete),
            usd(it.cost_p90, it.cost_is_complete),
            it.iterations_p90,
        );
    }
}

/// Runs by skill, if one was ever used.
fn skills(text: &mut String, stats: &Statistics, style: Style) {
    if stats.by_skill.iter().all(|group| group.skill.is_none()) {
        return;
    }
    let head = format!(
        "\n{:<24}  {:>5}  {:>9}  {:>15}  {:>9}",
        "SKILL", "RUNS", "COMPLETED", "95% INTERVAL", "ITER mean"
    );
    let _ = writeln!(text, "{}", style.faint(head));
    for group in &stats.by_skill {
        let skill: String = plain(group.skill.as_deref().unwrap_or("none")).chars().take(24).collect();
        let mean = group.avg_iterations.map_or_else(|| "-".into(), |mean| format!("{mean:.1}"));
        let Rate { n, of, low, high, .. } = group.completed;
        let (rate, interval) = match of {
            0 => ("-".into(), "-".into()),
            _ => (format!("{n} of {of}"), format!("{low:.0}% to {high:.0}%")),
        };
        let _ = writeln!(text, "{skill:<24}  {:>5}  {rate:>9}  {interval:>15}  {mean:>9}", group.loops);
    }
}
