//! Everything heard in one call of Goose until it says `complete`, which it says after failures too: those it tells
//! as a message of its own (`fault.rs`), and only the last message counts. `event.rs` has the lines' shapes.

use crate::claude::tools::Tools;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::worded;
use crate::goose::event::{About, Block, Call, Complete, Document, Line, Message};
use crate::goose::fault::{INTERRUPTED, at_the_end, failure, gave_up, refused};
use crate::json::{Field, first_kind, read, split_string};
use crate::output::aborted;
use crate::plain::{KEPT, Tail, short};
use crate::seam::{Activity, Covers, Denial, Failure, ReaderEvent, Reply};
use crate::tally::Tally;
use crate::terms::Terms;
use ralph_rules::failure::Class;
use std::borrow::Cow;

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;
/// How much of a message is looked at to find out whether it tells of a failure.
const WORDS: usize = 8 << 10;
/// How much of a message's id is kept.
const ID: usize = 200;
/// How much of both ends of a tool's result is looked at.
const RESULT: usize = 1 << 10;

/// What was heard so far.
#[derive(Debug, Default)]
pub struct GooseReader {
    model: Option<String>,
    /// The last message, its pieces put together.
    text: Option<Tail>,
    /// Whose pieces they are; `None`: the next piece begins a message.
    speaking: Option<String>,
    /// What the last message was about, if it was the client's own about a failure.
    trouble: Option<Failure>,
    /// A tool whose result has not come.
    running: Option<Denial>,
    tools: Tools,
    tally: Tally,
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
    fn on(&mut self, terms: Terms) {
        self.tally.on(terms);
    }

    fn object(&mut self, text: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        if self.piece(text) {
            return LineKind::Event;
        }
        // A message, written as it mostly is, is read without its frame.
        let framed =
            text.strip_prefix(r#"{"type":"message","message":"#).and_then(|rest| rest.strip_suffix('}'));
        if framed.and_then(read::<Message<'_>>).is_some_and(|message| self.message(&message, out)) {
            return LineKind::Event;
        }
        let Some(line) = read::<Line<'_>>(text) else { return LineKind::NotAnEvent };
        let kind = first_kind(text).map(Cow::Borrowed).or_else(|| line.kind.text());
        let known = match kind.as_deref() {
            Some("message") => line.message.read().is_some_and(|message| self.message(&message, out)),
            Some("complete") => text.contains("\"total_tokens\"") && self.complete(text, out),
            Some("error") => self.error(line.error),
            Some("model_change") => self.model_change(line.model),
            Some("notification") => line.extension_id.0.is_some(),
            _ => false,
        };
        if known { LineKind::Event } else { LineKind::Unknown }
    }

    fn envelope(&mut self, document: &str, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(document) = read::<Document<'_>>(document) else { return false };
        let mut known = |field: &Field<'_>| field.read().is_some_and(|message| self.message(&message, out));
        let heard = document.messages.iter().filter(|field| known(field)).count();
        let about = document.metadata.raw().filter(|_| heard == document.messages.len());
        about.is_some_and(|about| about.contains("\"total_tokens\"") && self.complete(about, out))
    }

    fn beside(&mut self, chatter: &[u8]) {
        self.interrupted |= String::from_utf8_lossy(chatter).contains(INTERRUPTED);
    }

    fn complaint(text: &str, _stderr: &str) -> Option<Failure> {
        at_the_end(text)
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let failure = self.verdict(ended);
        let finished = self.end.is_some();
        let mut denials = self.tools.into_refused();
        // In a mode that asks it gives up at the first tool it would have to ask for.
        let asked = !finished && ended.stderr.contains("Tool approval required");
        denials.extend(self.running.filter(|_| asked));
        let covers = Covers { usage: self.tally.resumed(), cost: false };
        let usage = self.tally.usage();
        let reply = Reply { finished, model: self.model, usage, covers, denials, ..Reply::default() };
        match (failure, self.text) {
            (None, Some(text)) => {
                Reply { text: text.text().into_owned(), text_bytes: text.length(), ..reply }
            }
            (failure, _) => Reply { failure, ..reply },
        }
    }
}

impl GooseReader {
    /// Why it failed, if it did.
    fn verdict(&self, ended: &Ended<'_>) -> Option<Failure> {
        if self.interrupted {
            return Some(worded(Class::Aborted, "it was interrupted"));
        }
        let Some(end) = &self.end else {
            let told = self.trouble.clone().or_else(|| gave_up(ended.stderr));
            return Some(told.unwrap_or_else(|| aborted(ended.exit)));
        };
        if end.failure.is_some() || self.trouble.is_some() {
            return end.failure.clone().or_else(|| self.trouble.clone());
        }
        if self.running.is_some() {
            return Some(worded(Class::Aborted, "it ended while a tool was running"));
        }
        // An answer without a word has tokens; without both nothing came from the model that could be read.
        let silent = self.text.is_none() && !end.counted;
        silent.then(|| worded(Class::Outage, "it ended without an answer from the model"))
    }

    fn message(&mut self, message: &Message<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let said = message.role.is("assistant");
        if !said && !message.role.is("user") {
            return false;
        }
        for block in &message.content {
            self.block(block, message, said, out);
        }
        true
    }

    fn block(&mut self, block: &Block<'_>, message: &Message<'_>, said: bool, out: &mut Vec<ReaderEvent>) {
        if block.kind.is("toolRequest") {
            self.request(block, out);
        } else if block.kind.is("toolResponse") {
            self.response(block, out);
        } else if said && block.kind.is("text") {
            self.said(block.text, message, out);
        } else if said && block.kind.is("systemNotification") {
            self.notified(block);
        }
    }

    /// A piece of a message. Pieces with the same id belong together, as long as no tool came between.
    fn said(&mut self, text: Field<'_>, message: &Message<'_>, out: &mut Vec<ReaderEvent>) {
        let id = message.id.head(ID).unwrap_or_default();
        let goes_on = self.speaking.as_deref() == Some(id.as_ref()) && self.trouble.is_none();
        if !goes_on {
            self.tell(out);
            self.text = None;
        }
        let told = message.metadata.raw().is_some_and(|about| about.contains("\"inference\""));
        let by_model = told && message.metadata.read::<About<'_>>().is_some_and(|a| a.inference.0.is_some());
        let words = text.head(WORDS).unwrap_or_default();
        self.trouble =
            if by_model || (goes_on && !id.is_empty()) { None } else { failure(&words, !id.is_empty()) };
        if !goes_on {
            self.speaking = Some(id.into_owned());
        }
        text.pour(self.text.get_or_insert_with(|| Tail::new(KEPT)));
    }

    /// One more piece of the model's message that is being said, written as it mostly is: there are very many.
    fn piece(&mut self, line: &str) -> bool {
        let (Some(id), Some(text)) = (self.speaking.as_deref(), self.text.as_mut()) else { return false };
        let Some(piece) = piece_of(line, id).filter(|_| !id.is_empty()) else { return false };
        piece.pour(text);
        self.trouble = None;
        true
    }

    /// Shows the message that was said, when all its pieces are there.
    fn tell(&mut self, out: &mut Vec<ReaderEvent>) {
        let said = self.speaking.take().and(self.text.as_ref()).filter(|_| self.trouble.is_none());
        let shown = said.map(|text| short(&text.text(), SAID)).filter(|shown| !shown.is_empty());
        out.extend(shown.map(|text| ReaderEvent::Activity(Activity::Said { text })));
    }

    /// What was said before a tool is not the final message.
    fn request(&mut self, block: &Block<'_>, out: &mut Vec<ReaderEvent>) {
        self.tell(out);
        (self.text, self.trouble) = (None, None);
        let call = block.tool_call.read::<Call<'_>>().unwrap_or_default().value.unwrap_or_default();
        let (id, name) = (block.id.text().unwrap_or_default(), call.name.text().unwrap_or_default());
        let tool = self.tools.start(&id, &name, call.arguments);
        if let Activity::Tool { name, detail, .. } = &tool {
            self.running = Some(Denial { tool: name.clone(), detail: detail.clone() });
        }
        out.push(ReaderEvent::Activity(tool));
    }

    fn response(&mut self, block: &Block<'_>, out: &mut Vec<ReaderEvent>) {
        self.tell(out);
        (self.running, self.trouble) = (None, None);
        let result = block.tool_result.raw().unwrap_or_default();
        let id = block.id.text().unwrap_or_default();
        // What counts stands at its beginning and at its end, around an output of any size.
        let head = result.get(..result.floor_char_boundary(RESULT)).unwrap_or(result);
        let tail =
            result.get(result.ceil_char_boundary(result.len().saturating_sub(RESULT))..).unwrap_or(result);
        let failed = has(head, "status", "\"error\"") || has(tail, "isError", "true");
        out.push(ReaderEvent::Activity(self.tools.end(&id, failed, refused(head))));
    }

    /// The client says something of its own; only two things of that kind are an end.
    fn notified(&mut self, block: &Block<'_>) {
        let words = block.msg.head(WORDS).unwrap_or_default();
        if block.notification.is("creditsExhausted") {
            self.trouble = Some(worded(Class::Billing, &words));
        } else if words.starts_with("Unable to continue: ") {
            self.trouble = failure(&words, false);
        }
    }

    fn error(&mut self, error: Field<'_>) -> bool {
        let Some(words) = error.head(WORDS) else { return false };
        let class = crate::error_phrases::class_of(&words).unwrap_or(Class::Unknown);
        self.trouble = Some(worded(class, &words));
        true
    }

    fn model_change(&mut self, model: Field<'_>) -> bool {
        self.model = model.filled().map(|model| short(&model, 200)).or(self.model.take());
        model.0.is_some()
    }

    fn complete(&mut self, text: &str, out: &mut Vec<ReaderEvent>) -> bool {
        let told = read::<Complete<'_>>(text).unwrap_or_default();
        let usage = told.usage();
        self.tell(out);
        if self.end.is_none() {
            let spent = usage.and_then(|usage| self.tally.sum(self.model.as_deref(), usage));
            out.extend(spent.map(ReaderEvent::Spent));
            out.push(ReaderEvent::Final);
        }
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
