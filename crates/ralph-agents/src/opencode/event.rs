//! The lines of opencode's stream, typed and borrowed; what is not named is skipped unread, as a tool's output is.
//! Every event is a part of a message, or an error.

use crate::json::{Field, counts, lenient};
use ralph_rules::money::Usage;

lenient! {
    /// One line.
    pub struct Event<'a> {
        kind = "type", session = "sessionID", error;
        #[serde(borrow)] part: Option<Part<'a>>,
    }

    /// A part of a message: text, a tool that ended, the start or the end of a step.
    pub struct Part<'a> {
        text, tool, call = "callID", reason, tokens, cost;
        #[serde(borrow)] state: Option<State<'a>>,
    }

    /// How a tool ended.
    pub struct State<'a> { status, input, error }

    /// What went wrong.
    pub struct Error<'a> { name, message, data }

    /// Its particulars.
    pub struct Data<'a> {
        message, status = "statusCode", retryable = "isRetryable", headers = "responseHeaders",
        body = "responseBody",
    }

    /// The provider's headers that name a limit or its end.
    pub struct Headers<'a> {
        after = "retry-after", after_ms = "retry-after-ms", window = "anthropic-ratelimit-unified-status",
        window_reset = "anthropic-ratelimit-unified-reset",
    }

    struct Tokens<'a> { cache }

}

/// A step's tokens. Reasoning is counted beside the output and paid like it.
pub fn usage(field: Field<'_>) -> Usage {
    let [input, output, reasoning] = counts(field, ["input", "output", "reasoning"]).unwrap_or_default();
    let cache = field.read::<Tokens<'_>>().unwrap_or_default().cache;
    let [cache_read, cache_write] = counts(cache, ["read", "write"]).unwrap_or_default();
    Usage { input, output: output.saturating_add(reasoning), cache_read, cache_write }
}
