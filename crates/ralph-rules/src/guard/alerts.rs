//! Alerts: a limit comes near. 80 % of the run's cost, 90 % of its iterations, 80 % of the day's budget over all runs;
//! each is told once for a limit, in the decision that follows the call. They stop nothing.

use crate::objection::Objection;
use crate::policy::Policy;
use crate::record::DaySpend;
use crate::state::State;

/// What was told, and what the day came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alerts {
    /// ConversationTotals so far, with the iteration each was told in.
    pub told: Vec<(u32, Objection)>,
    /// The day as the latest call left it.
    pub day: Option<DaySpend>,
}

impl Alerts {
    /// A decision was made in this iteration.
    pub(crate) fn decided(&mut self, reasons: &[Objection], iteration: u32) {
        for alert in reasons.iter().filter(|o| o.is_alert()) {
            if !self.was_told(alert) {
                self.told.push((iteration, alert.clone()));
            }
        }
    }

    /// Those told in this iteration.
    pub fn of(&self, iteration: u32) -> impl Iterator<Item = Objection> + '_ {
        self.told.iter().filter(move |(n, _)| *n == iteration).map(|(_, alert)| alert.clone())
    }

    /// ConversationTotals already of the same limit; a limit that was raised, or another day's, is another one.
    fn was_told(&self, alert: &Objection) -> bool {
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

/// What is near now and was not told yet.
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
    [cost, iterations, day].into_iter().flatten().filter(|alert| !state.alerts.was_told(alert)).collect()
}
