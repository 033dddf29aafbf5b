//! Guard: the run's money. Before a call an amount is reserved; while it runs the reservation is kept two of
//! its dearest turns ahead of the usage seen, one in flight and one begun before ralph could answer; usage
//! that reaches the cap ends the call. So real spend passes the cap by two turns at most.

use crate::money::{Micro, Usage};
use crate::objection::Objection;
use crate::policy::Policy;
use crate::record::{ConversationTotals, PriceFrom, Spent};

/// What was spent, is held, and is being spent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// Settled.
    pub spent: Micro,
    /// Held for the call that runs.
    pub reserved: Micro,
    /// Usage seen in the call that runs.
    pub live: Micro,
    /// Its dearest turn.
    pub dearest: Micro,
    /// Tokens settled.
    pub usage: Usage,
    /// Calls whose price is unknown.
    pub unpriced: u32,
    /// The conversation that was gone on with last, and what it had come to.
    pub conversation: Option<(String, ConversationTotals)>,
}

/// What a running call's usage asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// The reservation is far enough ahead.
    Fine,
    /// Raise it to this much.
    Raise(Micro),
    /// The cap is reached.
    Over,
}

impl Budget {
    /// A reservation was granted or raised.
    pub fn granted(&mut self, to: Micro) {
        self.reserved = self.reserved.max(to);
    }

    /// Usage was seen in the running call.
    pub fn seen(&mut self, spent: &Spent) {
        self.live = self.live.max(spent.total);
        self.dearest = self.dearest.max(spent.dearest);
    }

    /// The call was settled.
    pub fn settled(&mut self, charged: Micro, price: PriceFrom, usage: &Usage) {
        self.spent = self.spent.plus(charged);
        self.usage = self.usage.plus(usage);
        self.unpriced += u32::from(price == PriceFrom::Unpriced);
        self.released();
    }

    /// A conversation was gone on with.
    pub fn told(&mut self, session: Option<&str>, told: Option<ConversationTotals>) {
        if let Some(told) = told {
            self.conversation = Some((session.unwrap_or_default().into(), told));
        }
    }

    /// Nothing is held any more.
    pub fn released(&mut self) {
        self.reserved = Micro::ZERO;
        self.live = Micro::ZERO;
        self.dearest = Micro::ZERO;
    }

    /// What the run may still spend.
    pub fn left(&self, policy: &Policy) -> Micro {
        policy.max_cost.minus(self.spent).max(Micro::ZERO)
    }

    /// What to reserve for the next call.
    pub fn first(&self, policy: &Policy) -> Micro {
        policy.estimate.min(self.left(policy))
    }

    /// What the running call's usage asks for. Lumps of half an estimate keep the journal short.
    pub fn ahead(&self, policy: &Policy) -> Ahead {
        let left = self.left(policy);
        if self.live >= left {
            return Ahead::Over;
        }
        let need = self.live.plus(self.dearest.times(2));
        if need <= self.reserved {
            return Ahead::Fine;
        }
        let lump = self.dearest.max(Micro(policy.estimate.0 / 2));
        Ahead::Raise(need.plus(lump).min(left.plus(self.dearest.times(2))))
    }

    /// The cap is reached.
    pub fn over(&self, policy: &Policy) -> Option<Objection> {
        (self.spent >= policy.max_cost)
            .then_some(Objection::CostReached { spent: self.spent, cap: policy.max_cost })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(total: i64, dearest: i64) -> Spent {
        Spent { total: Micro(total), dearest: Micro(dearest), usage: Usage::default() }
    }

    #[test]
    fn the_reservation_stays_two_dearest_turns_ahead_until_the_cap() {
        let policy = Policy::strict(5, Micro(1_000_000));
        let mut budget = Budget::default();
        budget.granted(budget.first(&policy));
        assert_eq!(budget.reserved, Micro(500_000));
        budget.seen(&spent(100_000, 100_000));
        assert_eq!(budget.ahead(&policy), Ahead::Fine);
        budget.seen(&spent(400_000, 100_000));
        let Ahead::Raise(to) = budget.ahead(&policy) else { panic!("must raise") };
        assert!(to >= Micro(600_000));
        budget.granted(to);
        budget.seen(&spent(990_000, 100_000));
        assert_eq!(budget.ahead(&policy), Ahead::Raise(Micro(1_200_000)));
        budget.granted(Micro(1_200_000));
        budget.seen(&spent(1_000_000, 100_000));
        assert_eq!(budget.ahead(&policy), Ahead::Over);
    }

    #[test]
    fn what_is_left_bounds_the_first_reservation() {
        let policy = Policy::strict(5, Micro(600_000));
        let mut budget = Budget::default();
        budget.settled(Micro(450_000), PriceFrom::Reported, &Usage::default());
        assert_eq!(budget.first(&policy), Micro(150_000));
        assert!(budget.over(&policy).is_none());
        budget.settled(Micro(450_000), PriceFrom::Unpriced, &Usage::default());
        assert!(budget.over(&policy).is_some());
        assert_eq!(budget.unpriced, 1);
    }
}
