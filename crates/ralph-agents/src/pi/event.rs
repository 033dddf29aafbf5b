//! The lines of pi's stream that matter, typed and borrowed. Each update repeats the whole message so far, and
//! `agent_end` the whole conversation; neither says what `message_end` does not, so both are skipped unread.

use crate::json::{Field, counts, lenient};
use ralph_rules::money::{Micro, Usage};

lenient! {
    /// `session`, the first line; also what any other line is read as to learn its type.
    pub struct Head<'a> { kind = "type", id, cwd }

    /// `message_end`: one message of the conversation.
    pub struct MessageEnd<'a> {
        ;
        #[serde(borrow)] message: Option<Message<'a>>,
    }

    /// The message; of interest where the assistant wrote it.
    pub struct Message<'a> { role, content, model, usage, stop_reason = "stopReason", error = "errorMessage" }

    /// One block of a message.
    pub struct Block<'a> { kind = "type", text }

    /// `tool_execution_start` and `tool_execution_end`.
    pub struct Tool<'a> { id = "toolCallId", name = "toolName", args, is_error = "isError" }

    /// `auto_retry_start` and `auto_retry_end`.
    pub struct Retry<'a> { attempt, most = "maxAttempts", delay = "delayMs", error = "errorMessage", success }

    struct Priced<'a> { cost }

    struct Cost<'a> { total }
}

/// Tokens and dollars of one turn; `input` is fresh input alone.
pub fn usage(field: Field<'_>) -> Option<(Usage, Option<Micro>)> {
    let [input, output, cache_read, cache_write] =
        counts(field, ["input", "output", "cacheRead", "cacheWrite"])?;
    let cost = field.read::<Priced<'_>>().and_then(|priced| priced.cost.read::<Cost<'_>>()?.total.number());
    Some((Usage { input, output, cache_read, cache_write }, cost.and_then(Micro::from_usd)))
}
