//! What a call has used so far, for agents that tell each model turn once, with its tokens and perhaps its price.
//! `claude/meter.rs` is for those that tell one turn in pieces.

use crate::call_pricing::CallPricing;
use crate::reader::Spent;
use ralph_rules::money::{Micro, Usage};

/// Tokens and dollars added up.
#[derive(Debug, Default)]
pub struct Tally {
    pricing: CallPricing,
    spent: Spent,
    reported: Micro,
    unpriced: bool,
}

impl Tally {
    /// Sets how it prices from now on.
    pub fn price_with(&mut self, pricing: CallPricing) {
        self.pricing = pricing;
    }

    /// Whether the call continues an earlier conversation.
    pub fn resumed(&self) -> bool {
        self.pricing.resumed
    }

    /// One turn. A cost of zero for tokens that were used is no price: an agent writes it for models it has none
    /// for. Such a turn is estimated, so that a budget still holds, and leaves the reported cost unknown.
    pub fn turn(&mut self, model: Option<&str>, usage: Usage, cost: Option<Micro>) -> Option<Spent> {
        let told = cost.filter(|cost| *cost > Micro::ZERO || usage.total() == 0);
        let priced = told.map(|cost| (cost, false)).or_else(|| self.pricing.turn(model, &usage));
        self.add(usage, told, priced)
    }

    /// Several turns that are told of together, without a cost.
    pub fn sum(&mut self, model: Option<&str>, usage: Usage) -> Option<Spent> {
        let priced = self.pricing.sum(model, &usage);
        self.add(usage, None, priced)
    }

    /// Tokens that cost more than any call can are no account.
    fn add(&mut self, usage: Usage, told: Option<Micro>, priced: Option<(Micro, bool)>) -> Option<Spent> {
        self.unpriced |= told.is_none();
        self.reported = self.reported.plus(told.unwrap_or_default());
        let (cost, guessed) = priced?;
        let before = self.spent;
        self.spent = Spent {
            total: before.total.plus(cost),
            dearest: before.dearest.max(cost),
            usage: before.usage.plus(&usage),
            guessed: before.guessed || (guessed && cost > Micro::ZERO),
        };
        (self.spent != before).then_some(self.spent)
    }

    /// A turn that was made and not accounted for.
    pub fn blind(&mut self) {
        self.unpriced = true;
    }

    /// Tokens so far.
    pub fn usage(&self) -> Usage {
        self.spent.usage
    }

    /// The reported cost, where every turn had one.
    pub fn cost(&self) -> Option<Micro> {
        (!self.unpriced).then_some(self.reported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_rules::prices::Prices;

    fn tokens(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    #[test]
    fn turns_add_up_and_the_dearest_is_kept() {
        let mut tally = Tally::default();
        tally.turn(None, tokens(10), Some(Micro(5)));
        let spent = tally.turn(None, tokens(10), Some(Micro(3))).unwrap();
        assert_eq!((spent.total, spent.dearest, spent.usage), (Micro(8), Micro(5), tokens(20)));
        assert_eq!(tally.cost(), Some(Micro(8)));
        assert_eq!(tally.turn(None, Usage::default(), Some(Micro::ZERO)), None, "nothing new");
    }

    #[test]
    fn a_turn_without_a_price_is_estimated_and_leaves_the_cost_unknown() {
        for cost in [None, Some(Micro::ZERO)] {
            let mut tally = Tally::default();
            tally.turn(None, tokens(10), Some(Micro(5)));
            let spent = tally.turn(Some("new-model"), tokens(1000), cost).unwrap();
            let dearest = Prices::default().dearest().of(&tokens(1000)).unwrap();
            assert_eq!((spent.total, spent.guessed), (Micro(5).plus(dearest), true));
            assert_eq!(tally.cost(), None);
        }
    }

    #[test]
    fn a_refused_request_cost_nothing_and_a_blind_turn_is_unknown() {
        let mut tally = Tally::default();
        tally.turn(None, Usage::default(), Some(Micro::ZERO));
        assert_eq!(tally.cost(), Some(Micro::ZERO));
        tally.blind();
        assert_eq!(tally.cost(), None);
    }

    #[test]
    fn absurd_tokens_are_no_account() {
        let mut tally = Tally::default();
        assert_eq!(tally.turn(Some("opus"), tokens(u64::MAX), None), None);
        assert_eq!((tally.usage(), tally.cost()), (Usage::default(), None));
    }
}
