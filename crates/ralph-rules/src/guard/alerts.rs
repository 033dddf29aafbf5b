//! Alerts: a limit is close. 80% of the run's cost, 90% of its iterations, 80% of the daily budget over all runs. Each is
//! reported once per limit, in the decision that follows the call. Alerts do not stop a run.

use crate::objection::Objection;
use crate::policy::Policy;
use crate::record::DaySpend;
use crate::state::State;

/// Alerts reported so far, and the day's spending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alerts {
    /// Alerts so far, each with the iteration it was reported in.
    pub told: Vec<(u32, Objection)>,
    /// The day's spending after the latest call.
    pub day: Option<DaySpend>,
}

impl Alerts {
    /// A decision was made in this iteration.
    pub(crate) fn decided(&mut self, reasons: &[Objection], iteration: u32) {
        for alert in reasons.iter().filter(|o| o.is_alert()) {
            if !self.was_reported(alert) {
                self.told.push((iteration, alert.clone()));
            }
        }
    }

    /// Alerts reported in this iteration.
    pub fn of(&self, iteration: u32) -> impl Iterator<Item = Objection> + '_ {
        self.told.iter().filter(move |(n, _)| *n == iteration).map(|(_, alert)| alert.clone())
    }

    /// Whether the same limit was reported already. A raised limit, or another day's, is a different one.
    pub(crate) fn was_reported(&self, alert: &Objection) -> bool {
        use Objection as O;
        self.told.iter().any(|(_, told)| match (told, alert) {
            (O::CostNearly { cap: a, .. }, O::CostNearly { cap: b, .. }) => a == b,
            (O::IterationsNearly { max: a, .. }, O::IterationsNearly { max: b, .. }) => a == b,
            (O::DayNearly { date: a, cap: of_a, .. }, O::DayNearly { date: b, cap: of_b, .. }) => {
                (a, of_a) == (b, of_b)
            }
            _ => false,
        })
    }
}

/// Limits that are close now and have not been reported yet.
pub fn due(state: &State, policy: &Policy) -> Vec<Objection> {
    let (used, max) = (state.calls.done, policy.max_iterations);
    let spent = state.budget.spent.plus(state.budget.live);
    let cost = (spent.times(10) >= policy.max_cost.times(8))
        .then_some(Objection::CostNearly { spent, cap: policy.max_cost });
    let iterations = (u64::from(used) * 10 >= u64::from(max) * 9 && used < max)
        .then_some(Objection::IterationsNearly { used, max });
    let cap = policy.daily_cost;
    let day = state.alerts.day.as_ref().filter(|day| day.spent.times(10) >= cap.times(8));
    let day = day.map(|day| Objection::DayNearly { date: day.date.clone(), spent: day.spent, cap });
    [cost, iterations, day].into_iter().flatten().filter(|alert| !state.alerts.was_reported(alert)).collect()
}
