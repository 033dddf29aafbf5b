//! The numbers of `ralph stats`, a page and a report: what runs took, how often they completed, day by day. Computed from
//! accounts; a rate comes with what is behind it.

use crate::run_detail::ENOUGH_RUNS;
use ralph_engine::clock::utc;
use ralph_engine::metrics::calendar::{stamp, today};
use ralph_rules::account::RunAccount;
use ralph_rules::ending::{Reason, Status};
use ralph_rules::estimate::Estimate;
use ralph_rules::money::Micro;
use ralph_rules::report::{Agent, Group, Overall, Rate, Span, Waste, report};
use serde::Serialize;
use std::collections::BTreeMap;

/// Days that are shown one by one.
const DAYS: usize = 14;

/// The numbers over some runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // schemas/stats.shape names each field
pub struct Statistics {
    pub v: u32,
    /// None where every workspace's runs are counted.
    pub workspace: Option<String>,
    pub since: Option<String>,
    /// Runs of the scripted agent, which no other figure includes.
    pub scripted_runs: u32,
    pub overall: Overall,
    pub rates: Rates,
    pub by_skill: Vec<Group>,
    pub by_agent: Vec<Agent>,
    pub estimates: Vec<Usual>,
    pub waste: Waste,
    pub abort_reasons: BTreeMap<&'static str, u32>,
    pub days: Vec<Day>,
}

/// How often runs end well.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// Completed, of the runs that are over.
    pub completed: Rate,
    /// Proven or tested, of the runs that are over.
    pub proven: Rate,
    /// Stalled, of the runs that are over.
    pub stalled: Rate,
}

/// What one agent with one model usually takes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Usual {
    pub agent: String,
    pub model: Option<String>,
    pub runs: u32,
    pub iterations: u32,
    #[serde(rename = "costP50USD")]
    pub cost_p50: f64,
    #[serde(rename = "costP90USD")]
    pub cost_p90: f64,
    /// False where a part is unknown and counted as its estimate.
    pub cost_is_complete: bool,
    pub iterations_p50: u32,
    pub iterations_p90: u32,
}

/// One day with runs.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Day {
    pub day: String,
    pub loops: u32,
    pub completed: u32,
    /// Proven or tested.
    pub proven: u32,
    #[serde(rename = "costUSD")]
    pub cost: f64,
    /// What proven and tested runs cost.
    #[serde(rename = "provenCostUSD")]
    pub proven_cost: f64,
    pub cost_is_complete: bool,
}

impl Statistics {
    /// Over these runs, oldest first, of one workspace or of all. `scripted` runs are only counted.
    pub fn of(runs: &[RunAccount], workspace: Option<String>, scripted: u32, zone: &str) -> Statistics {
        let all = report(runs, &Span::default());
        let over = all.overall.loops.saturating_sub(all.overall.open);
        let stalled = all.abort_reasons.get(Reason::Stall.name()).copied().unwrap_or(0);
        Statistics {
            v: 1,
            workspace,
            since: runs.first().map(|run| stamp(run.started)),
            scripted_runs: scripted,
            rates: Rates {
                completed: Rate::of(all.overall.completed, over),
                proven: Rate::of(all.overall.verified, over),
                stalled: Rate::of(stalled, over),
            },
            overall: all.overall,
            by_skill: all.by_skill,
            by_agent: all.by_agent,
            estimates: usual(runs),
            waste: all.waste,
            abort_reasons: all.abort_reasons,
            days: days(runs, zone),
        }
    }

    /// For a screen that shows estimates without saying how many runs are behind each: only those with enough of them.
    #[must_use]
    pub fn with_enough_runs(mut self) -> Statistics {
        self.estimates.retain(|usual| usual.runs >= ENOUGH_RUNS);
        self
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
        let proven: Vec<&&RunAccount> = runs.iter().filter(|run| run.shown()).collect();
        Day {
            day,
            proven: u32::try_from(proven.len()).unwrap_or(u32::MAX),
            proven_cost: proven.iter().map(|run| run.cost()).sum::<Micro>().usd(),
            loops: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            completed: u32::try_from(completed.count()).unwrap_or(u32::MAX),
            cost: runs.iter().map(|run| run.cost()).sum::<Micro>().usd(),
            cost_is_complete: runs.iter().all(|run| run.unpriced() == 0),
        }
    };
    days.into_iter().skip(skipped).map(day).collect()
}
