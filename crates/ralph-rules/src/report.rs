//! The report of one or more days: runs completed and verified, cost, waste, alerts. Computed from the runs' accounts;
//! `report/markdown.rs` formats it.

mod markdown;
mod rate;
mod typical;

pub use rate::Rate;
pub use typical::{NotCompleted, Typical};

use crate::account::{RunAccount, Share};
use crate::ending::{Reason, Status};
use crate::money::{Micro, Usage};
use crate::record::StoryGrant;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Completion above this percentage is on target.
const COMPLETION: f64 = 70.0;
/// Stalls below this percentage are.
const STALLS: f64 = 20.0;

/// What a report is about.
#[derive(Clone, Debug, Default)]
pub struct Span {
    /// The first day, as it is written.
    pub from: String,
    /// The last day.
    pub to: String,
    /// What was spent on the last day over all runs of the user, and that day's limit.
    pub day: Option<(Micro, Micro)>,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Version of this shape.
    pub v: u32,
    /// The first day.
    pub from: String,
    /// The last day.
    pub to: String,
    /// Runs of the scripted agent, which no other figure includes.
    pub scripted_runs: u32,
    /// Everything together.
    pub overall: Overall,
    /// By skill.
    pub by_skill: Vec<Group>,
    /// Stories of plans that were granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stories: Vec<StoryGrant>,
    /// By agent and model.
    pub by_agent: Vec<Agent>,
    /// What was spent without gain.
    pub waste: Waste,
    /// Why runs were not completed, and how often.
    pub abort_reasons: BTreeMap<&'static str, u32>,
    /// Alerts.
    pub alerts: Vec<String>,
}

/// Everything together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overall {
    /// Runs.
    pub loops: u32,
    /// Completed.
    pub completed: u32,
    /// Completed, and shown to need the work: proven or tested.
    pub verified: u32,
    /// Runs by grade.
    pub grades: BTreeMap<&'static str, u32>,
    /// Neither completed nor stopped: under way, or cut off.
    pub open: u32,
    /// Percent of all.
    pub completion_rate: f64,
    /// The rate is above its target.
    pub completion_on_target: bool,
    /// What a completed run took.
    #[serde(flatten)]
    pub typical: Typical,
    /// Runs that ended otherwise.
    pub not_completed: NotCompleted,
    /// Iterations by the kind of work they report.
    pub work_types: BTreeMap<&'static str, u32>,
    /// All of it.
    #[serde(rename = "costUSD")]
    pub cost: f64,
    /// False if some cost is unknown and counted as its estimate.
    pub cost_is_complete: bool,
    /// All that was spent, over the runs that were proven or tested.
    #[serde(rename = "costPerVerifiedTaskUSD")]
    pub cost_per_verified: Option<f64>,
    /// Percent of all.
    pub stall_rate: f64,
    /// The rate is below its target.
    pub stall_on_target: bool,
    /// Tests that failed before and do not now.
    pub tests_fixed: i64,
    /// Claims of agents that could be compared with what ralph saw.
    pub claims: u32,
    /// Those that were true.
    pub claims_held: u32,
}

/// Runs with one skill.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// The skill; none where none was named.
    pub skill: Option<String>,
    /// Runs.
    pub loops: u32,
    /// Percent completed, of all.
    pub completion_rate: f64,
    /// Completed, of those that are over.
    pub completed: Rate,
    /// Mean of the completed ones, if there are any.
    pub avg_iterations: Option<f64>,
}

/// One agent with one model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The agent.
    pub agent: String,
    /// Its model, where it is known.
    pub model: Option<String>,
    /// Runs it had a part in.
    pub loops: u32,
    /// Calls.
    pub calls: u32,
    /// Tokens.
    pub usage: Usage,
    /// Dollars.
    #[serde(rename = "costUSD")]
    pub cost: f64,
    /// False where a part is unknown.
    pub cost_is_complete: bool,
    /// Claims that could be compared with what ralph saw.
    pub claims: u32,
    /// Those that were true.
    pub claims_held: u32,
    /// How often each kind of claim was not, by the lint's code.
    pub differences: BTreeMap<String, u32>,
}

/// What was spent without gain.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waste {
    /// Iterations after the last one that brought something new, in runs that were not proven done.
    pub idle_iterations: u32,
    /// What they cost.
    #[serde(rename = "idleCostUSD")]
    pub idle_cost: f64,
    /// Attempts that the provider's failures made necessary.
    pub retries: u32,
    /// What they cost.
    #[serde(rename = "retryCostUSD")]
    pub retry_cost: f64,
    /// How often a limit held a run up.
    pub limits: u32,
}

/// The report of these runs.
pub fn report(runs: &[RunAccount], span: &Span) -> Report {
    let scripted = runs.iter().filter(|run| run.is_scripted()).count();
    let runs = &match scripted {
        0 => Cow::Borrowed(runs),
        _ => runs.iter().filter(|run| !run.is_scripted()).cloned().collect(),
    };
    let mut reasons = BTreeMap::new();
    for run in runs.iter().filter(|run| !is_completed(run)) {
        if let Some(reason) = run.reason {
            *reasons.entry(reason.name()).or_insert(0) += 1;
        }
    }
    let overall = overall(runs);
    Report {
        v: 1,
        from: span.from.clone(),
        to: span.to.clone(),
        scripted_runs: count(scripted),
        by_skill: by_skill(runs),
        stories: runs.iter().flat_map(|run| run.stories.clone()).collect(),
        by_agent: by_agent(runs),
        waste: waste(runs),
        abort_reasons: reasons,
        alerts: alerts(runs, &overall, span),
        overall,
    }
}

fn overall(runs: &[RunAccount]) -> Overall {
    let loops = count(runs.len());
    if loops == 0 {
        return Overall { cost_is_complete: true, ..Overall::default() };
    }
    let completed: Vec<&RunAccount> = runs.iter().filter(|run| is_completed(run)).collect();
    let verified = count(runs.iter().filter(|r| r.shown()).count());
    let mut grades = BTreeMap::new();
    for grade in runs.iter().filter_map(|r| r.grade) {
        *grades.entry(grade.name()).or_default() += 1;
    }
    let stalled = count(runs.iter().filter(|r| r.reason == Some(Reason::Stall)).count());
    let cost: Micro = runs.iter().map(RunAccount::cost).sum();
    let mut work_types = BTreeMap::new();
    for (work, iterations) in runs.iter().flat_map(|run| &run.work) {
        *work_types.entry(work.word()).or_default() += iterations;
    }
    let (completion_rate, stall_rate) = (percent(count(completed.len()), loops), percent(stalled, loops));
    Overall {
        loops,
        completed: count(completed.len()),
        verified,
        grades,
        open: count(runs.iter().filter(|r| r.status.is_none()).count()),
        completion_rate,
        completion_on_target: completion_rate > COMPLETION,
        typical: Typical::of(&completed),
        not_completed: NotCompleted::of(runs),
        work_types,
        cost: cost.usd(),
        cost_is_complete: runs.iter().all(|r| r.unpriced() == 0),
        cost_per_verified: (verified > 0).then(|| mean(cost.usd(), verified)),
        stall_rate,
        stall_on_target: stall_rate < STALLS,
        tests_fixed: runs.iter().filter_map(RunAccount::tests_fixed).sum(),
        claims: runs.iter().map(|run| run.claims().0).fold(0, u32::saturating_add),
        claims_held: runs.iter().map(|run| run.claims().1).fold(0, u32::saturating_add),
    }
}

fn by_skill(runs: &[RunAccount]) -> Vec<Group> {
    let mut groups: BTreeMap<&Option<String>, Vec<&RunAccount>> = BTreeMap::new();
    for run in runs {
        groups.entry(&run.skill).or_default().push(run);
    }
    let group = |(skill, runs): (&Option<String>, Vec<&RunAccount>)| {
        let loops = count(runs.len());
        let over = count(runs.iter().filter(|run| run.status.is_some()).count());
        let completed: Vec<&RunAccount> = runs.into_iter().filter(|run| is_completed(run)).collect();
        Group {
            skill: skill.clone(),
            loops,
            completion_rate: percent(count(completed.len()), loops),
            completed: Rate::of(count(completed.len()), over),
            avg_iterations: Typical::of(&completed).avg_iterations,
        }
    };
    groups.into_iter().map(group).collect()
}

fn by_agent(runs: &[RunAccount]) -> Vec<Agent> {
    let mut agents: BTreeMap<(&str, Option<&str>), (u32, Share)> = BTreeMap::new();
    for share in runs.iter().flat_map(|run| &run.shares) {
        let (loops, sum) = agents.entry((&share.agent, share.model.as_deref())).or_default();
        *loops += 1;
        sum.calls = sum.calls.saturating_add(share.calls);
        sum.unpriced = sum.unpriced.saturating_add(share.unpriced);
        sum.usage = sum.usage.plus(&share.usage);
        sum.cost = sum.cost.plus(share.cost);
        sum.claims = sum.claims.saturating_add(share.claims);
        sum.claims_held = sum.claims_held.saturating_add(share.claims_held);
        for (kind, times) in &share.differences {
            let sum = sum.differences.entry(kind.clone()).or_default();
            *sum = sum.saturating_add(*times);
        }
    }
    let agent = |((agent, model), (loops, sum)): ((&str, Option<&str>), (u32, Share))| Agent {
        agent: agent.into(),
        model: model.map(str::to_owned),
        loops,
        calls: sum.calls,
        usage: sum.usage,
        cost: sum.cost.usd(),
        cost_is_complete: sum.unpriced == 0,
        claims: sum.claims,
        claims_held: sum.claims_held,
        differences: sum.differences,
    };
    agents.into_iter().map(agent).collect()
}

fn waste(runs: &[RunAccount]) -> Waste {
    let lost = || runs.iter().filter(|r| !r.shown());
    Waste {
        idle_iterations: lost().map(|r| r.idle).sum(),
        idle_cost: lost().map(|r| r.idle_cost).sum::<Micro>().usd(),
        retries: runs.iter().map(|r| r.retries).sum(),
        retry_cost: runs.iter().map(|r| r.retry_cost).sum::<Micro>().usd(),
        limits: runs.iter().map(|r| r.limits).sum(),
    }
}

fn alerts(runs: &[RunAccount], overall: &Overall, span: &Span) -> Vec<String> {
    let mut alerts = Vec::new();
    if let Some((spent, cap)) = span.day.filter(|(spent, cap)| reaches(*spent, *cap, 8)) {
        let mark = if overall.cost_is_complete { "" } else { "~" };
        alerts.push(format!("{mark}{spent} of the daily {cap} spent by all runs"));
    }
    if overall.loops > 0 && !overall.completion_on_target {
        alerts.push(format!(
            "completion rate is {:.0}% (target: above {COMPLETION:.0}%)",
            overall.completion_rate
        ));
    }
    if overall.loops > 0 && !overall.stall_on_target {
        alerts.push(format!("{:.0}% of runs stalled (target: below {STALLS:.0}%)", overall.stall_rate));
    }
    for run in runs {
        let short = run.run.get(run.run.len().saturating_sub(8)..).unwrap_or(&run.run);
        let (cost, used) = (run.cost(), run.iterations());
        if run.max_cost > Micro::ZERO && reaches(cost, run.max_cost, 8) {
            let mark = if run.unpriced() > 0 { "~" } else { "" };
            alerts.push(format!("run {short} spent {mark}{cost} of {}", run.max_cost));
        }
        if run.max_iterations > 0 && u64::from(used) * 10 >= u64::from(run.max_iterations) * 9 {
            alerts.push(format!("run {short} used {used} of {} iterations", run.max_iterations));
        }
        if run.unpriced() > 0 {
            let calls = run.unpriced();
            let s = if calls == 1 { "" } else { "s" };
            alerts.push(format!("run {short}: cost unknown for {calls} call{s}, counted as the estimate"));
        }
    }
    alerts
}

/// Whether `amount` is at least `tenths` tenths of `of`.
fn reaches(amount: Micro, of: Micro, tenths: i64) -> bool {
    amount.times(10) >= of.times(tenths)
}

fn is_completed(run: &RunAccount) -> bool {
    run.status == Some(Status::Completed)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn mean(sum: f64, n: u32) -> f64 {
    if n == 0 { 0.0 } else { sum / f64::from(n) }
}

fn percent(part: u32, all: u32) -> f64 {
    mean(f64::from(part) * 100.0, all)
}

#[cfg(test)]
mod tests;
