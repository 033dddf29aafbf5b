//! Grok's events: those in Claude's dialect with Grok's accent, and those of its own formats (`native.rs`).

use crate::claude::accent::{Accent, CLAUDE};
use crate::claude::reader::ClaudeReader;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::grok::fault;
use crate::grok::native::Native;
use crate::json::first_kind;
use crate::seam::{ReaderEvent, Reply};
use crate::terms::Terms;
use memchr::memmem;

const ACCENT: Accent = Accent {
    // It writes zero where the provider did not say what the call cost.
    zero_is_unknown: true,
    refused,
    explain: fault::explain,
    ..CLAUDE
};

/// Where a refused tool's result says so.
const REFUSED: &str = "User cancelled the execution for tool";

/// Whether a failed tool's result says that the tool was refused.
pub fn refused(result: &str) -> bool {
    let head = result.as_bytes().get(..result.len().min(256)).unwrap_or_default();
    memmem::find(head, REFUSED.as_bytes()).is_some()
}

/// What was heard so far.
#[derive(Debug)]
pub struct GrokReader {
    heard: ClaudeReader,
    native: Native,
    marked: bool,
}

impl Default for GrokReader {
    fn default() -> GrokReader {
        GrokReader { heard: ClaudeReader::with(ACCENT), native: Native::default(), marked: false }
    }
}

impl Dialect for GrokReader {
    fn on(&mut self, terms: Terms) {
        self.native.on(terms.clone());
        self.heard.on(terms);
    }

    fn object(&mut self, text: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        let native = first_kind(text).and_then(|kind| self.native.event(kind, text, out));
        self.marked = self.marked || self.native.marked() || is_marked(text);
        native.unwrap_or_else(|| self.heard.object(text, out))
    }

    fn envelope(&mut self, document: &str, out: &mut Vec<ReaderEvent>) -> bool {
        self.native.document(document, out)
    }

    fn cut_short(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        self.heard.cut_short(line, out);
    }

    fn accent(&self) -> bool {
        self.marked
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        if self.native.heard() { self.native.reply(ended) } else { self.heard.reply(ended) }
    }
}

/// Its introduction begins with the conversation's id, and its end never lists refusals; Claude's begins with
/// the directory, and its end lists them wherever it gives a stop reason.
fn is_marked(text: &str) -> bool {
    let has = |key: &str| memmem::find(text.as_bytes(), key.as_bytes()).is_some();
    text.starts_with(r#"{"type":"system","subtype":"init","session_id":"#)
        || text.starts_with(r#"{"type":"result""#)
            && has(r#","stop_reason":"#)
            && !has(r#","permission_denials":"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_events_are_marked_and_claudes_are_not() {
        for (line, marked) in [
            (r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#, true),
            (r#"{"type":"result","subtype":"success","stop_reason":null,"total_cost_usd":0.0}"#, true),
            (r#"{"type":"system","subtype":"init","cwd":"/","session_id":"s"}"#, false),
            (r#"{"type":"result","stop_reason":"end_turn","permission_denials":[]}"#, false),
            (r#"{"type":"result","result":"\"stop_reason\":"}"#, false),
            (r#"{"type":"assistant","message":{},"stop_reason":""}"#, false),
        ] {
            assert_eq!(is_marked(line), marked, "{line}");
        }
    }

    #[test]
    fn a_refusal_is_told_by_the_tools_result() {
        assert!(refused(r#""[{\"text\":\"User cancelled the execution for tool `x`\"}]""#));
        assert!(!refused(r#""exit: 1\nno such file""#));
    }
}
