//! Guard: the run's cost. Before a call an amount is reserved. While it runs, the reservation stays two of its most
//! expensive turns ahead of the usage seen: one in flight, and one started before ralph could react. Usage that reaches
//! the cap stops the call, so real spending exceeds the cap by two turns at most.

use crate::money::{Micro, Usage};
use crate::objection::Objection;
use crate::policy::Policy;
use crate::record::{CallsFound, ConversationTotals, PriceFrom, Spent};
use std::collections::BTreeMap;

/// Money spent, reserved, and used by the running call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// Cost of finished calls.
    pub spent: Micro,
    /// Reserved for the running call.
    pub reserved: Micro,
    /// Usage seen in the running call.
    pub live: Micro,
    /// Its most expensive turn.
    pub dearest: Micro,
    /// Tokens of finished calls.
    pub usage: Usage,
    /// Calls whose price is unknown.
    pub unpriced: u32,
    /// The conversation that was continued last, and its totals.
    pub conversation: Option<(String, ConversationTotals)>,
    /// Those of the agents that do not work now, by their rung.
    others: BTreeMap<u32, (String, ConversationTotals)>,
}

/// How far the reservation is ahead of a running call's usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// Far enough.
    Enough,
    /// Raise it to this much.
    Raise(Micro),
    /// The cap is reached.
    Exhausted,
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

    /// The call ended and was charged.
    pub fn settled(&mut self, charged: Micro, price: PriceFrom, usage: &Usage) {
        self.spent = self.spent.plus(charged);
        self.usage = self.usage.plus(usage);
        self.unpriced += u32::from(!price.is_exact());
        self.released();
    }

    /// Calls that the journal does not hold were found.
    pub fn found(&mut self, found: &CallsFound) {
        self.spent = self.spent.plus(found.cost());
        self.usage = self.usage.plus(&found.usage);
        self.unpriced = self.unpriced.saturating_add(found.unpriced);
    }

    /// A conversation was continued; `totals` are the agent's figures for all of it.
    pub fn continued(&mut self, session: Option<&str>, totals: Option<ConversationTotals>) {
        if let Some(totals) = totals {
            self.conversation = Some((session.unwrap_or_default().into(), totals));
        }
    }

    /// Another agent works from now on: it never continues the conversation of the one before.
    pub(crate) fn agent_changes(&mut self, from: u32, to: u32) {
        if from == to {
            return;
        }
        let own = self.others.remove(&to);
        self.others.extend(std::mem::replace(&mut self.conversation, own).map(|left| (from, left)));
    }

    /// Releases the reservation.
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
    pub fn first_reservation(&self, policy: &Policy) -> Micro {
        policy.estimate.min(self.left(policy))
    }

    /// Whether the reservation must be raised. It grows by at least half an estimate, to keep the journal short.
    pub fn headroom(&self, policy: &Policy) -> Headroom {
        let left = self.left(policy);
        if self.live >= left {
            return Headroom::Exhausted;
        }
        let need = self.live.plus(self.dearest.times(2));
        if need <= self.reserved {
            return Headroom::Enough;
        }
        let lump = self.dearest.max(Micro(policy.estimate.0 / 2));
        Headroom::Raise(need.plus(lump).min(left.plus(self.dearest.times(2))))
    }

    /// The cap is reached by finished calls.
    pub fn exhausted(&self, policy: &Policy) -> Option<Objection> {
        (self.spent >= policy.max_cost)
            .then_some(Objection::CostReached { spent: self.spent, cap: policy.max_cost })
    }
}
