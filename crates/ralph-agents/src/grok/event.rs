//! The lines of Grok's own formats, typed and borrowed; only what is used is named, the rest is skipped unread.

use crate::claude::opening::Opening;
use crate::claude::used::Used;
use crate::json::Field;
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess};

/// `text`, `thought`: a piece of what the model says.
#[derive(Deserialize)]
pub struct Piece<'a> {
    #[serde(borrow, default)]
    pub data: Field<'a>,
}

/// `tool_call`: a tool starts.
#[derive(Deserialize)]
pub struct ToolCall<'a> {
    #[serde(rename = "toolCallId", borrow, default)]
    pub id: Field<'a>,
    #[serde(rename = "toolName", borrow, default)]
    pub name: Field<'a>,
    #[serde(borrow, default)]
    pub title: Field<'a>,
    #[serde(rename = "rawInput", borrow, default)]
    pub input: Field<'a>,
}

/// `tool_call_update` of a tool that failed.
#[derive(Deserialize)]
pub struct Failed<'a> {
    #[serde(borrow, default)]
    pub content: Field<'a>,
}

/// `usage`, `end`, `error`, and the one document: what a call came to, as far as each knows.
#[derive(Deserialize)]
pub struct Ending<'a> {
    #[serde(borrow, default)]
    pub text: Field<'a>,
    #[serde(borrow, default)]
    pub message: Field<'a>,
    #[serde(rename = "stopReason", borrow, default)]
    pub stop_reason: Field<'a>,
    #[serde(rename = "sessionId", borrow, default)]
    pub session_id: Field<'a>,
    #[serde(default)]
    pub usage: Used,
    #[serde(rename = "num_turns", borrow, default)]
    pub turns: Field<'a>,
    #[serde(rename = "modelUsage", borrow, default)]
    pub model_usage: Field<'a>,
    #[serde(rename = "total_cost_usd", borrow, default)]
    pub cost: Field<'a>,
}

/// The opening of `tool_call_update`.
#[derive(Default)]
pub struct Update<'a> {
    pub id: Field<'a>,
    pub status: Field<'a>,
    /// The status was read, which may be none.
    pub known: bool,
}

impl<'a> Opening<'a> for Update<'a> {
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
