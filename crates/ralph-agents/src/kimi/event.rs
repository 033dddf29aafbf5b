//! The lines of Kimi Code's stream, typed and borrowed: messages by their `role`, and `meta` lines about the
//! session. There is no usage in it.

use crate::json::lenient;

lenient! {
    /// Any line.
    pub struct Line<'a> {
        role, kind = "type", content, tool_calls, tool_call_id, session_id, next_attempt, max_attempts,
        delay_ms, error_message, status_code,
    }

    /// One use of a tool.
    pub struct ToolCall<'a> {
        id;
        #[serde(borrow)] function: Option<Function<'a>>,
    }

    /// The tool and its arguments, which are JSON inside a string.
    pub struct Function<'a> { name, arguments }
}
