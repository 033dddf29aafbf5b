//! What runs of one kind took: means and 95th percentiles. Runs that were completed are never mixed with those that were
//! not: a run that gave up early would make finishing look cheap.

use super::{count, is_completed, mean};
use crate::account::RunAccount;
use crate::estimate::percentile;
use crate::money::Micro;
use serde::Serialize;

/// What these runs took; nothing if there are none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Typical {
    /// Mean.
    pub avg_iterations: Option<f64>,
    /// 95th percentile.
    pub p95_iterations: Option<u32>,
    /// Mean, in dollars.
    #[serde(rename = "avgCostUSD")]
    pub avg_cost: Option<f64>,
    /// 95th percentile, in dollars.
    #[serde(rename = "p95CostUSD")]
    pub p95_cost: Option<f64>,
}

/// Runs that ended without being completed, by themselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NotCompleted {
    /// Runs.
    pub loops: u32,
    /// What they took.
    #[serde(flatten)]
    pub typical: Typical,
}

impl Typical {
    /// Of these runs.
    pub fn of(runs: &[&RunAccount]) -> Typical {
        let mut lengths: Vec<u32> = runs.iter().map(|run| run.iterations()).collect();
        let mut costs: Vec<Micro> = runs.iter().map(|run| run.cost()).collect();
        lengths.sort_unstable();
        costs.sort_unstable();
        let loops = count(runs.len());
        let some = |sum: f64| (loops > 0).then(|| mean(sum, loops));
        Typical {
            avg_iterations: some(lengths.iter().map(|n| f64::from(*n)).sum()),
            p95_iterations: percentile(&lengths, 95),
            avg_cost: some(costs.iter().copied().sum::<Micro>().usd()),
            p95_cost: percentile(&costs, 95).map(Micro::usd),
        }
    }
}

impl NotCompleted {
    /// Of those among these runs; one that is still open has not taken all of it.
    pub fn of(runs: &[RunAccount]) -> NotCompleted {
        let ended = |run: &&RunAccount| run.status.is_some() && !is_completed(run);
        let runs: Vec<&RunAccount> = runs.iter().filter(ended).collect();
        NotCompleted { loops: count(runs.len()), typical: Typical::of(&runs) }
    }
}
