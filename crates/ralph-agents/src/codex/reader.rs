//! Everything heard in one call of Codex, event by event, until its turn is completed or failed: only those two are
//! an end. `event.rs` has the lines' shapes, `fault.rs` the meaning of its errors, `legacy.rs` the events of early
//! versions.

use crate::codex::event::{Fault, Item, Line, usage};
use crate::codex::fault::{failure, last_words, tries_again, waits_for_network};
use crate::codex::legacy;
use crate::codex::tool::{Command, command, shell, what};
use crate::dialect::{Dialect, Ended, LineKind};
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::plain::{KEPT, Tail, short};
use crate::seam::{Activity, Covers, Denial, Exit, Failure, ReaderEvent, Reply};
use crate::tally::Tally;
use crate::terms::Terms;
use ralph_rules::failure::Class;
use ralph_rules::money::Usage;
use std::borrow::Cow;
use std::collections::VecDeque;

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;
/// How much of an error is looked at.
const WORDS: usize = 4096;
/// Tools remembered as running, refusals remembered: more is a confused stream.
const MOST: usize = 64;
/// After so many tries to reach the network in a row it is ended: it would go on forever. By its own steps this is
/// half a minute, longer than most interruptions; then ralph waits, and says so.
const TRIES: u32 = 3;

/// How the lines about items begin.
const STARTED: &str = r#"{"type":"item.started","item":"#;
const COMPLETED: &str = r#"{"type":"item.completed","item":"#;

/// What was heard so far.
#[derive(Debug, Default)]
pub struct CodexReader {
    /// Conversation id.
    pub session: Option<String>,
    /// The model, where it says.
    pub model: Option<String>,
    /// The last message of the agent.
    text: Option<Tail>,
    end: Option<Result<(), Failure>>,
    told_end: bool,
    tally: Tally,
    /// The conversation's tokens as last told; they only grow.
    used: Usage,
    denials: Vec<Denial>,
    running: VecDeque<String>,
    /// The last error, as long as nothing went on after it.
    trouble: String,
    tries: u32,
    /// A tool was used since the last message.
    acted: bool,
    /// Early versions only: after the last message nothing came but the count of tokens.
    rests: bool,
}

impl Dialect for CodexReader {
    fn on(&mut self, terms: Terms) {
        self.tally.on(terms);
    }

    fn object(&mut self, text: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        if let Some(heed) = self.quick(text, out).or_else(|| legacy::object(self, text, out)) {
            return heed;
        }
        let Some(line) = read::<Line<'_>>(text) else { return LineKind::NotAnEvent };
        let kind = first_kind(text).map(Cow::Borrowed).or_else(|| line.kind.text());
        let known = match kind.as_deref() {
            Some("thread.started" | "session.created") => self.began(line.thread_id, out),
            Some("turn.started") => self.went_on(),
            Some("turn.completed") => self.completed(&line, out),
            Some("turn.failed") => self.failed(&line, out),
            Some("item.started") => line.item.read().is_some_and(|item| self.item(&item, false, out)),
            Some("item.completed") => line.item.read().is_some_and(|item| self.item(&item, true, out)),
            Some("item.updated") => line.item.0.is_some(),
            Some("error") => self.error(line.message, out),
            _ => false,
        };
        if known { LineKind::Event } else { LineKind::Unknown }
    }

    /// A line that is no event may be a tool's output that was too long for the hands and cut: the tool has ended.
    fn cut_short(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        let head = line.get(..line.len().min(512)).unwrap_or(line);
        if head.starts_with(br#"{"type":"item.completed""#) && self.running.pop_back().is_some() {
            out.push(ReaderEvent::Activity(Activity::ToolEnded { failed: false }));
        }
    }

    fn complaint(_text: &str, stderr: &str) -> Option<Failure> {
        last_words(stderr)
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let reply = Reply {
            session: self.session,
            model: self.model,
            denials: self.denials,
            usage: self.used,
            covers: Covers { usage: self.tally.resumed(), cost: false },
            ..Reply::default()
        };
        let left = matches!(ended.exit, Exit { code: None | Some(0), signal: None, by_us: false, .. });
        let end = self.end.or((self.rests && left).then_some(Ok(())));
        match end {
            Some(Ok(())) => {
                let text = self.text.unwrap_or_else(|| Tail::new(KEPT));
                let text_bytes = text.length();
                Reply { text: text.text().into_owned(), text_bytes, finished: true, ..reply }
            }
            Some(Err(failure)) => Reply { finished: true, failure: Some(failure), ..reply },
            None => {
                let told = Some(failure(&self.trouble)).filter(|f| f.class != Class::Unknown);
                Reply { failure: Some(told.unwrap_or_else(|| aborted(ended.exit))), ..reply }
            }
        }
    }
}

impl CodexReader {
    /// The lines that come most, written as they mostly are: the item is taken out of its frame, and of a command
    /// that ended only the two ends are looked at, whatever it printed.
    fn quick(&mut self, text: &str, out: &mut Vec<ReaderEvent>) -> Option<LineKind> {
        let (item, done) = match text.strip_prefix(COMPLETED) {
            Some(item) => (item.strip_suffix('}')?, true),
            None => (text.strip_prefix(STARTED)?.strip_suffix('}')?, false),
        };
        match command(item) {
            Some(Command::Started { id, command }) if !done => {
                self.went_on();
                self.tool(id, shell(command), out);
            }
            Some(Command::Ended { id, failed })
                if done && self.running.iter().any(|running| running == id) =>
            {
                self.went_on();
                self.running.retain(|running| running != id);
                out.push(ReaderEvent::Activity(Activity::ToolEnded { failed }));
            }
            _ => {
                let item = read::<Item<'_>>(item)?;
                return self.item(&item, done, out).then_some(LineKind::Event);
            }
        }
        Some(LineKind::Event)
    }

    /// It introduced itself.
    pub fn began(&mut self, session: Field<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(session) = session.filled() else { return false };
        self.session = Some(short(&session, 200));
        let (session, model) = (self.session.clone(), self.model.clone());
        out.push(ReaderEvent::Activity(Activity::Began { session, model }));
        true
    }

    /// Something happened: earlier trouble is over.
    pub fn went_on(&mut self) -> bool {
        self.rests = false;
        self.trouble.clear();
        self.tries = 0;
        true
    }

    /// The agent said something; the last of it is the final message.
    pub fn said(&mut self, text: Field<'_>, out: &mut Vec<ReaderEvent>) {
        let mut tail = Tail::new(KEPT);
        text.pour(&mut tail);
        self.acted = false;
        self.text = Some(tail);
        let shown = text.head(SAID * 2).unwrap_or_default();
        if !shown.trim().is_empty() {
            out.push(ReaderEvent::Activity(Activity::Said { text: short(&shown, SAID) }));
        }
    }

    /// A tool starts.
    pub fn tool(&mut self, id: &str, tool: Activity, out: &mut Vec<ReaderEvent>) {
        self.acted = true;
        if self.running.len() >= MOST {
            self.running.pop_front();
        }
        self.running.push_back(short(id, 200));
        out.push(ReaderEvent::Activity(tool));
    }

    /// A tool ended.
    pub fn tool_ended(&mut self, id: &str, failed: bool, out: &mut Vec<ReaderEvent>) {
        self.running.retain(|running| running != id);
        out.push(ReaderEvent::Activity(Activity::ToolEnded { failed }));
    }

    /// The conversation's tokens so far.
    pub fn uses(&mut self, told: Option<Usage>) {
        let told = told.unwrap_or_default();
        self.used = Usage {
            input: self.used.input.max(told.input),
            output: self.used.output.max(told.output),
            cache_read: self.used.cache_read.max(told.cache_read),
            cache_write: self.used.cache_write.max(told.cache_write),
        };
    }

    /// An early version counted the conversation's tokens: what it said before was perhaps the end.
    pub fn counted(&mut self, told: Option<Usage>) {
        self.uses(told);
        self.rests = self.text.is_some() && !self.acted;
    }

    /// A message about a request that failed; mostly it tries again.
    pub fn fault(&mut self, message: Field<'_>, out: &mut Vec<ReaderEvent>) {
        let message = message.head(WORDS).unwrap_or_default();
        if tries_again(&message) {
            out.push(ReaderEvent::Activity(Activity::Retrying { why: short(&message, 300) }));
        }
        self.rests = false;
        self.tries = if waits_for_network(&message) { self.tries + 1 } else { 0 };
        self.trouble = message.into_owned();
        if self.tries >= TRIES {
            self.tell_end(out);
        }
    }

    /// The end: what was used, and that it may exit now.
    pub fn ends(&mut self, end: Result<(), Failure>, out: &mut Vec<ReaderEvent>) {
        let before = self.tally.usage();
        let more = Usage {
            input: self.used.input.saturating_sub(before.input),
            output: self.used.output.saturating_sub(before.output),
            cache_read: self.used.cache_read.saturating_sub(before.cache_read),
            cache_write: self.used.cache_write.saturating_sub(before.cache_write),
        };
        out.extend(self.tally.sum(self.model.as_deref(), more).map(ReaderEvent::Spent));
        self.end = Some(end);
        self.tell_end(out);
    }

    fn tell_end(&mut self, out: &mut Vec<ReaderEvent>) {
        if !std::mem::replace(&mut self.told_end, true) {
            out.push(ReaderEvent::Final);
        }
    }

    fn completed(&mut self, line: &Line<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        self.uses(usage(line.usage));
        self.ends(Ok(()), out);
        true
    }

    fn failed(&mut self, line: &Line<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let inner = line.error.read::<Fault<'_>>().unwrap_or_default().message;
        let words = [inner, line.error].into_iter().find_map(|f| f.head(WORDS).filter(|w| !w.is_empty()));
        let words = words.map_or_else(|| self.trouble.clone(), Cow::into_owned);
        self.uses(usage(line.usage));
        self.ends(Err(failure(&words)), out);
        true
    }

    fn error(&mut self, message: Field<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        if message.text().is_none() {
            return false;
        }
        self.fault(message, out);
        // Other agents print such a line too; it is this one's where it has introduced itself.
        self.session.is_some()
    }

    fn item(&mut self, item: &Item<'_>, done: bool, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(kind) = item.kind.text() else { return false };
        // An error among the items is a warning; the turn goes on.
        if kind == "error" {
            return true;
        }
        self.went_on();
        match kind.as_ref() {
            "agent_message" | "assistant_message" if done => self.said(item.text, out),
            "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" | "web_search" => {
                self.used_tool(&kind, item, done, out);
            }
            _ => {}
        }
        true
    }

    fn used_tool(&mut self, kind: &str, item: &Item<'_>, done: bool, out: &mut Vec<ReaderEvent>) {
        let id = item.id.head(200).unwrap_or_default();
        // Some are only told of when they are done.
        if !self.running.iter().any(|running| *running == id) {
            self.tool(&id, what(kind, item), out);
        }
        if !done {
            return;
        }
        if item.status.is("declined")
            && self.denials.len() < MOST
            && let Activity::Tool { name, detail, .. } = what(kind, item)
        {
            self.denials.push(Denial { tool: name, detail });
        }
        let failed = item.status.is("failed") || item.status.is("declined");
        self.tool_ended(&id, failed, out);
    }
}
