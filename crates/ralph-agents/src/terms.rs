//! What a reader needs to account for its call: the prices that hold, the model that was asked for where the agent
//! names none, and whether an earlier conversation goes on. `tally.rs` and `claude/meter.rs` price with it.

use crate::args::names;
use crate::seam::Call;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::prices::Prices;

/// The terms of one call.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    prices: Prices,
    model: Option<String>,
    /// The user's arguments make it go on with an earlier conversation.
    pub resumed: bool,
}

impl Terms {
    /// The terms of this call, for an agent that resumes by one of these arguments.
    pub fn of(call: &Call, resuming: &[&str]) -> Terms {
        Terms { prices: call.prices.clone(), model: call.model.clone(), resumed: names(call, resuming) }
    }

    /// What one turn costs, and whether that is a guess; none where its tokens are absurd.
    pub fn turn(&self, model: Option<&str>, usage: &Usage) -> Option<(Micro, bool)> {
        self.prices.live(model.or(self.model.as_deref()), usage)
    }

    /// What several turns cost that are told of together.
    pub fn sum(&self, model: Option<&str>, usage: &Usage) -> Option<(Micro, bool)> {
        match model.or(self.model.as_deref()).and_then(|model| self.prices.find(model)) {
            Some(row) => row.sum(usage).map(|cost| (cost, false)),
            None => self.prices.dearest().of(usage).map(|cost| (cost, true)),
        }
    }
}
