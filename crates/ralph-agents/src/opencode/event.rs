//! The lines of opencode's stream, typed and borrowed; what is not named is skipped unread, as a tool's output is.
//! Every event is a part of a message, or an error.

use crate::json::Field;
use ralph_rules::money::Usage;
use serde::Deserialize;

/// One line.
#[derive(Deserialize)]
pub struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Field<'a>,
    #[serde(rename = "sessionID", borrow, default)]
    pub session: Field<'a>,
    #[serde(borrow, default)]
    pub part: Option<Part<'a>>,
    #[serde(borrow, default)]
    pub error: Field<'a>,
}

/// A part of a message: text, a tool that ended, the start or the end of a step.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Part<'a> {
    #[serde(borrow)]
    pub text: Field<'a>,
    #[serde(borrow)]
    pub tool: Field<'a>,
    #[serde(rename = "callID", borrow)]
    pub call: Field<'a>,
    #[serde(borrow)]
    pub state: Option<State<'a>>,
    #[serde(borrow)]
    pub reason: Field<'a>,
    #[serde(borrow)]
    pub tokens: Field<'a>,
    #[serde(borrow)]
    pub cost: Field<'a>,
}

/// How a tool ended.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct State<'a> {
    #[serde(borrow)]
    pub status: Field<'a>,
    #[serde(borrow)]
    pub input: Field<'a>,
    #[serde(borrow)]
    pub error: Field<'a>,
}

/// What went wrong.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Error<'a> {
    #[serde(borrow)]
    pub name: Field<'a>,
    #[serde(borrow)]
    pub message: Field<'a>,
    #[serde(borrow)]
    pub data: Field<'a>,
}

/// Its particulars.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Data<'a> {
    #[serde(borrow)]
    pub message: Field<'a>,
    #[serde(rename = "statusCode", borrow)]
    pub status: Field<'a>,
    #[serde(rename = "isRetryable", borrow)]
    pub retryable: Field<'a>,
    #[serde(rename = "responseHeaders", borrow)]
    pub headers: Field<'a>,
    #[serde(rename = "responseBody", borrow)]
    pub body: Field<'a>,
}

/// The provider's headers that name a limit or its end.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Headers<'a> {
    #[serde(rename = "retry-after", borrow)]
    pub after: Field<'a>,
    #[serde(rename = "retry-after-ms", borrow)]
    pub after_ms: Field<'a>,
    #[serde(rename = "anthropic-ratelimit-unified-status", borrow)]
    pub window: Field<'a>,
    #[serde(rename = "anthropic-ratelimit-unified-reset", borrow)]
    pub window_reset: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens<'a> {
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    reasoning: Field<'a>,
    #[serde(borrow)]
    cache: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache<'a> {
    #[serde(borrow)]
    read: Field<'a>,
    #[serde(borrow)]
    write: Field<'a>,
}

/// A step's tokens. Reasoning is told beside the output and paid like it.
pub fn usage(field: Field<'_>) -> Usage {
    let tokens: Tokens<'_> = field.read().unwrap_or_default();
    let cache: Cache<'_> = tokens.cache.read().unwrap_or_default();
    let count = |f: Field<'_>| f.count().unwrap_or(0);
    Usage {
        input: count(tokens.input),
        output: count(tokens.output).saturating_add(count(tokens.reasoning)),
        cache_read: count(cache.read),
        cache_write: count(cache.write),
    }
}
