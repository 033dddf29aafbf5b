//! The lines of Codex's stream, typed and borrowed; only what is used is named, the rest is skipped unread. Every
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
    #[serde(borrow, alias = "session_id")]
    pub thread_id: Field<'a>,
    #[serde(borrow)]
    pub item: Field<'a>,
    #[serde(borrow)]
    pub usage: Field<'a>,
    #[serde(borrow)]
    pub message: Field<'a>,
    #[serde(borrow)]
    pub error: Field<'a>,
}

/// `item`: something the agent did or said.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Item<'a> {
    #[serde(borrow)]
    pub id: Field<'a>,
    #[serde(rename = "type", alias = "item_type", borrow)]
    pub kind: Field<'a>,
    #[serde(borrow)]
    pub text: Field<'a>,
    #[serde(borrow)]
    pub command: Field<'a>,
    #[serde(borrow)]
    pub status: Field<'a>,
    #[serde(borrow)]
    pub changes: Field<'a>,
    #[serde(borrow)]
    pub server: Field<'a>,
    #[serde(borrow)]
    pub tool: Field<'a>,
    #[serde(borrow)]
    pub query: Field<'a>,
    #[serde(borrow)]
    pub prompt: Field<'a>,
}

/// One entry of a file change's `changes`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Change<'a> {
    #[serde(borrow)]
    pub path: Field<'a>,
}

/// `error` inside `turn.failed`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Fault<'a> {
    #[serde(borrow)]
    pub message: Field<'a>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, default)]
    input_tokens: Field<'a>,
    #[serde(borrow, default)]
    cached_input_tokens: Field<'a>,
    #[serde(borrow, default)]
    cache_write_input_tokens: Field<'a>,
    #[serde(borrow, default)]
    output_tokens: Field<'a>,
}

/// Tokens as it writes them: what came from or went to the cache is counted in the input too, and thinking in the
/// output.
pub fn usage(field: Field<'_>) -> Option<Usage> {
    let tokens: Tokens<'_> = field.read()?;
    let count = |f: Field<'_>| f.count().unwrap_or(0);
    let (read, write) = (count(tokens.cached_input_tokens), count(tokens.cache_write_input_tokens));
    Some(Usage {
        input: count(tokens.input_tokens).saturating_sub(read).saturating_sub(write),
        output: count(tokens.output_tokens),
        cache_read: read,
        cache_write: write,
    })
}
