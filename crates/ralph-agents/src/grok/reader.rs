//! Grok's events: those in Claude's format as Grok prints it, and those of its own formats (`native.rs`).

use crate::accumulator::Accumulator;
use crate::call_pricing::CallPricing;
use crate::claude::reader::ClaudeReader;
use crate::claude::variant::{CLAUDE, ClaudeVariant};
use crate::dialect::{Dialect, Ended, LineKind};
use crate::grok::failure::explain;
use crate::grok::native::Native;
use crate::json::first_kind;
use crate::reply::Reply;
use memchr::memmem;

const GROK: ClaudeVariant = ClaudeVariant {
    // It writes zero where the provider did not say what the call cost.
    zero_is_unknown: true,
    refused,
    explain,
    ..CLAUDE
};

/// Where a refused tool's result says so.
const REFUSED: &str = "User cancelled the execution for tool";

/// Whether a failed tool's result says that the tool was refused.
pub fn refused(result: &str) -> bool {
    let head = result.as_bytes().get(..result.len().min(256)).unwrap_or_default();
    memmem::find(head, REFUSED.as_bytes()).is_some()
}

/// What was read so far.
#[derive(Debug)]
pub struct GrokReader {
    claude: ClaudeReader,
    native: Native,
    distinctive: bool,
}

impl Default for GrokReader {
    fn default() -> GrokReader {
        GrokReader { claude: ClaudeReader::with(GROK), native: Native::default(), distinctive: false }
    }
}

impl Dialect for GrokReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.claude.call
    }

    fn price_with(&mut self, pricing: CallPricing) {
        self.native.price_with(pricing.clone());
        self.claude.price_with(pricing);
    }

    fn object(&mut self, text: &str) -> LineKind {
        let call = &mut self.claude.call;
        let native = first_kind(text).and_then(|kind| self.native.event(kind, text, call));
        self.distinctive = self.distinctive || self.native.is_distinctive() || is_distinctive(text);
        native.unwrap_or_else(|| self.claude.object(text))
    }

    fn document(&mut self, document: &str) -> bool {
        self.native.document(document, &mut self.claude.call)
    }

    fn cut_line(&mut self, line: &[u8]) {
        self.claude.cut_line(line);
    }

    fn is_distinctive(&self) -> bool {
        self.distinctive
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        if self.native.has_events() {
            self.native.reply(self.claude.call, ended)
        } else {
            self.claude.reply(ended)
        }
    }
}

/// Its introduction begins with the conversation's id, and its end never lists refusals; Claude's begins with
/// the directory, and its end lists them wherever it gives a stop reason.
fn is_distinctive(text: &str) -> bool {
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
    fn its_events_are_distinctive_and_claudes_are_not() {
        for (line, distinctive) in [
            (r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#, true),
            (r#"{"type":"result","subtype":"success","stop_reason":null,"total_cost_usd":0.0}"#, true),
            (r#"{"type":"system","subtype":"init","cwd":"/","session_id":"s"}"#, false),
            (r#"{"type":"result","stop_reason":"end_turn","permission_denials":[]}"#, false),
            (r#"{"type":"result","result":"\"stop_reason\":"}"#, false),
            (r#"{"type":"assistant","message":{},"stop_reason":""}"#, false),
        ] {
            assert_eq!(is_distinctive(line), distinctive, "{line}");
        }
    }

    #[test]
    fn a_refusal_is_told_by_the_tools_result() {
        assert!(refused(r#""[{\"text\":\"User cancelled the execution for tool `x`\"}]""#));
        assert!(!refused(r#""exit: 1\nno such file""#));
    }
}
