//! What an agent's adapter has to know of its own events; everything else about reading is shared. `output.rs` finds
//! the events in the output, a `Dialect` understands them, `accumulator.rs` keeps what they say, and `event_reader.rs`
//! makes a reader of it all.

use crate::accumulator::Accumulator;
use crate::call::Exit;
use crate::call_pricing::CallPricing;
use crate::reply::{Failure, Reply};
use std::fmt::Debug;

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// An event of the known stream.
    Event,
    /// JSON, but no event that is known: a newer version may print such.
    Unknown,
    /// No event.
    NotAnEvent,
}

impl From<bool> for LineKind {
    fn from(known: bool) -> LineKind {
        if known { LineKind::Event } else { LineKind::Unknown }
    }
}

impl From<Option<bool>> for LineKind {
    fn from(read: Option<bool>) -> LineKind {
        read.map_or(LineKind::NotAnEvent, LineKind::from)
    }
}

/// How one agent's events read. Keeps little, whatever comes.
pub trait Dialect: Debug + Default + Send + 'static {
    /// What the events have said so far.
    fn call(&mut self) -> &mut Accumulator;

    /// Sets how usage is priced, before the first event.
    fn price_with(&mut self, pricing: CallPricing) {
        self.call().tally.price_with(pricing);
    }

    /// Reads one JSON object as it was printed.
    fn object(&mut self, text: &str) -> LineKind;

    /// Reads the whole output as one object that is no event: the reply of another output format. Says whether it was.
    fn document(&mut self, _document: &str) -> bool {
        false
    }

    /// Reads a line that is no event; perhaps an event that was too long and was cut.
    fn cut_line(&mut self, _line: &[u8]) {}

    /// Reads what came before an event on the same line.
    fn text_before_event(&mut self, _text: &[u8]) {}

    /// The agent's own wording of a failure where there was no event at all: in its text, or at the end of stderr.
    fn failure_in_text(_text: &str, _stderr: &str) -> Option<Failure> {
        None
    }

    /// Reads a file that the agent wrote (`Launch::reports`), after the end.
    fn report(&mut self, _name: &str, _bytes: &[u8]) {}

    /// Whether something was read that no other agent prints, where another uses the same format.
    fn is_distinctive(&self) -> bool {
        false
    }

    /// Why output without any event failed, where the exit code or stderr say it in the agent's own way.
    fn failure_without_events(_ended: &Ended<'_>) -> Option<Failure> {
        None
    }

    /// The result of the call. Only asked where an event was read; `garbled` and `format` are filled in later.
    fn reply(self, ended: &Ended<'_>) -> Reply;
}

/// How the call ended, beside its events.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// How the program ended.
    pub exit: Exit,
    /// The end of what it wrote to stderr, cleaned.
    pub stderr: &'a str,
}

impl Ended<'_> {
    /// Whether the program was ended by somebody, not by itself.
    pub fn was_killed(&self) -> bool {
        self.exit.was_killed()
    }

    /// The last line on stderr that is not blank.
    pub fn last_stderr_line(&self) -> Option<&str> {
        self.stderr.lines().rev().find(|line| !line.trim().is_empty())
    }
}
