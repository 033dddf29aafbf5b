//! The lines of Claude's stream, typed and borrowed; only what is used is named, the rest is skipped
//! unread. Every field is lenient (`json.rs`), so a new version that changes one breaks only that one.

use crate::claude::used::Used;
use crate::json::Field;
use ralph_rules::money::Usage;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;

/// `system`: retries, refused tools, the introduction. (`opening.rs` reads most introductions, and `user`.)
#[derive(Deserialize)]
pub struct System<'a> {
    #[serde(borrow, default)]
    pub subtype: Field<'a>,
    #[serde(borrow, default)]
    pub session_id: Field<'a>,
    #[serde(borrow, default)]
    pub model: Field<'a>,
    #[serde(borrow, default)]
    pub attempt: Field<'a>,
    #[serde(borrow, default)]
    pub max_retries: Field<'a>,
    #[serde(borrow, default)]
    pub retry_delay_ms: Field<'a>,
    #[serde(borrow, default)]
    pub error_status: Field<'a>,
    #[serde(borrow, default)]
    pub error: Field<'a>,
    #[serde(borrow, default)]
    pub tool_name: Field<'a>,
    #[serde(borrow, default)]
    pub tool_use_id: Field<'a>,
}

/// `assistant`: a piece of one model message.
#[derive(Deserialize)]
pub struct Assistant<'a> {
    #[serde(borrow, default)]
    pub message: Option<Message<'a>>,
    #[serde(borrow, default)]
    pub session_id: Field<'a>,
    #[serde(borrow, default)]
    pub parent_tool_use_id: Field<'a>,
    #[serde(borrow, default)]
    pub error: Field<'a>,
    #[serde(borrow, default)]
    pub is_api_error_message: Field<'a>,
    #[serde(borrow, default)]
    pub api_error_status: Field<'a>,
    #[serde(borrow, default)]
    pub api_error_type: Field<'a>,
    #[serde(borrow, default)]
    pub api_error: Field<'a>,
}

/// The message inside `assistant`, `user` and `message_start`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Message<'a> {
    #[serde(borrow)]
    pub id: Field<'a>,
    #[serde(borrow)]
    pub model: Field<'a>,
    #[serde(borrow)]
    pub stop_reason: Field<'a>,
    pub usage: Used,
    #[serde(borrow)]
    pub content: Blocks<'a>,
}

/// A message's content: blocks; a bare string counts as none.
#[derive(Default)]
pub struct Blocks<'a>(pub Vec<Block<'a>>);

/// One block: text, a tool's use, or a tool's result.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Field<'a>,
    #[serde(borrow)]
    pub text: Field<'a>,
    #[serde(borrow)]
    pub id: Field<'a>,
    #[serde(borrow)]
    pub name: Field<'a>,
    #[serde(borrow)]
    pub input: Field<'a>,
    #[serde(borrow)]
    pub tool_use_id: Field<'a>,
    #[serde(borrow)]
    pub is_error: Field<'a>,
    #[serde(borrow)]
    pub content: Field<'a>,
}

/// `stream_event`: a partial message, of interest for its usage.
#[derive(Deserialize)]
pub struct Stream<'a> {
    #[serde(borrow, default)]
    pub event: Option<StreamInner<'a>>,
    #[serde(borrow, default)]
    pub api_message_id: Field<'a>,
    #[serde(borrow, default)]
    pub parent_tool_use_id: Field<'a>,
}

/// The provider's own event inside `stream_event`.
#[derive(Deserialize)]
pub struct StreamInner<'a> {
    #[serde(borrow, default)]
    pub message: Option<Message<'a>>,
    #[serde(borrow, default)]
    pub delta: Option<Delta<'a>>,
    #[serde(default)]
    pub usage: Used,
}

/// How a message ended.
#[derive(Deserialize)]
pub struct Delta<'a> {
    #[serde(borrow, default)]
    pub stop_reason: Field<'a>,
}

/// `rate_limit_event`: where the subscription's windows stand.
#[derive(Deserialize)]
pub struct RateLimit<'a> {
    #[serde(borrow, default)]
    pub rate_limit_info: Option<RateLimitInfo<'a>>,
}

/// The window that matters.
#[derive(Deserialize)]
pub struct RateLimitInfo<'a> {
    #[serde(borrow, default)]
    pub status: Field<'a>,
    #[serde(rename = "resetsAt", borrow, default)]
    pub resets_at: Field<'a>,
}

/// `result`: the terminal event; also the one object of `--output-format json` and, without a type, of older
/// tools. Its type may come late, so an object whose kind is not known yet is read as this first.
#[derive(Deserialize)]
pub struct Terminal<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Field<'a>,
    #[serde(borrow, default)]
    pub subtype: Field<'a>,
    #[serde(borrow, default)]
    pub is_error: Field<'a>,
    #[serde(borrow, default)]
    pub result: Field<'a>,
    #[serde(borrow, default)]
    pub errors: Field<'a>,
    #[serde(borrow, default)]
    pub error: Field<'a>,
    #[serde(borrow, default)]
    pub session_id: Field<'a>,
    #[serde(rename = "sessionId", borrow, default)]
    pub session_id_too: Field<'a>,
    #[serde(borrow, default)]
    pub model: Field<'a>,
    #[serde(borrow, default)]
    pub num_turns: Field<'a>,
    #[serde(borrow, default)]
    pub total_cost_usd: Field<'a>,
    #[serde(borrow, default)]
    pub cost_usd: Field<'a>,
    #[serde(default)]
    pub usage: Used,
    #[serde(rename = "modelUsage", borrow, default)]
    pub model_usage: Field<'a>,
    #[serde(borrow, default)]
    pub permission_denials: Field<'a>,
    #[serde(borrow, default)]
    pub stop_reason: Field<'a>,
    #[serde(borrow, default)]
    pub terminal_reason: Field<'a>,
    #[serde(borrow, default)]
    pub api_error_status: Field<'a>,
    #[serde(borrow, default)]
    pub api_error_type: Field<'a>,
    #[serde(borrow, default)]
    pub api_error: Field<'a>,
}

/// One entry of `permission_denials`.
#[derive(Deserialize)]
pub struct Denied<'a> {
    #[serde(borrow, default)]
    pub tool_name: Field<'a>,
    #[serde(borrow, default)]
    pub tool_input: Field<'a>,
}

/// One entry of `modelUsage`.
#[derive(Deserialize)]
pub struct ModelUse<'a> {
    #[serde(rename = "costUSD", borrow, default)]
    pub cost: Field<'a>,
    #[serde(rename = "inputTokens", borrow, default)]
    input: Field<'a>,
    #[serde(rename = "outputTokens", borrow, default)]
    output: Field<'a>,
    #[serde(rename = "cacheReadInputTokens", borrow, default)]
    cache_read: Field<'a>,
    #[serde(rename = "cacheCreationInputTokens", borrow, default)]
    cache_write: Field<'a>,
}

impl ModelUse<'_> {
    /// What it used.
    pub fn tokens(&self) -> Usage {
        let count = |field: Field<'_>| field.count().unwrap_or(0);
        Usage {
            input: count(self.input),
            output: count(self.output),
            cache_read: count(self.cache_read),
            cache_write: count(self.cache_write),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Blocks<'a> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(BlocksVisitor)
    }
}

struct BlocksVisitor;

impl<'de> Visitor<'de> for BlocksVisitor {
    type Value = Blocks<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("content blocks or text")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::with_capacity(1);
        while let Some(block) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(Blocks(blocks))
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Blocks::default())
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Blocks::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Blocks::default())
    }
}
