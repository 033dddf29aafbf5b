//! The lines of pi's stream that matter, typed and borrowed. Each update repeats the whole message so far, and
//! `agent_end` the whole conversation; neither says what `message_end` does not, so both are skipped unread.

use crate::json::Field;
use ralph_rules::money::{Micro, Usage};
use serde::Deserialize;

/// `session`, the first line; also what any other line is read as to learn its type.
#[derive(Deserialize)]
pub struct Head<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Field<'a>,
    #[serde(borrow, default)]
    pub id: Field<'a>,
    #[serde(borrow, default)]
    pub cwd: Field<'a>,
}

/// `message_end`: one message of the conversation.
#[derive(Deserialize)]
pub struct MessageEnd<'a> {
    #[serde(borrow, default)]
    pub message: Option<Message<'a>>,
}

/// The message; of interest where the assistant wrote it.
#[derive(Deserialize)]
pub struct Message<'a> {
    #[serde(borrow, default)]
    pub role: Field<'a>,
    #[serde(borrow, default)]
    pub content: Field<'a>,
    #[serde(borrow, default)]
    pub model: Field<'a>,
    #[serde(borrow, default)]
    pub usage: Field<'a>,
    #[serde(rename = "stopReason", borrow, default)]
    pub stop_reason: Field<'a>,
    #[serde(rename = "errorMessage", borrow, default)]
    pub error: Field<'a>,
}

/// One block of a message.
#[derive(Deserialize)]
pub struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Field<'a>,
    #[serde(borrow, default)]
    pub text: Field<'a>,
}

/// `tool_execution_start` and `tool_execution_end`.
#[derive(Deserialize)]
pub struct Tool<'a> {
    #[serde(rename = "toolCallId", borrow, default)]
    pub id: Field<'a>,
    #[serde(rename = "toolName", borrow, default)]
    pub name: Field<'a>,
    #[serde(borrow, default)]
    pub args: Field<'a>,
    #[serde(rename = "isError", borrow, default)]
    pub is_error: Field<'a>,
}

/// `auto_retry_start` and `auto_retry_end`.
#[derive(Deserialize)]
pub struct Retry<'a> {
    #[serde(borrow, default)]
    pub attempt: Field<'a>,
    #[serde(rename = "maxAttempts", borrow, default)]
    pub most: Field<'a>,
    #[serde(rename = "delayMs", borrow, default)]
    pub delay: Field<'a>,
    #[serde(rename = "errorMessage", borrow, default)]
    pub error: Field<'a>,
    #[serde(borrow, default)]
    pub success: Field<'a>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, default)]
    input: Field<'a>,
    #[serde(borrow, default)]
    output: Field<'a>,
    #[serde(rename = "cacheRead", borrow, default)]
    cache_read: Field<'a>,
    #[serde(rename = "cacheWrite", borrow, default)]
    cache_write: Field<'a>,
    #[serde(borrow, default)]
    cost: Field<'a>,
}

#[derive(Deserialize)]
struct Cost<'a> {
    #[serde(borrow, default)]
    total: Field<'a>,
}

/// Tokens and dollars of one turn; `input` is fresh input alone.
pub fn usage(field: Field<'_>) -> Option<(Usage, Option<Micro>)> {
    let tokens: Tokens<'_> = field.read()?;
    let count = |f: Field<'_>| f.count().unwrap_or(0);
    let usage = Usage {
        input: count(tokens.input),
        output: count(tokens.output),
        cache_read: count(tokens.cache_read),
        cache_write: count(tokens.cache_write),
    };
    let cost = tokens.cost.read::<Cost<'_>>().and_then(|cost| cost.total.number());
    Some((usage, cost.and_then(Micro::from_usd)))
}
