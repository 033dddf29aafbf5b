//! What a call has used so far, message by message, priced while it runs. One model message is told several
//! times (a start, pieces that repeat the start's count, an end), so each is kept by its id at the most that
//! was said of it; adding the pieces up would count input twice and lose output.

use crate::call_pricing::CallPricing;
use crate::reader::Spent;
use ralph_rules::money::{Micro, Usage};
use std::collections::VecDeque;

/// Messages that may still grow; older ones are settled. Sub-agents run a few side by side.
const OPEN: usize = 32;

/// Usage and cost seen so far.
#[derive(Debug, Default)]
pub struct Meter {
    settled: Usage,
    settled_cost: Micro,
    open: VecDeque<Turn>,
    pricing: CallPricing,
    /// The model of the last turn.
    model: Option<String>,
    told: Spent,
}

#[derive(Debug)]
struct Turn {
    id: String,
    usage: Usage,
    cost: Micro,
}

impl Meter {
    /// Sets how it prices from now on.
    pub fn price_with(&mut self, pricing: CallPricing) {
        self.pricing = pricing;
    }

    /// Whether the call continues an earlier conversation.
    pub fn resumed(&self) -> bool {
        self.pricing.resumed
    }

    /// A message's usage was told (again). Gives the new sum if it grew. Tokens that cost more than any call can are
    /// no account.
    pub fn turn(&mut self, id: &str, model: Option<&str>, usage: Usage) -> Option<Spent> {
        let at = match self.open.iter().rposition(|t| !id.is_empty() && t.id == id) {
            Some(at) => at,
            None => self.begin(id),
        };
        let turn = self.open.get_mut(at)?;
        let used = most(&turn.usage, &usage);
        let (cost, guessed) = self.pricing.turn(model, &used)?;
        turn.usage = used;
        turn.cost = turn.cost.max(cost);
        let dearest = turn.cost;
        if self.model.as_deref() != model {
            self.model = model.map(str::to_owned);
        }
        let mut usage = self.settled;
        let mut total = self.settled_cost;
        for turn in &self.open {
            usage = usage.plus(&turn.usage);
            total = total.plus(turn.cost);
        }
        self.tell(Spent { total, dearest, usage, guessed })
    }

    /// The id of the message that began last, for events that do not name theirs.
    pub fn latest(&self) -> &str {
        self.open.back().map_or("", |t| t.id.as_str())
    }

    /// The agent's own final account. Tokens without a cost are priced as the last turn was: they may be more
    /// than the turns told of, where the client asked several times.
    pub fn account(&mut self, cost: Option<Micro>, usage: Option<Usage>) -> Option<Spent> {
        let usage = usage.unwrap_or_default();
        let summed = || self.pricing.sum(self.model.as_deref(), &usage);
        let (total, guessed) = cost.map(|cost| (cost, false)).or_else(summed)?;
        self.tell(Spent { total, dearest: Micro::ZERO, usage, guessed })
    }

    /// Everything seen so far.
    pub fn spent(&self) -> Spent {
        self.told
    }

    fn begin(&mut self, id: &str) -> usize {
        if self.open.len() >= OPEN
            && let Some(old) = self.open.pop_front()
        {
            self.settled = self.settled.plus(&old.usage);
            self.settled_cost = self.settled_cost.plus(old.cost);
        }
        self.open.push_back(Turn { id: id.to_owned(), usage: Usage::default(), cost: Micro::ZERO });
        self.open.len() - 1
    }

    /// Tells only growth: what was told once is never taken back.
    fn tell(&mut self, now: Spent) -> Option<Spent> {
        let next = Spent {
            total: self.told.total.max(now.total),
            dearest: self.told.dearest.max(now.dearest),
            usage: most(&self.told.usage, &now.usage),
            guessed: self.told.guessed || (now.guessed && now.total > Micro::ZERO),
        };
        (next != self.told).then(|| {
            self.told = next;
            next
        })
    }
}

fn most(a: &Usage, b: &Usage) -> Usage {
    Usage {
        input: a.input.max(b.input),
        output: a.output.max(b.output),
        cache_read: a.cache_read.max(b.cache_read),
        cache_write: a.cache_write.max(b.cache_write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn a_message_told_three_times_counts_once() {
        let mut meter = Meter::default();
        let model = Some("claude-haiku-4-5");
        assert_eq!(meter.turn("a", model, tokens(1000, 1)).unwrap().total, Micro(1005));
        assert_eq!(meter.turn("a", model, tokens(1000, 1)), None);
        assert_eq!(meter.turn("a", model, tokens(0, 50)).unwrap().usage, tokens(1000, 50));
        let spent = meter.turn("b", model, tokens(2000, 10)).unwrap();
        assert_eq!(spent.usage, tokens(3000, 60));
        assert_eq!((spent.total, spent.dearest), (Micro(1250 + 2050), Micro(2050)));
    }

    #[test]
    fn an_unknown_model_is_priced_as_the_dearest() {
        let mut meter = Meter::default();
        let spent = meter.turn("a", Some("new-model"), tokens(1000, 0)).unwrap();
        let dearest = ralph_rules::prices::Prices::default().dearest().of(&tokens(1000, 0)).unwrap();
        assert_eq!((spent.total, spent.guessed), (dearest, true));
    }

    #[test]
    fn settled_messages_still_count_and_nothing_is_taken_back() {
        let mut meter = Meter::default();
        for n in 0..100 {
            meter.turn(&format!("m{n}"), Some("haiku"), tokens(1000, 0));
        }
        assert_eq!(meter.spent().total, Micro(100_000));
        assert_eq!(meter.account(Some(Micro(5)), Some(tokens(1, 9))).unwrap().total, Micro(100_000));
        assert_eq!(meter.spent().usage, tokens(100_000, 9));
        assert!(meter.open.len() <= OPEN);
    }

    #[test]
    fn an_account_without_a_cost_is_estimated() {
        let mut meter = Meter::default();
        meter.turn("a", Some("haiku"), tokens(1000, 0));
        let spent = meter.account(None, Some(tokens(5000, 0))).unwrap();
        assert_eq!((spent.total, spent.dearest), (Micro(5000), Micro(1000)));
    }

    #[test]
    fn messages_without_an_id_are_never_merged() {
        let mut meter = Meter::default();
        meter.turn("", None, tokens(5, 0));
        meter.turn("", None, tokens(5, 0));
        assert_eq!(meter.spent().usage, tokens(10, 0));
    }
}
