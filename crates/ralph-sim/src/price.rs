//! Tokens and what they cost, so that a scripted `spend 0.40` shows tokens whose list price is that amount and
//! a reader that only sees tokens computes the same cost.

/// Tokens one model turn used, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Fresh input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
}

impl Tokens {
    /// What a turn uses when the script says nothing: like the smallest real ones.
    pub const SMALL: Tokens = Tokens { input: 1000, output: 50, cache_read: 0, cache_write: 0 };

    /// Both added, kind by kind.
    pub fn plus(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }
}

/// Micro-dollars per million tokens.
#[derive(Clone, Copy, Debug)]
pub struct Price {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

const MILLION: u128 = 1_000_000;

impl Price {
    /// Input and output in dollars; cached input costs a tenth to read and a quarter more to write.
    const fn usd(input: u64, output: u64) -> Price {
        let input = input * 1_000_000;
        Price { input, output: output * 1_000_000, cache_read: input / 10, cache_write: input + input / 4 }
    }

    /// The list price of a model, by its name; an unknown one is as dear as the dearest.
    pub fn of(model: &str) -> Price {
        match model {
            _ if model.contains("haiku") => Price::usd(1, 5),
            _ if model.contains("sonnet") => Price::usd(3, 15),
            _ => Price::usd(15, 75),
        }
    }

    /// What these tokens cost, in micro-dollars, rounded up.
    pub fn cost(&self, tokens: Tokens) -> u64 {
        let part = |count: u64, price: u64| u128::from(count) * u128::from(price);
        let sum = part(tokens.input, self.input)
            + part(tokens.output, self.output)
            + part(tokens.cache_read, self.cache_read)
            + part(tokens.cache_write, self.cache_write);
        u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX)
    }

    /// Tokens that cost this much: half of it output, the rest input, the last crumbs read from the cache.
    /// Never less than the amount, and at most one cached token more.
    pub fn tokens(&self, micro: u64) -> Tokens {
        let whole = u128::from(micro) * MILLION;
        let output = whole / 2 / u128::from(self.output);
        let left = whole - output * u128::from(self.output);
        let input = left / u128::from(self.input);
        let crumbs = left - input * u128::from(self.input);
        let count = |tokens: u128| u64::try_from(tokens).unwrap_or(u64::MAX);
        Tokens {
            input: count(input),
            output: count(output),
            cache_read: count(crumbs.div_ceil(u128::from(self.cache_read))),
            cache_write: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_for_an_amount_cost_that_amount() {
        for model in ["claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-5-5", "unheard-of"] {
            let price = Price::of(model);
            for micro in [0, 1, 7, 400_000, 50_001, 123_456_789, 9_000_000_000] {
                let back = price.cost(price.tokens(micro));
                assert!(back >= micro && back <= micro + 2, "{model}: {micro} became {back}");
            }
        }
    }

    #[test]
    fn sonnet_costs_three_and_fifteen() {
        let sonnet = Price::of("claude-sonnet-4-5");
        assert_eq!(sonnet.cost(Tokens { input: 1_000_000, ..Tokens::default() }), 3_000_000);
        assert_eq!(sonnet.cost(Tokens { output: 1_000_000, ..Tokens::default() }), 15_000_000);
        assert_eq!(sonnet.cost(Tokens::SMALL), 3_750);
    }
}
