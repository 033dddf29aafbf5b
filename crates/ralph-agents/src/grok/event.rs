//! The lines of Grok's own formats, typed and borrowed; only what is used is named, the rest is skipped unread.

use crate::claude::line_prefix::LinePrefix;
use crate::claude::token_usage::TokenUsage;
use crate::json::{Field, lenient};
use serde::de::{IgnoredAny, MapAccess};

lenient! {
    /// `text`, `thought`: a piece of what the model says.
    pub struct Piece<'a> { data }

    /// `tool_call`: a tool starts.
    pub struct ToolCall<'a> { id = "toolCallId", name = "toolName", title, input = "rawInput" }

    /// `tool_call_update` of a tool that failed.
    pub struct Failed<'a> { content }

    /// `usage`, `end`, `error`, and the one document: what a call came to, as far as each knows.
    pub struct Ending<'a> {
        text, message, stop_reason = "stopReason", session_id = "sessionId", turns = "num_turns",
        model_usage = "modelUsage", cost = "total_cost_usd";
        usage: TokenUsage,
    }
}

/// The start of `tool_call_update`.
#[derive(Default)]
pub struct Update<'a> {
    pub id: Field<'a>,
    pub status: Field<'a>,
    /// The status was read, which may be none.
    pub known: bool,
}

impl<'a> LinePrefix<'a> for Update<'a> {
    fn take<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "toolCallId" => self.id = map.next_value()?,
            "status" => {
                self.status = map.next_value()?;
                self.known = true;
            }
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }

    fn complete(&self) -> bool {
        self.known
    }
}
