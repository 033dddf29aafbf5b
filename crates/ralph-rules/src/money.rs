//! Money and tokens: integer micro-dollars, what a model used, and the price table that turns
//! tokens into money where an agent reports no cost. Neighbours: `guard/budget.rs` spends, `record/money.rs`
//! writes it down.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Millionths of a US dollar. Integers, so that sums are exact and never NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Micro(pub i64);

impl Micro {
    /// Nothing spent.
    pub const ZERO: Micro = Micro(0);
    /// Above this a reported cost is absurd and counts as unpriced: one call of a million dollars.
    const ABSURD: f64 = 1e6;

    /// Dollars as an agent reports them; NaN, infinite, negative or absurd is no price at all.
    pub fn from_usd(usd: f64) -> Option<Micro> {
        if !usd.is_finite() || !(0.0..=Self::ABSURD).contains(&usd) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // bounded by ABSURD just above
        Some(Micro((usd * 1e6).round() as i64))
    }

    /// More than one call can cost: no figure at all.
    pub fn is_absurd(self) -> bool {
        self.usd() > Self::ABSURD
    }

    /// For display and JSON only; sums are done in integers.
    pub fn usd(self) -> f64 {
        #[allow(clippy::cast_precision_loss)]
        {
            self.0 as f64 / 1e6
        }
    }

    /// Sum that stops at the ends instead of wrapping.
    pub fn plus(self, other: Micro) -> Micro {
        Micro(self.0.saturating_add(other.0))
    }

    /// Difference that stops at the ends instead of wrapping.
    pub fn minus(self, other: Micro) -> Micro {
        Micro(self.0.saturating_sub(other.0))
    }

    /// `n` times this amount.
    pub fn times(self, n: i64) -> Micro {
        Micro(self.0.saturating_mul(n))
    }
}

impl fmt::Display for Micro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = self.0.abs() % 10_000 == 0 || self.0.abs() >= 1_000_000;
        if cents { write!(f, "${:.2}", self.usd()) } else { write!(f, "${:.4}", self.usd()) }
    }
}

/// Tokens one call used, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Fresh input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
}

impl Usage {
    /// All tokens together.
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    /// Both usages added, kind by kind.
    pub fn plus(&self, other: &Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }
}

/// What one million tokens cost, in micro-dollars, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Fresh input.
    pub input: i64,
    /// Output.
    pub output: i64,
    /// Read from cache.
    pub cache_read: i64,
    /// Written to cache.
    pub cache_write: i64,
}

impl Price {
    const fn usd(input: i64, output: i64, cache_read_cents: i64, cache_write_cents: i64) -> Price {
        Price {
            input: input * 1_000_000,
            output: output * 1_000_000,
            cache_read: cache_read_cents * 10_000,
            cache_write: cache_write_cents * 10_000,
        }
    }

    /// What this usage costs, rounded up: an estimate may be too high, never too low.
    pub fn of(&self, usage: &Usage) -> Micro {
        let part = |tokens: u64, per_million: i64| i128::from(tokens) * i128::from(per_million);
        let sum = part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read, self.cache_read)
            + part(usage.cache_write, self.cache_write);
        let micro = sum.div_euclid(1_000_000) + i128::from(sum.rem_euclid(1_000_000) != 0);
        Micro(i64::try_from(micro).unwrap_or(i64::MAX))
    }
}

/// Prices per million tokens, by the start of the model's name; the longest match wins. They steer budgets of running
/// calls and fill in where an agent reports no cost. The rows of generation 5 fit costs that agents reported in recorded
/// calls; the others are approximate and were not read off a price list.
const PRICES: &[(&str, Price)] = &[
    ("claude-haiku", Price::usd(1, 5, 10, 125)),
    ("claude-sonnet", Price::usd(3, 15, 30, 375)),
    ("claude-opus", Price::usd(15, 75, 150, 1875)),
    ("claude-opus-5", Price::usd(4, 20, 20, 500)),
    ("claude-sonnet-5", Price::usd(2, 10, 10, 250)),
    ("claude-3-5-haiku", Price::usd(1, 5, 10, 125)),
    ("claude-3-5-sonnet", Price::usd(3, 15, 30, 375)),
    ("claude-3-7-sonnet", Price::usd(3, 15, 30, 375)),
    ("claude", Price::usd(15, 75, 150, 1875)),
    ("haiku", Price::usd(1, 5, 10, 125)),
    ("sonnet", Price::usd(3, 15, 30, 375)),
    ("opus", Price::usd(15, 75, 150, 1875)),
];

/// The price of a model, if the table knows it.
pub fn price_of(model: &str) -> Option<Price> {
    PRICES
        .iter()
        .filter(|(start, _)| model.starts_with(start))
        .max_by_key(|(start, _)| start.len())
        .map(|(_, price)| *price)
}

/// The dearest price in the table: what an unknown model is assumed to cost while it runs.
pub fn dearest_price() -> Price {
    PRICES.iter().map(|(_, p)| *p).max_by_key(|p| p.output).unwrap_or(Price::usd(15, 75, 150, 1875))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_that_is_no_price_is_none() {
        for usd in [f64::NAN, f64::INFINITY, -0.01, 1e9] {
            assert_eq!(Micro::from_usd(usd), None, "{usd}");
        }
        assert_eq!(Micro::from_usd(0.022_16), Some(Micro(22_160)));
    }

    #[test]
    fn the_longest_name_wins_and_rounding_is_up() {
        let haiku = price_of("claude-haiku-4-5-20251001").unwrap();
        assert_eq!(haiku.of(&Usage { input: 1, ..Usage::default() }), Micro(1));
        assert_eq!(haiku.of(&Usage { output: 1_000_000, ..Usage::default() }), Micro(5_000_000));
        assert_eq!(price_of("gpt-5"), None);
    }

    #[test]
    fn money_is_shown_in_cents_or_finer() {
        assert_eq!(Micro(1_230_000).to_string(), "$1.23");
        assert_eq!(Micro(11_080).to_string(), "$0.0111");
        assert_eq!(Micro(1_600_003).to_string(), "$1.60");
    }
}
