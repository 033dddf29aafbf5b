//! Money and tokens: integer micro-dollars, what a model used, and a price that turns tokens into money where an
//! agent reports no cost. Neighbours: `prices.rs` has the table, `guard/budget.rs` spends, `record/money.rs` writes
//! it down.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Millionths of a US dollar. Integers, so that sums are exact and never NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Micro(pub i64);

impl Micro {
    /// Nothing spent.
    pub const ZERO: Micro = Micro(0);
    /// Above this a cost is absurd and counts as unpriced: one call of a million dollars.
    pub const MOST: Micro = Micro(1_000_000_000_000);

    /// Dollars as an agent reports them; none if NaN, infinite, negative or absurdly high.
    pub fn from_usd(usd: f64) -> Option<Micro> {
        if !usd.is_finite() || !(0.0..=Self::MOST.usd()).contains(&usd) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // bounded by MOST just above
        Some(Micro((usd * 1e6).round() as i64))
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

    /// What was used since then; none where that was more of any kind.
    pub fn since(&self, then: &Usage) -> Option<Usage> {
        Some(Usage {
            input: self.input.checked_sub(then.input)?,
            output: self.output.checked_sub(then.output)?,
            cache_read: self.cache_read.checked_sub(then.cache_read)?,
            cache_write: self.cache_write.checked_sub(then.cache_write)?,
        })
    }
}

impl std::iter::Sum for Micro {
    fn sum<I: Iterator<Item = Micro>>(all: I) -> Micro {
        all.fold(Micro::ZERO, Micro::plus)
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
    /// Free of charge.
    pub const NOTHING: Price = Price { input: 0, output: 0, cache_read: 0, cache_write: 0 };

    /// What this usage costs, rounded up: an estimate may be too high, never too low. Tokens that come to more than a
    /// call can cost are no account at all.
    pub fn of(&self, usage: &Usage) -> Option<Micro> {
        let part = |tokens: u64, per_million: i64| i128::from(tokens) * i128::from(per_million);
        let sum = part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read, self.cache_read)
            + part(usage.cache_write, self.cache_write);
        let micro = sum.div_euclid(1_000_000) + i128::from(sum.rem_euclid(1_000_000) != 0);
        i64::try_from(micro).ok().map(Micro).filter(|cost| *cost <= Micro::MOST)
    }
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
    fn rounding_is_up_and_absurd_tokens_are_no_account() {
        let price =
            Price { input: 1_000_000, output: 5_000_000, cache_read: 100_000, cache_write: 1_250_000 };
        assert_eq!(price.of(&Usage { input: 1, ..Usage::default() }), Some(Micro(1)));
        assert_eq!(price.of(&Usage { cache_read: 1, ..Usage::default() }), Some(Micro(1)));
        assert_eq!(price.of(&Usage { output: 1_000_000, ..Usage::default() }), Some(Micro(5_000_000)));
        assert_eq!(price.of(&Usage { output: u64::MAX, input: u64::MAX, ..Usage::default() }), None);
        assert_eq!(price.of(&Usage { input: 10_u64.pow(13), ..Usage::default() }), None);
    }

    #[test]
    fn money_is_shown_in_cents_or_finer() {
        assert_eq!(Micro(1_230_000).to_string(), "$1.23");
        assert_eq!(Micro(11_080).to_string(), "$0.0111");
        assert_eq!(Micro(1_600_003).to_string(), "$1.60");
    }
}
