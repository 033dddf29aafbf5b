//! Goose's event stream until it says `complete`, which it says after failures too: those it tells as a message of its own
//! (`failure.rs`), and only the last message counts. `event.rs` has the lines' shapes.

use crate::accumulator::Accumulator;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::{class_of, worded};
use crate::goose::event::{About, Block, Complete, Document, Line, Message, ToolCall};
use crate::goose::failure::{INTERRUPTED, at_the_end, failure, gave_up, refused};
use crate::json::{Field, first_kind, read, split_string};
use crate::output::aborted;
use crate::reply::{Covers, Denial, Failure, Reply};
use ralph_rules::failure::Class;
use std::borrow::Cow;

/// How much of a message is looked at to find out whether it tells of a failure.
const WORDS: usize = 8 << 10;
/// How much of a message's id is kept.
const ID: usize = 200;
/// How much of both ends of a tool's result is looked at.
const RESULT: usize = 1 << 10;

/// What was read so far; the accumulator's text is the last message, its pieces put together.
#[derive(Debug, Default)]
pub struct GooseReader {
    call: Accumulator,
    /// There was a message.
    spoke: bool,
    /// The id of the message that is being said; `None`: the next piece begins a message.
    speaking: Option<String>,
    /// What the last message was about, if it was the client's own about a failure.
    error: Option<Failure>,
    /// A tool whose result has not come.
    running: Option<Denial>,
    interrupted: bool,
    end: Option<End>,
}

#[derive(Debug)]
struct End {
    /// Whether it knew of any tokens.
    counted: bool,
    failure: Option<Failure>,
}

impl Dialect for GooseReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.call
    }

    fn object(&mut self, text: &str) -> LineKind {
        if self.piece(text) {
            return LineKind::Event;
        }
        // A message, written as it mostly is, is read without its frame.
        let framed =
            text.strip_prefix(r#"{"type":"message","message":"#).and_then(|rest| rest.strip_suffix('}'));
        if framed.and_then(read::<Message<'_>>).is_some_and(|message| self.message(&message)) {
            return LineKind::Event;
        }
        let Some(line) = read::<Line<'_>>(text) else { return LineKind::NotAnEvent };
        let kind = first_kind(text).map(Cow::Borrowed).or_else(|| line.kind.text());
        let known = match kind.as_deref() {
            Some("message") => line.message.read().is_some_and(|message| self.message(&message)),
            Some("complete") => text.contains("\"total_tokens\"") && self.complete(text),
            Some("error") => self.error(line.error),
            Some("model_change") => {
                self.call.set_model(line.model);
                line.model.0.is_some()
            }
            Some("notification") => line.extension_id.0.is_some(),
            _ => false,
        };
        known.into()
    }

    fn document(&mut self, document: &str) -> bool {
        let Some(document) = read::<Document<'_>>(document) else { return false };
        let mut known = |field: &Field<'_>| field.read().is_some_and(|message| self.message(&message));
        let messages = document.messages.iter().filter(|field| known(field)).count();
        let about = document.metadata.raw().filter(|_| messages == document.messages.len());
        about.is_some_and(|about| about.contains("\"total_tokens\"") && self.complete(about))
    }

    fn text_before_event(&mut self, text: &[u8]) {
        self.interrupted |= String::from_utf8_lossy(text).contains(INTERRUPTED);
    }

    fn failure_in_text(text: &str, _stderr: &str) -> Option<Failure> {
        at_the_end(text)
    }

    fn reply(mut self, ended: &Ended<'_>) -> Reply {
        let failure = self.failure(ended);
        let finished = self.end.is_some();
        if failure.is_some() {
            self.call.text.clear();
        }
        let covers = Covers { usage: self.call.tally.resumed(), cost: false };
        let mut reply = self.call.reply(finished, failure);
        // In a mode that asks it gives up at the first tool it would have to ask for.
        let asked = !finished && ended.stderr.contains("Tool approval required");
        reply.denials.extend(self.running.filter(|_| asked));
        Reply { covers, ..reply }
    }
}

impl GooseReader {
    /// Why it failed, if it did.
    fn failure(&self, ended: &Ended<'_>) -> Option<Failure> {
        if self.interrupted {
            return Some(worded(Class::Aborted, "it was interrupted"));
        }
        let Some(end) = &self.end else {
            let told = self.error.clone().or_else(|| gave_up(ended.stderr));
            return Some(told.unwrap_or_else(|| aborted(ended.exit)));
        };
        if end.failure.is_some() || self.error.is_some() {
            return end.failure.clone().or_else(|| self.error.clone());
        }
        if self.running.is_some() {
            return Some(worded(Class::Aborted, "it ended while a tool was running"));
        }
        // An answer without a word has tokens; without both nothing came from the model that could be read.
        let silent = !self.spoke && !end.counted;
        silent.then(|| worded(Class::Outage, "it ended without an answer from the model"))
    }

    fn message(&mut self, message: &Message<'_>) -> bool {
        let said = message.role.is("assistant");
        if !said && !message.role.is("user") {
            return false;
        }
        for block in &message.content {
            if block.kind.is("toolRequest") {
                self.tool_request(block);
            } else if block.kind.is("toolResponse") {
                self.tool_response(block);
            } else if said && block.kind.is("text") {
                self.said(block.text, message);
            } else if said && block.kind.is("systemNotification") {
                self.notified(block);
            }
        }
        true
    }

    /// A piece of a message. Pieces with the same id belong together, as long as no tool came between.
    fn said(&mut self, text: Field<'_>, message: &Message<'_>) {
        let id = message.id.head(ID).unwrap_or_default();
        let continues = self.speaking.as_deref() == Some(id.as_ref()) && self.error.is_none();
        if !continues {
            self.show();
            self.call.text.clear();
        }
        let told = message.metadata.raw().is_some_and(|about| about.contains("\"inference\""));
        let by_model = told && message.metadata.read::<About<'_>>().is_some_and(|a| a.inference.0.is_some());
        let words = text.head(WORDS).unwrap_or_default();
        self.error =
            if by_model || (continues && !id.is_empty()) { None } else { failure(&words, !id.is_empty()) };
        if !continues {
            self.speaking = Some(id.into_owned());
        }
        self.spoke = true;
        text.pour(&mut self.call.text);
    }

    /// One more piece of the model's message that is being said, written as it mostly is: there are very many.
    fn piece(&mut self, line: &str) -> bool {
        let Some(id) = self.speaking.as_deref().filter(|id| !id.is_empty()) else { return false };
        let Some(piece) = piece_of(line, id) else { return false };
        piece.pour(&mut self.call.text);
        self.error = None;
        true
    }

    /// Shows the message that was said, when all its pieces are there.
    fn show(&mut self) {
        if self.speaking.take().is_some() && self.error.is_none() {
            self.call.show_gathered();
        }
    }

    /// What was said before a tool is not the final message.
    fn tool_request(&mut self, block: &Block<'_>) {
        self.show();
        self.call.text.clear();
        (self.spoke, self.error) = (false, None);
        let tool = block.tool_call.read::<ToolCall<'_>>().unwrap_or_default().value.unwrap_or_default();
        self.call.tool_start(block.id, tool.name, tool.arguments);
        self.running = self.call.tools.latest().cloned();
    }

    fn tool_response(&mut self, block: &Block<'_>) {
        self.show();
        (self.running, self.error) = (None, None);
        let result = block.tool_result.raw().unwrap_or_default();
        // What counts stands at its beginning and at its end, around an output of any size.
        let head = result.get(..result.floor_char_boundary(RESULT)).unwrap_or(result);
        let tail =
            result.get(result.ceil_char_boundary(result.len().saturating_sub(RESULT))..).unwrap_or(result);
        let failed = has(head, "status", "\"error\"") || has(tail, "isError", "true");
        self.call.tool_end(block.id, failed, refused(head));
    }

    /// The client says something of its own; only two things of that kind are an end.
    fn notified(&mut self, block: &Block<'_>) {
        let words = block.msg.head(WORDS).unwrap_or_default();
        if block.notification.is("creditsExhausted") {
            self.error = Some(worded(Class::Billing, &words));
        } else if words.starts_with("Unable to continue: ") {
            self.error = failure(&words, false);
        }
    }

    fn error(&mut self, error: Field<'_>) -> bool {
        let Some(words) = error.head(WORDS) else { return false };
        self.error = Some(worded(class_of(&words).unwrap_or(Class::Unknown), &words));
        true
    }

    fn complete(&mut self, text: &str) -> bool {
        let told = read::<Complete<'_>>(text).unwrap_or_default();
        let usage = told.usage();
        self.show();
        if let Some(usage) = usage.filter(|_| self.end.is_none()) {
            self.call.spend_sum(usage);
        }
        self.call.finish();
        let status = told.status.filled().filter(|status| *status != "completed");
        let failure = status.map(|status| worded(Class::Unknown, &format!("it ended as \"{status}\"")));
        self.end = Some(End { counted: usage.is_some(), failure });
        true
    }
}

/// The text of a line that is nothing but a piece of the message with this id.
fn piece_of<'a>(line: &'a str, id: &str) -> Option<Field<'a>> {
    let rest = line.strip_prefix(r#"{"type":"message","message":{"id":""#)?.strip_prefix(id)?;
    let rest = rest.strip_prefix(r#"","role":"assistant","created":"#)?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let (text, rest) = split_string(rest.strip_prefix(r#","content":[{"type":"text","text":"#)?)?;
    (rest.starts_with(r#"}],"metadata":{"#) && rest.ends_with("}}}")).then_some(text)
}

/// Whether a piece of JSON holds this key with this value, on whatever level, however it is spaced.
fn has(json: &str, key: &str, value: &str) -> bool {
    json.match_indices(key).any(|(at, _)| {
        let quoted = json.get(..at).is_some_and(|before| before.ends_with('"') && !before.ends_with("\\\""));
        let rest = json.get(at + key.len()..).and_then(|rest| rest.strip_prefix("\":"));
        quoted && rest.is_some_and(|rest| rest.trim_start().starts_with(value))
    })
}
