//! Codex's event stream, until its turn is completed or failed: only those two are an end. `event.rs` has the lines'
//! shapes, `failure.rs` the meaning of its errors, `legacy.rs` the events of early versions.

use crate::accumulator::Accumulator;
use crate::call::Exit;
use crate::codex::event::{Item, Line, TurnError, usage};
use crate::codex::failure::{failure, last_words, tries_again, waits_for_network};
use crate::codex::legacy;
use crate::codex::tool::{Command, command, describe, shell};
use crate::dialect::{Dialect, Ended, LineKind};
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::reader::Activity;
use crate::reply::{Covers, Failure, Reply};
use crate::text::short;
use ralph_rules::failure::Class;
use ralph_rules::money::Usage;
use std::borrow::Cow;

/// How much of an error is looked at.
const WORDS: usize = 4096;
/// After so many tries to reach the network in a row it is ended: it would go on forever. By its own steps this is
/// half a minute, longer than most interruptions; then ralph waits, and says so.
const TRIES: u32 = 3;

/// How the lines about items begin.
const STARTED: &str = r#"{"type":"item.started","item":"#;
const COMPLETED: &str = r#"{"type":"item.completed","item":"#;

/// What was read so far; the accumulator's text is the agent's last message.
#[derive(Debug, Default)]
pub struct CodexReader {
    /// What the events have said.
    pub call: Accumulator,
    end: Option<Result<(), Failure>>,
    /// The conversation's tokens as last told; they only grow.
    used: Usage,
    /// The last error, as long as nothing followed it.
    error: String,
    tries: u32,
    /// There was a message, and no tool was used since.
    answered: bool,
    /// Early versions only: after the last message nothing came but the count of tokens.
    rests: bool,
}

impl Dialect for CodexReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.call
    }

    fn object(&mut self, text: &str) -> LineKind {
        if let Some(kind) = self.quick(text).or_else(|| legacy::object(self, text)) {
            return kind;
        }
        let Some(line) = read::<Line<'_>>(text) else { return LineKind::NotAnEvent };
        let kind = first_kind(text).map(Cow::Borrowed).or_else(|| line.kind.text());
        let known = match kind.as_deref() {
            Some("thread.started" | "session.created") => self.began(line.thread_id),
            Some("turn.started") => self.progressed(),
            Some("turn.completed") => {
                self.uses(usage(line.usage));
                self.ends(Ok(()))
            }
            Some("turn.failed") => self.failed(&line),
            Some("item.started") => line.item.read().is_some_and(|item| self.item(&item, false)),
            Some("item.completed") => line.item.read().is_some_and(|item| self.item(&item, true)),
            Some("item.updated") => line.item.0.is_some(),
            // Other agents print such a line too; it is this one's where it has introduced itself.
            Some("error") if line.message.text().is_some() => {
                self.request_failed(line.message);
                self.call.session.is_some()
            }
            _ => false,
        };
        known.into()
    }

    /// A line that is no event may be a tool's output that was too long and cut: the tool has ended.
    fn cut_line(&mut self, line: &[u8]) {
        if line.starts_with(br#"{"type":"item.completed""#) && self.call.tools.end_latest() {
            self.call.tool_end_cut();
        }
    }

    fn failure_in_text(_text: &str, stderr: &str) -> Option<Failure> {
        last_words(stderr)
    }

    fn reply(mut self, ended: &Ended<'_>) -> Reply {
        let covers = Covers { usage: self.call.tally.resumed(), cost: false };
        let exited = matches!(ended.exit, Exit { code: None | Some(0), signal: None, by_us: false, .. });
        let end = self.end.or((self.rests && exited).then_some(Ok(())));
        let finished = end.is_some();
        let failure = match end {
            Some(end) => end.err(),
            None => {
                let told = Some(failure(&self.error)).filter(|f| f.class != Class::Unknown);
                Some(told.unwrap_or_else(|| aborted(ended.exit)))
            }
        };
        if failure.is_some() {
            self.call.text.clear();
        }
        Reply { usage: self.used, covers, ..self.call.reply(finished, failure) }
    }
}

impl CodexReader {
    /// The lines that come most, written as they mostly are: the item is taken out of its frame, and of a command
    /// that ended only the two ends are looked at, whatever it printed.
    fn quick(&mut self, text: &str) -> Option<LineKind> {
        let (item, done) = match text.strip_prefix(COMPLETED) {
            Some(item) => (item.strip_suffix('}')?, true),
            None => (text.strip_prefix(STARTED)?.strip_suffix('}')?, false),
        };
        match command(item) {
            Some(Command::Started { id, command }) if !done => {
                self.progressed();
                self.tool(id, shell(command));
            }
            Some(Command::Ended { id, failed }) if done && self.call.tools.is_running(id) => {
                self.progressed();
                self.tool_ended(id, failed, false);
            }
            _ => {
                let item = read::<Item<'_>>(item)?;
                return self.item(&item, done).then_some(LineKind::Event);
            }
        }
        Some(LineKind::Event)
    }

    /// It introduced itself.
    pub fn began(&mut self, session: Field<'_>) -> bool {
        let named = self.call.set_session(session);
        if named {
            self.call.began();
        }
        named
    }

    /// Something happened: an earlier error is over.
    pub fn progressed(&mut self) -> bool {
        self.rests = false;
        self.error.clear();
        self.tries = 0;
        true
    }

    /// The agent said something; the last of it is the final message.
    pub fn said(&mut self, text: Field<'_>) {
        self.answered = true;
        self.call.replace_text(text);
        self.call.show_field(text);
    }

    /// A tool starts.
    pub fn tool(&mut self, id: &str, tool: Activity) {
        self.answered = false;
        let started = self.call.tools.start_as(id, tool);
        self.call.activity(started);
    }

    /// A tool ended.
    pub fn tool_ended(&mut self, id: &str, failed: bool, refused: bool) {
        let ended = self.call.tools.end(id, failed, refused);
        self.call.activity(ended);
    }

    /// The conversation's tokens so far.
    fn uses(&mut self, told: Option<Usage>) {
        self.used = each(&self.used, &told.unwrap_or_default(), u64::max);
    }

    /// An early version counted the conversation's tokens: what it said before was perhaps the end.
    pub fn counted(&mut self, told: Option<Usage>) {
        self.uses(told);
        self.rests = self.answered;
    }

    /// A message about a request that failed; mostly it tries again.
    pub fn request_failed(&mut self, message: Field<'_>) {
        let message = message.head(WORDS).unwrap_or_default();
        if tries_again(&message) {
            self.call.retrying(short(&message, 300));
        }
        self.rests = false;
        self.tries = if waits_for_network(&message) { self.tries + 1 } else { 0 };
        self.error = message.into_owned();
        if self.tries >= TRIES {
            self.call.finish();
        }
    }

    /// The end: what was used, and that it may exit now.
    pub fn ends(&mut self, end: Result<(), Failure>) -> bool {
        let more = each(&self.used, &self.call.tally.usage(), u64::saturating_sub);
        self.call.spend_sum(more);
        self.end = Some(end);
        self.call.finish();
        true
    }

    fn failed(&mut self, line: &Line<'_>) -> bool {
        let inner = line.error.read::<TurnError<'_>>().unwrap_or_default().message;
        let words = [inner, line.error].into_iter().find_map(|f| f.head(WORDS).filter(|w| !w.is_empty()));
        let words = words.map_or_else(|| self.error.clone(), Cow::into_owned);
        self.uses(usage(line.usage));
        self.ends(Err(failure(&words)))
    }

    fn item(&mut self, item: &Item<'_>, done: bool) -> bool {
        let Some(kind) = item.kind.text() else { return false };
        // An error among the items is a warning; the turn continues.
        if kind == "error" {
            return true;
        }
        self.progressed();
        match kind.as_ref() {
            "agent_message" | "assistant_message" if done => self.said(item.text),
            "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" | "web_search" => {
                self.used_tool(&kind, item, done);
            }
            _ => {}
        }
        true
    }

    fn used_tool(&mut self, kind: &str, item: &Item<'_>, done: bool) {
        let id = item.id.head(200).unwrap_or_default();
        // Some are only told of when they are done.
        if !self.call.tools.is_running(&id) {
            self.tool(&id, describe(kind, item));
        }
        if done {
            let declined = item.status.is("declined");
            self.tool_ended(&id, declined || item.status.is("failed"), declined);
        }
    }
}

/// Two counts put together, kind by kind.
fn each(a: &Usage, b: &Usage, with: fn(u64, u64) -> u64) -> Usage {
    Usage {
        input: with(a.input, b.input),
        output: with(a.output, b.output),
        cache_read: with(a.cache_read, b.cache_read),
        cache_write: with(a.cache_write, b.cache_write),
    }
}
