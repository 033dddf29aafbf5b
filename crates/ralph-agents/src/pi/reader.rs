//! pi's event stream. An API failure is an ordinary end here, with exit code 0: only the last message's `stopReason`
//! tells. `agent_end` closes each attempt, also one that is tried again after it.

use crate::accumulator::Accumulator;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::{class_of_error, retry_words, worded};
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::pi::event::{Block, Head, Message, MessageEnd, Retry, Tool, usage};
use crate::reply::{Failure, Reply};
use crate::text::Tail;
use ralph_rules::failure::Class;
use ralph_rules::money::Usage;

/// What was read so far.
#[derive(Debug, Default)]
pub struct PiReader {
    call: Accumulator,
    last: Option<LastMessage>,
    /// The conversation came to an end and was not taken up again.
    over: bool,
}

/// How the assistant's last message ended.
#[derive(Debug)]
struct LastMessage {
    stop: String,
    error: String,
}

impl Dialect for PiReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.call
    }

    fn object(&mut self, line: &str) -> LineKind {
        match first_kind(line) {
            Some(kind) => self.event(kind, line),
            None => match read::<Head<'_>>(line) {
                None => LineKind::NotAnEvent,
                Some(head) => head.kind.text().map_or(LineKind::Unknown, |kind| self.event(&kind, line)),
            },
        }
    }

    fn cut_line(&mut self, line: &[u8]) {
        if line.starts_with(br#"{"type":"tool_execution_end""#) {
            self.call.tool_end_cut();
        }
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let told = self.last.as_ref().and_then(LastMessage::failure);
        if self.over {
            let cost = self.call.tally.cost();
            return Reply { cost, ..self.call.reply(true, told) };
        }
        // What stopped it was told before: it was waiting to try again.
        let told = told.filter(|f| !matches!(f.class, Class::Unknown | Class::Truncated));
        self.call.reply(false, told.or_else(|| Some(aborted(ended.exit))))
    }
}

impl PiReader {
    fn event(&mut self, kind: &str, line: &str) -> LineKind {
        let known = match kind {
            "message_update" | "tool_execution_update" | "message_start" | "turn_start" | "turn_end" => {
                Some(line.ends_with('}'))
            }
            "session" => read(line).map(|head| self.began(&head)),
            "agent_start" => {
                self.over = false;
                Some(line.ends_with('}'))
            }
            // All of the conversation once more; read only to know that the line is whole.
            "agent_end" => read::<Head<'_>>(line).map(|_| self.attempt_ended()),
            "message_end" => read::<MessageEnd<'_>>(line).map(|event| self.message(event.message.as_ref())),
            "tool_execution_start" => read(line).map(|tool| self.tool_start(&tool)),
            "tool_execution_end" => read(line).map(|tool| self.tool_end(&tool)),
            "auto_retry_start" => read(line).map(|retry| self.retries(&retry)),
            "auto_retry_end" => read(line).map(|retry| self.gave_up(&retry)),
            _ => return LineKind::Unknown,
        };
        known.into()
    }

    fn began(&mut self, head: &Head<'_>) -> bool {
        let introduces = head.cwd.0.is_some() && self.call.set_session(head.id);
        if introduces {
            self.call.began();
        }
        introduces
    }

    fn message(&mut self, message: Option<&Message<'_>>) -> bool {
        let Some(message) = message else { return false };
        if !message.role.is("assistant") {
            return message.role.0.is_some();
        }
        self.call.turns = self.call.turns.saturating_add(1);
        self.call.set_model(message.model);
        gather_text(message.content, &mut self.call.text);
        self.call.show_gathered();
        let (used, cost) = usage(message.usage).unwrap_or_default();
        if used == Usage::default() && self.call.text.length() > 0 {
            // It answered, and the provider kept no account of it.
            self.call.tally.blind();
        }
        self.call.spend(used, cost);
        let own = |f: Field<'_>| f.head(4096).unwrap_or_default().into_owned();
        self.last = Some(LastMessage { stop: own(message.stop_reason), error: own(message.error) });
        true
    }

    fn tool_start(&mut self, tool: &Tool<'_>) -> bool {
        let named = tool.name.filled().is_some();
        if named {
            self.call.tool_start(tool.id, tool.name, tool.args);
        }
        named
    }

    fn tool_end(&mut self, tool: &Tool<'_>) -> bool {
        self.call.tool_end(tool.id, tool.is_error.truth() == Some(true), false);
        tool.name.0.is_some()
    }

    /// An attempt ended. After an error it may be tried again: only the retry's own end says that it is not.
    fn attempt_ended(&mut self) -> bool {
        self.over = self.last.is_some();
        if self.last.as_ref().is_some_and(|last| last.stop != "error") {
            self.call.finish();
        }
        true
    }

    fn retries(&mut self, retry: &Retry<'_>) -> bool {
        self.over = false;
        let why = retry.error.head(200).unwrap_or_default();
        self.call.retrying(retry_words(
            &why,
            retry.attempt.count(),
            retry.most.count(),
            retry.delay.number(),
        ));
        true
    }

    fn gave_up(&mut self, retry: &Retry<'_>) -> bool {
        if retry.success.truth() == Some(false) {
            self.over = self.last.is_some();
            self.call.finish();
        }
        true
    }
}

/// The text of a message, its blocks as lines.
fn gather_text(content: Field<'_>, text: &mut Tail) {
    text.clear();
    let blocks: Vec<Block<'_>> = content.read().unwrap_or_default();
    for block in blocks.iter().filter(|block| block.kind.is("text")) {
        if text.length() > 0 {
            text.push(b"\n");
        }
        block.text.pour(text);
    }
}

impl LastMessage {
    fn failure(&self) -> Option<Failure> {
        let said = |class, otherwise: &str| {
            worded(class, if self.error.is_empty() { otherwise } else { &self.error })
        };
        match self.stop.as_str() {
            "error" => {
                let class = class_of_error(&self.error).unwrap_or(Class::Unknown);
                Some(said(class, "it reported an error without a message"))
            }
            "aborted" => Some(said(Class::Aborted, "it was interrupted")),
            "length" => Some(said(Class::Truncated, "the answer was cut off at the model's limit")),
            _ => None,
        }
    }
}
