//! What a run will probably take, from runs of the same agent and model in the same repository: half of them stayed
//! below the one number, nine in ten below the other. The face asks at the start; what was found is in `RunStarted`,
//! so that a run can be decided again.

use crate::account::RunAccount;
use crate::money::Micro;
use serde::{Deserialize, Serialize};

/// Reserved before a call without history.
pub const DEFAULT: Micro = Micro(500_000);
/// Minimum reservation, since it is also what an unknown cost is counted as.
const LEAST: Micro = Micro(10_000);

/// What earlier runs took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Runs behind it.
    pub runs: u32,
    /// Iterations behind it.
    pub iterations: u32,
    /// Median cost of an iteration, in micro-dollars.
    pub cost_p50: Micro,
    /// 90th percentile.
    pub cost_p90: Micro,
    /// Median number of iterations per run.
    pub iterations_p50: u32,
    /// 90th percentile.
    pub iterations_p90: u32,
}

impl Estimate {
    /// From completed runs with known cost; none without any.
    pub fn of(history: &[RunAccount]) -> Option<Estimate> {
        let known = history.iter().filter(|run| run.ended.is_some() && run.unpriced() == 0);
        let known: Vec<&RunAccount> = known.filter(|run| !run.costs.is_empty()).collect();
        let mut costs: Vec<Micro> = known.iter().flat_map(|run| run.costs.iter().copied()).collect();
        let mut lengths: Vec<u32> = known.iter().map(|run| run.iterations()).collect();
        costs.sort_unstable();
        lengths.sort_unstable();
        Some(Estimate {
            runs: u32::try_from(known.len()).unwrap_or(u32::MAX),
            iterations: u32::try_from(costs.len()).unwrap_or(u32::MAX),
            cost_p50: percentile(&costs, 50)?,
            cost_p90: percentile(&costs, 90)?,
            iterations_p50: percentile(&lengths, 50)?,
            iterations_p90: percentile(&lengths, 90)?,
        })
    }

    /// What to reserve before a call.
    pub fn reservation(&self) -> Micro {
        self.cost_p90.max(LEAST)
    }
}

/// A percentile of sorted values.
pub fn percentile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Share;

    fn run(costs: &[i64], unpriced: u32) -> RunAccount {
        RunAccount {
            ended: Some(1),
            costs: costs.iter().map(|c| Micro(*c)).collect(),
            shares: vec![Share { unpriced, ..Share::default() }],
            ..RunAccount::default()
        }
    }

    #[test]
    fn half_and_nine_in_ten_with_the_number_of_runs_behind() {
        let history = [run(&[10, 20, 30, 40], 0), run(&[50, 60, 70, 80, 90, 100], 0)];
        let found = Estimate::of(&history).unwrap();
        assert_eq!((found.runs, found.iterations), (2, 10));
        assert_eq!((found.cost_p50, found.cost_p90), (Micro(50), Micro(90)));
        assert_eq!((found.iterations_p50, found.iterations_p90), (4, 6));
        assert_eq!(found.reservation(), LEAST);
    }

    #[test]
    fn what_is_unknown_or_goes_on_says_nothing() {
        let open = RunAccount { ended: None, ..run(&[5], 0) };
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(Estimate::of(&[open.clone(), run(&[7], 1), run(&[], 0)]), None);
        assert_eq!(Estimate::of(&[open, run(&[70_000], 0)]).unwrap().reservation(), Micro(70_000));
    }
}
