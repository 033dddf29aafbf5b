//! The lines of Kimi Code's stream, typed and borrowed: messages by their `role`, and `meta` lines about the
//! session. There is no usage in it.

use crate::json::Field;
use serde::Deserialize;

/// Any line.
#[derive(Deserialize)]
pub struct Line<'a> {
    #[serde(borrow, default)]
    pub role: Field<'a>,
    #[serde(rename = "type", borrow, default)]
    pub kind: Field<'a>,
    #[serde(borrow, default)]
    pub content: Field<'a>,
    #[serde(borrow, default)]
    pub tool_calls: Field<'a>,
    #[serde(borrow, default)]
    pub tool_call_id: Field<'a>,
    #[serde(borrow, default)]
    pub session_id: Field<'a>,
    #[serde(borrow, default)]
    pub next_attempt: Field<'a>,
    #[serde(borrow, default)]
    pub max_attempts: Field<'a>,
    #[serde(borrow, default)]
    pub delay_ms: Field<'a>,
    #[serde(borrow, default)]
    pub error_message: Field<'a>,
    #[serde(borrow, default)]
    pub status_code: Field<'a>,
}

/// One use of a tool.
#[derive(Deserialize)]
pub struct ToolCall<'a> {
    #[serde(borrow, default)]
    pub id: Field<'a>,
    #[serde(borrow, default)]
    pub function: Option<Function<'a>>,
}

/// The tool and its arguments, which are JSON inside a string.
#[derive(Deserialize)]
pub struct Function<'a> {
    #[serde(borrow, default)]
    pub name: Field<'a>,
    #[serde(borrow, default)]
    pub arguments: Field<'a>,
}
