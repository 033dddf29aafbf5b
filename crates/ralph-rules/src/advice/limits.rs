//! Limits for a run of this kind, from runs that were completed: those that gave up say nothing about what finishing takes.

use super::kind::Kind;
use crate::account::RunAccount;
use crate::ending::Status;
use crate::estimate::percentile;
use crate::money::Micro;

/// Fewer runs are no pattern.
const ENOUGH: usize = 3;
/// A run that hits a limit early is more annoying than one that may try once more.
const LEAST_ITERATIONS: u32 = 3;
/// Costs are rounded up to this.
const STEP: i64 = 500_000;

/// The p95 of earlier runs, as limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsualLimits {
    /// Iterations.
    pub iterations: u32,
    /// Cost.
    pub cost: Micro,
    /// The completed runs behind them.
    pub runs: u32,
    /// Whether all of them were of the same kind.
    pub same_kind: bool,
}

impl UsualLimits {
    /// From the runs of this kind if there are enough, otherwise from all.
    pub fn of(history: &[RunAccount], kind: Kind) -> Option<UsualLimits> {
        let done = |run: &&RunAccount| {
            run.status == Some(Status::Completed)
                && run.unpriced() == 0
                && run.iterations() > 0
                && !run.is_scripted()
        };
        let all: Vec<&RunAccount> = history.iter().filter(done).collect();
        let same: Vec<&RunAccount> = all.iter().copied().filter(|run| run.task_type == kind).collect();
        let same_kind = same.len() >= ENOUGH;
        let runs = if same_kind { same } else { all };
        let mut lengths: Vec<u32> = runs.iter().map(|run| run.iterations()).collect();
        let mut costs: Vec<Micro> = runs.iter().map(|run| run.cost()).collect();
        lengths.sort_unstable();
        costs.sort_unstable();
        (runs.len() >= ENOUGH).then_some(())?;
        Some(UsualLimits {
            iterations: percentile(&lengths, 95)?.max(LEAST_ITERATIONS),
            cost: rounded_up(percentile(&costs, 95)?),
            runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            same_kind,
        })
    }
}

fn rounded_up(cost: Micro) -> Micro {
    let steps = cost.0.max(1).saturating_add(STEP - 1) / STEP;
    Micro(steps.saturating_mul(STEP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Share;

    fn run(status: Status, kind: Kind, costs: &[i64]) -> RunAccount {
        let cost = Micro(costs.iter().sum());
        RunAccount {
            agent: "claude".into(),
            status: Some(status),
            task_type: kind,
            costs: costs.iter().map(|cost| Micro(*cost)).collect(),
            shares: vec![Share { agent: "claude".into(), cost, ..Share::default() }],
            ..RunAccount::default()
        }
    }

    #[test]
    fn completed_runs_of_the_same_kind_count_first() {
        let done = |kind, costs: &[i64]| run(Status::Completed, kind, costs);
        let mut history = vec![
            done(Kind::Bug, &[100_000, 200_000]),
            done(Kind::Bug, &[100_000; 4]),
            run(Status::Aborted, Kind::Bug, &[9_000_000; 20]),
            done(Kind::Feature, &[700_000; 7]),
        ];
        let all = UsualLimits::of(&history, Kind::Bug).unwrap();
        assert_eq!((all.iterations, all.cost, all.runs, all.same_kind), (7, Micro(5_000_000), 3, false));
        history.push(done(Kind::Bug, &[100_000]));
        let bugs = UsualLimits::of(&history, Kind::Bug).unwrap();
        assert_eq!((bugs.iterations, bugs.cost, bugs.runs, bugs.same_kind), (4, Micro(500_000), 3, true));
        assert_eq!(UsualLimits::of(&history[..2], Kind::Bug), None);
    }
}
