//! What other clients that print Claude's format mean differently by the same events. Only facts, one set per client;
//! `reader.rs` asks for them where they matter. `qwen/reader.rs` and `grok/reader.rs` bring their own.

use crate::claude::failure::FailureFacts;
use crate::reply::Covers;
use ralph_rules::money::{Micro, Usage};

/// How one client differs.
#[derive(Clone, Copy, Debug)]
pub struct ClaudeVariant {
    /// Its input tokens include those that came from the cache.
    pub cache_in_input: bool,
    /// Its tokens are those of the whole conversation where one is continued.
    pub sums_usage: bool,
    /// A cost of nothing means that it does not know.
    pub zero_is_unknown: bool,
    /// Whether a failed tool's result, as it was written, says that the tool was refused.
    pub refused: fn(&str) -> bool,
    /// Adds what its error texts tell to the facts about the end.
    pub explain: fn(&mut FailureFacts),
}

/// Claude Code itself.
pub const CLAUDE: ClaudeVariant = ClaudeVariant {
    cache_in_input: false,
    sums_usage: false,
    zero_is_unknown: false,
    // Versions that do not list refusals still say it in the refused tool's result.
    refused: |result| result.starts_with("\"Claude requested permissions"),
    explain: |_| {},
};

impl Default for ClaudeVariant {
    fn default() -> ClaudeVariant {
        CLAUDE
    }
}

impl ClaudeVariant {
    /// Tokens as they are counted here: fresh input apart from the cache's.
    pub fn tokens(&self, told: Usage) -> Usage {
        if self.cache_in_input {
            Usage { input: told.input.saturating_sub(told.cache_read), ..told }
        } else {
            told
        }
    }

    /// Which figures may be of the whole conversation. New versions of Claude add up the cost, older ones do not, and
    /// nothing in the output says which it is.
    pub fn covers(&self, resumed: bool) -> Covers {
        Covers { cost: resumed, usage: resumed && self.sums_usage }
    }

    /// A cost, where it is known.
    pub fn cost(&self, told: Option<Micro>) -> Option<Micro> {
        told.filter(|cost| !(self.zero_is_unknown && *cost == Micro::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_changes_only_what_it_says() {
        let told = Usage { input: 1000, cache_read: 200, output: 5, cache_write: 0 };
        assert_eq!(CLAUDE.tokens(told), told);
        assert_eq!(CLAUDE.cost(Some(Micro::ZERO)), Some(Micro::ZERO));
        let other = ClaudeVariant { cache_in_input: true, zero_is_unknown: true, ..CLAUDE };
        assert_eq!(other.tokens(told), Usage { input: 800, ..told });
        let odd = Usage { input: 1, cache_read: 9, ..told };
        assert_eq!(other.tokens(odd).input, 0);
        assert_eq!((other.cost(Some(Micro::ZERO)), other.cost(Some(Micro(1)))), (None, Some(Micro(1))));
    }
}
