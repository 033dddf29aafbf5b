//! Everything heard in one call of pi. An API failure is an ordinary end here, with exit code 0: only the last
//! message's `stopReason` tells. `agent_end` closes each attempt, also one that is tried again after it.

use crate::claude::tools::Tools;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::{class_of_error, retry_words, worded};
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::pi::event::{Block, Head, Message, MessageEnd, Retry, Tool, usage};
use crate::plain::{KEPT, Tail, short};
use crate::seam::{Activity, Failure, ReaderEvent, Reply};
use crate::tally::Tally;
use crate::terms::Terms;
use ralph_rules::failure::Class;
use ralph_rules::money::Usage;

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;

/// What was heard so far.
#[derive(Debug, Default)]
pub struct PiReader {
    session: Option<String>,
    model: Option<String>,
    tally: Tally,
    tools: Tools,
    turns: u32,
    last: Option<Last>,
    /// The conversation came to an end and was not taken up again.
    over: bool,
    final_told: bool,
}

/// The assistant's last message.
#[derive(Debug)]
struct Last {
    text: Tail,
    stop: String,
    error: String,
}

impl Dialect for PiReader {
    fn on(&mut self, terms: Terms) {
        self.tally.on(terms);
    }

    fn object(&mut self, line: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        match first_kind(line) {
            Some(kind) => self.event(kind, line, out),
            None => match read::<Head<'_>>(line) {
                None => LineKind::NotAnEvent,
                Some(head) => head.kind.text().map_or(LineKind::Unknown, |kind| self.event(&kind, line, out)),
            },
        }
    }

    fn cut_short(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        if line.starts_with(br#"{"type":"tool_execution_end""#) {
            out.push(ReaderEvent::Activity(self.tools.end("", false, false)));
        }
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let told = self.last.as_ref().and_then(failure);
        let failure = if self.over {
            told
        } else {
            // What stopped it was told before: it was waiting to try again.
            told.filter(|f| !matches!(f.class, Class::Unknown | Class::Truncated))
                .or_else(|| Some(aborted(ended.exit)))
        };
        let text = self.last.filter(|_| self.over).map(|last| last.text).unwrap_or_else(|| Tail::new(KEPT));
        Reply {
            text: text.text().into_owned(),
            text_bytes: text.length(),
            finished: self.over,
            failure,
            session: self.session,
            model: self.model,
            usage: self.tally.usage(),
            cost: if self.over { self.tally.cost() } else { None },
            turns: Some(self.turns).filter(|turns| *turns > 0),
            denials: self.tools.into_refused(),
            ..Reply::default()
        }
    }
}

impl PiReader {
    fn event(&mut self, kind: &str, line: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        let known = match kind {
            "message_update" | "tool_execution_update" | "message_start" | "turn_start" | "turn_end" => {
                Some(line.ends_with('}'))
            }
            "session" => read(line).map(|head| self.began(&head, out)),
            "agent_start" => {
                self.over = false;
                Some(line.ends_with('}'))
            }
            // All of the conversation once more; read only to know that the line is whole.
            "agent_end" => read::<Head<'_>>(line).map(|_| self.closed(out)),
            "message_end" => read::<MessageEnd<'_>>(line).map(|told| self.told(told.message.as_ref(), out)),
            "tool_execution_start" => read(line).map(|tool| self.tool_start(&tool, out)),
            "tool_execution_end" => read(line).map(|tool| self.tool_end(&tool, out)),
            "auto_retry_start" => read(line).map(|retry| self.retries(&retry, out)),
            "auto_retry_end" => read(line).map(|retry| self.gave_up(&retry, out)),
            _ => return LineKind::Unknown,
        };
        match known {
            Some(true) => LineKind::Event,
            Some(false) => LineKind::Unknown,
            None => LineKind::NotAnEvent,
        }
    }

    fn began(&mut self, head: &Head<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let (Some(id), true) = (head.id.filled(), head.cwd.0.is_some()) else { return false };
        self.session = Some(short(&id, 200));
        let began = Activity::Began { session: self.session.clone(), model: None };
        out.push(ReaderEvent::Activity(began));
        true
    }

    fn told(&mut self, message: Option<&Message<'_>>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(message) = message else { return false };
        if !message.role.is("assistant") {
            return message.role.0.is_some();
        }
        self.turns = self.turns.saturating_add(1);
        if let Some(model) = message.model.filled() {
            self.model = Some(short(&model, 200));
        }
        let text = text_of(message.content);
        if text.length() > 0 {
            out.push(ReaderEvent::Activity(Activity::Said { text: short(&text.text(), SAID) }));
        }
        self.spend(message, text.length() > 0, out);
        let own = |f: Field<'_>| f.head(4096).unwrap_or_default().into_owned();
        self.last = Some(Last { text, stop: own(message.stop_reason), error: own(message.error) });
        true
    }

    fn spend(&mut self, message: &Message<'_>, spoke: bool, out: &mut Vec<ReaderEvent>) {
        let (used, cost) = usage(message.usage).unwrap_or_default();
        if used == Usage::default() && spoke {
            // It answered, and the provider kept no account of it.
            self.tally.blind();
        }
        out.extend(self.tally.turn(self.model.as_deref(), used, cost).map(ReaderEvent::Spent));
    }

    fn tool_start(&mut self, tool: &Tool<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(name) = tool.name.filled() else { return false };
        let id = tool.id.text().unwrap_or_default();
        out.push(ReaderEvent::Activity(self.tools.start(&id, &name, tool.args)));
        true
    }

    fn tool_end(&mut self, tool: &Tool<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let id = tool.id.text().unwrap_or_default();
        let failed = tool.is_error.truth() == Some(true);
        out.push(ReaderEvent::Activity(self.tools.end(&id, failed, false)));
        tool.name.0.is_some()
    }

    /// An attempt ended. After an error it may be tried again: only the retry's own end says that it is not.
    fn closed(&mut self, out: &mut Vec<ReaderEvent>) -> bool {
        self.over = self.last.is_some();
        if self.last.as_ref().is_some_and(|last| last.stop != "error") {
            self.tell_final(out);
        }
        true
    }

    fn retries(&mut self, retry: &Retry<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        self.over = false;
        let why = retry.error.head(200).unwrap_or_default();
        let why = retry_words(&why, retry.attempt.count(), retry.most.count(), retry.delay.number());
        out.push(ReaderEvent::Activity(Activity::Retrying { why }));
        true
    }

    fn gave_up(&mut self, retry: &Retry<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        if retry.success.truth() == Some(false) {
            self.over = self.last.is_some();
            self.tell_final(out);
        }
        true
    }

    fn tell_final(&mut self, out: &mut Vec<ReaderEvent>) {
        if !self.final_told {
            self.final_told = true;
            out.push(ReaderEvent::Final);
        }
    }
}

/// The text of a message, its blocks as lines.
fn text_of(content: Field<'_>) -> Tail {
    let mut text = Tail::new(KEPT);
    let blocks: Vec<Block<'_>> = content.read().unwrap_or_default();
    for block in blocks.iter().filter(|block| block.kind.is("text")) {
        if text.length() > 0 {
            text.push(b"\n");
        }
        block.text.pour(&mut text);
    }
    text
}

fn failure(last: &Last) -> Option<Failure> {
    let said =
        |class, otherwise: &str| worded(class, if last.error.is_empty() { otherwise } else { &last.error });
    match last.stop.as_str() {
        "error" => {
            let class = class_of_error(&last.error).unwrap_or(Class::Unknown);
            Some(said(class, "it reported an error without a word"))
        }
        "aborted" => Some(said(Class::Aborted, "it was interrupted")),
        "length" => Some(said(Class::Truncated, "the answer was cut off at the model's limit")),
        _ => None,
    }
}
