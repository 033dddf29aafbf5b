//! The lines of Goose's stream, typed and borrowed; only what is used is named, the rest is skipped unread. Every
//! field is lenient (`json.rs`), so a new version that changes one breaks only that one.

use crate::json::Field;
use ralph_rules::money::Usage;
use serde::Deserialize;

/// Any line: the fields of all kinds of events together.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Line<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Field<'a>,
    #[serde(borrow)]
    pub message: Field<'a>,
    #[serde(borrow)]
    pub error: Field<'a>,
    #[serde(borrow)]
    pub model: Field<'a>,
    #[serde(borrow)]
    pub extension_id: Field<'a>,
}

/// A message, or a piece of one.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Message<'a> {
    #[serde(borrow)]
    pub id: Field<'a>,
    #[serde(borrow)]
    pub role: Field<'a>,
    #[serde(borrow)]
    pub content: Vec<Block<'a>>,
    #[serde(borrow)]
    pub metadata: Field<'a>,
}

/// One block of a message.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Field<'a>,
    #[serde(borrow)]
    pub id: Field<'a>,
    #[serde(borrow)]
    pub text: Field<'a>,
    #[serde(rename = "toolCall", borrow)]
    pub tool_call: Field<'a>,
    #[serde(rename = "toolResult", borrow)]
    pub tool_result: Field<'a>,
    #[serde(rename = "notificationType", borrow)]
    pub notification: Field<'a>,
    #[serde(borrow)]
    pub msg: Field<'a>,
}

/// What a message says of itself.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct About<'a> {
    /// Newer versions: how the model made it. What the client says itself has none.
    #[serde(borrow)]
    pub inference: Field<'a>,
}

/// `toolCall`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Call<'a> {
    #[serde(borrow)]
    pub value: Option<Named<'a>>,
}

/// The tool and what it is given.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Named<'a> {
    #[serde(borrow)]
    pub name: Field<'a>,
    #[serde(borrow)]
    pub arguments: Field<'a>,
}

/// The whole output as one document (`--output-format json`).
#[derive(Deserialize)]
pub struct Document<'a> {
    #[serde(borrow)]
    pub messages: Vec<Field<'a>>,
    #[serde(borrow)]
    pub metadata: Field<'a>,
}

/// `complete`, and the document's `metadata`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Complete<'a> {
    #[serde(borrow)]
    pub total_tokens: Field<'a>,
    #[serde(borrow)]
    pub input_tokens: Field<'a>,
    #[serde(borrow)]
    pub output_tokens: Field<'a>,
    #[serde(borrow)]
    pub status: Field<'a>,
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
