//! What was used, priced exactly: a session's calls are charged to the micro-dollar, so fractions are kept until then.

use ralph_rules::money::{Price, Usage};
use ralph_rules::prices::{Prices, Row};

/// Millionths of a micro-dollar: what a token costs is a whole number of them.
pub(super) type Pico = i128;
/// What one web search costs.
const WEB_SEARCH: Pico = 10_000 * 1_000_000;

/// What a part of a session used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSpend {
    /// All tokens.
    pub usage: Usage,
    /// Tokens by model.
    pub models: Vec<(String, Usage)>,
    /// The model that worked last.
    pub model: Option<String>,
    /// Millionths of a micro-dollar, of the messages whose model has a known price.
    pub cost: i64,
    /// Messages with a known price.
    pub priced: u32,
    /// Messages whose model has none.
    pub unpriced: u32,
}

/// Tokens of one model message, with what only some clients tell of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MessageUsage {
    pub(super) tokens: Usage,
    /// Of the tokens written to the cache, those that it keeps for an hour.
    pub(super) hour: u64,
    pub(super) web_searches: u64,
}

impl MessageUsage {
    /// The larger of both, kind by kind: a message is written several times, with what is known of it by then.
    pub(super) fn most(&self, other: &MessageUsage) -> MessageUsage {
        let (a, b) = (&self.tokens, &other.tokens);
        MessageUsage {
            tokens: Usage {
                input: a.input.max(b.input),
                output: a.output.max(b.output),
                cache_read: a.cache_read.max(b.cache_read),
                cache_write: a.cache_write.max(b.cache_write),
            },
            hour: self.hour.max(other.hour),
            web_searches: self.web_searches.max(other.web_searches),
        }
    }

    fn cost(&self, row: &Row) -> Option<i64> {
        let Usage { input, output, cache_read, cache_write } = self.tokens;
        let prompt = input.saturating_add(cache_read).saturating_add(cache_write);
        let Price { input: fresh, output: out, cache_read: read, cache_write: write } = match row.long {
            Some((above, price)) if prompt > above => price,
            _ => row.price,
        };
        let hour = self.hour.min(cache_write);
        let part = |tokens: u64, per_million: i64| Pico::from(tokens) * Pico::from(per_million);
        // The provider sells an hour in the cache at twice the price of input.
        let sum = part(input, fresh)
            + part(output, out)
            + part(cache_read, read)
            + part(cache_write - hour, write)
            + part(hour, fresh) * 2
            + Pico::from(self.web_searches) * WEB_SEARCH;
        i64::try_from(sum).ok()
    }
}

impl SessionSpend {
    /// Adds one model message. One that used nothing is not a message of a model.
    pub(super) fn add(&mut self, model: Option<&str>, used: &MessageUsage, prices: &Prices) {
        if used.tokens.total() == 0 && used.web_searches == 0 {
            return;
        }
        self.usage = self.usage.plus(&used.tokens);
        let name = model.unwrap_or_default();
        match self.models.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum = sum.plus(&used.tokens),
            None => self.models.push((name.to_owned(), used.tokens)),
        }
        match model.and_then(|model| prices.find(model)).and_then(|row| used.cost(row)) {
            Some(cost) => {
                self.cost = self.cost.saturating_add(cost);
                self.priced += 1;
            }
            None => self.unpriced += 1,
        }
    }

    /// Both together; the model stays that of the first, if it has one.
    #[must_use]
    pub fn plus(mut self, other: SessionSpend) -> SessionSpend {
        self.usage = self.usage.plus(&other.usage);
        for (model, used) in other.models {
            match self.models.iter_mut().find(|(known, _)| *known == model) {
                Some((_, sum)) => *sum = sum.plus(&used),
                None => self.models.push((model, used)),
            }
        }
        SessionSpend {
            model: self.model.or(other.model),
            cost: self.cost.saturating_add(other.cost),
            priced: self.priced + other.priced,
            unpriced: self.unpriced + other.unpriced,
            ..self
        }
    }
}
