//! The lines of Codex's stream, typed and borrowed; only what is used is named, the rest is skipped unread. Every
//! field is lenient (`json.rs`), so a new version that changes one breaks only that one.

use crate::json::{Field, counts, lenient};
use ralph_rules::money::Usage;

lenient! {
    /// Any line: the fields of all kinds of events together.
    pub struct Line<'a> { kind = "type", thread_id | "session_id", item, usage, message, error }

    /// `item`: something the agent did or said.
    pub struct Item<'a> {
        id, kind = "type" | "item_type", text, command, status, changes, server, tool, query, prompt,
    }

    /// One entry of a file change's `changes`.
    pub struct Change<'a> { path }

    /// `error` inside `turn.failed`.
    pub struct TurnError<'a> { message }

}

/// Tokens as it writes them: what came from or went to the cache is counted in the input too, and thinking in the
/// output.
pub fn usage(field: Field<'_>) -> Option<Usage> {
    let keys = ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"];
    let [input, output, cache_read, cache_write] = counts(field, keys)?;
    let input = input.saturating_sub(cache_read).saturating_sub(cache_write);
    Some(Usage { input, output, cache_read, cache_write })
}
