//! The lines of Goose's stream, typed and borrowed; only what is used is named, the rest is skipped unread. Every
//! field is lenient (`json.rs`), so a new version that changes one breaks only that one.

use crate::json::{Field, lenient};
use ralph_rules::money::Usage;
use serde::Deserialize;

lenient! {
    /// Any line: the fields of all kinds of events together.
    pub struct Line<'a> { kind = "type", message, error, model, extension_id }

    /// A message, or a piece of one.
    pub struct Message<'a> {
        id, role, metadata;
        #[serde(borrow)] content: Vec<Block<'a>>,
    }

    /// One block of a message.
    pub struct Block<'a> {
        kind = "type", id, text, tool_call = "toolCall", tool_result = "toolResult",
        notification = "notificationType", msg,
    }

    /// What a message says of itself.
    pub struct About<'a> {
        /// Newer versions: how the model made it. What the client says itself has none.
        inference,
    }

    /// `toolCall`.
    pub struct ToolCall<'a> {
        ;
        #[serde(borrow)] value: Option<Named<'a>>,
    }

    /// The tool and what it is given.
    pub struct Named<'a> { name, arguments }
}

/// The whole output as one document (`--output-format json`).
#[derive(Deserialize)]
pub struct Document<'a> {
    #[serde(borrow)]
    pub messages: Vec<Field<'a>>,
    #[serde(borrow)]
    pub metadata: Field<'a>,
}

lenient! {
    /// `complete`, and the document's `metadata`.
    pub struct Complete<'a> { total_tokens, input_tokens, output_tokens, status }
}

impl Complete<'_> {
    /// The tokens, where there are any. It does not tell what came from a cache; versions that only know the sum
    /// have it booked as input, which most of it is.
    pub fn usage(&self) -> Option<Usage> {
        let (input, output) = (self.input_tokens.count(), self.output_tokens.count());
        if input.is_none() && output.is_none() {
            return Some(Usage { input: self.total_tokens.count()?, ..Usage::default() });
        }
        Some(Usage { input: input.unwrap_or(0), output: output.unwrap_or(0), ..Usage::default() })
    }
}
