//! The lines of Claude's stream, typed and borrowed; only what is used is named, the rest is skipped
//! unread. Every field is lenient (`json.rs`), so a new version that changes one breaks only that one.

use crate::claude::token_usage::TokenUsage;
use crate::json::{Field, lenient};
use ralph_rules::money::Usage;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;

lenient! {
    /// `system`: retries, refused tools, the introduction. (`line_prefix.rs` reads most introductions, and `user`.)
    pub struct System<'a> {
        subtype, session_id, model, attempt, max_retries, retry_delay_ms, error_status, error, tool_name,
        tool_use_id,
    }

    /// `assistant`: a piece of one model message.
    pub struct Assistant<'a> {
        session_id, parent_tool_use_id, error, is_api_error_message, api_error_status, api_error_type,
        api_error;
        #[serde(borrow)] message: Option<Message<'a>>,
    }

    /// The message inside `assistant`, `user` and `message_start`.
    pub struct Message<'a> {
        id, model, stop_reason;
        usage: TokenUsage,
        #[serde(borrow)] content: Blocks<'a>,
    }
}

/// A message's content: blocks; a bare string counts as none.
#[derive(Default)]
pub struct Blocks<'a>(pub Vec<Block<'a>>);

lenient! {
    /// One block: text, a tool's use, or a tool's result.
    pub struct Block<'a> { kind = "type", text, id, name, input, tool_use_id, is_error, content }

    /// `stream_event`: a partial message, of interest for its usage.
    pub struct Stream<'a> {
        api_message_id, parent_tool_use_id;
        #[serde(borrow)] event: Option<StreamInner<'a>>,
    }

    /// The provider's own event inside `stream_event`.
    pub struct StreamInner<'a> {
        ;
        #[serde(borrow)] message: Option<Message<'a>>,
        #[serde(borrow)] delta: Option<Delta<'a>>,
        usage: TokenUsage,
    }

    /// How a message ended.
    pub struct Delta<'a> { stop_reason }

    /// `rate_limit_event`: where the subscription's windows stand.
    pub struct RateLimit<'a> {
        ;
        #[serde(borrow)] rate_limit_info: Option<RateLimitInfo<'a>>,
    }

    /// The window that matters.
    pub struct RateLimitInfo<'a> { status, resets_at = "resetsAt" }

    /// `result`: the terminal event; also the one object of `--output-format json` and, without a type, of older
    /// tools. Its type may come late, so an object whose kind is not known yet is read as this first.
    pub struct Terminal<'a> {
        kind = "type", subtype, is_error, result, errors, error, session_id, session_id_too = "sessionId",
        model, num_turns, total_cost_usd, cost_usd, model_usage = "modelUsage", permission_denials,
        stop_reason, terminal_reason, api_error_status, api_error_type, api_error;
        usage: TokenUsage,
    }

    /// One entry of `modelUsage`.
    pub struct ModelUse<'a> {
        cost = "costUSD", input = "inputTokens", output = "outputTokens", cache_read = "cacheReadInputTokens",
        cache_write = "cacheCreationInputTokens",
    }
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
