//! How a call's usage is priced: the prices in force, the model that was asked for where the agent names none, and
//! whether an earlier conversation is continued. `tally.rs` and `claude/meter.rs` price with it.

use crate::call::Call;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::prices::Prices;

/// How the usage of one call is priced.
#[derive(Clone, Debug, Default)]
pub struct CallPricing {
    prices: Prices,
    model: Option<String>,
    /// The user's arguments make it continue an earlier conversation.
    pub resumed: bool,
}

impl CallPricing {
    /// For this call of an agent that resumes by one of these arguments.
    pub fn of(call: &Call, resuming: &[&str]) -> CallPricing {
        CallPricing { prices: call.prices.clone(), model: call.model.clone(), resumed: call.sets(resuming) }
    }

    /// What one turn costs, and whether that is a guess; none where its tokens are absurd.
    pub fn turn(&self, model: Option<&str>, usage: &Usage) -> Option<(Micro, bool)> {
        self.prices.live(model.or(self.model.as_deref()), usage)
    }

    /// What several turns cost whose usage is reported together.
    pub fn sum(&self, model: Option<&str>, usage: &Usage) -> Option<(Micro, bool)> {
        match model.or(self.model.as_deref()).and_then(|model| self.prices.find(model)) {
            Some(row) => row.sum(usage).map(|cost| (cost, false)),
            None => self.prices.dearest().of(usage).map(|cost| (cost, true)),
        }
    }
}
