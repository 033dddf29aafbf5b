//! What an agent's adapter has to know of its own events; everything else about reading is shared. `output.rs`
//! finds the events in the output, a `Dialect` understands them, `events.rs` makes a reader of the two.

use crate::seam::{Exit, Failure, ReaderEvent, Reply};
use crate::terms::Terms;
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

/// How one agent's events read. Keeps little, whatever comes.
pub trait Dialect: Debug + Default + Send + 'static {
    /// How the call is accounted for; told before the first event.
    fn on(&mut self, _terms: Terms) {}

    /// One JSON object as it was printed.
    fn object(&mut self, text: &str, out: &mut Vec<ReaderEvent>) -> LineKind;

    /// The whole output as one object that is no event: the reply of another output format. Says whether it was.
    fn envelope(&mut self, _document: &str, _out: &mut Vec<ReaderEvent>) -> bool {
        false
    }

    /// A line that is no event; perhaps one that was too long for the hands and cut.
    fn cut_short(&mut self, _line: &[u8], _out: &mut Vec<ReaderEvent>) {}

    /// What stood on an event's line before it: a program's chatter.
    fn beside(&mut self, _chatter: &[u8]) {}

    /// The agent's own words for a failure, where there was no event at all: in its text, or at the end of stderr.
    fn complaint(_text: &str, _stderr: &str) -> Option<Failure> {
        None
    }

    /// A file that the agent wrote (`Launch::reports`), read after the end.
    fn report(&mut self, _name: &str, _bytes: &[u8]) {}

    /// Whether something was heard that no other agent prints, where another speaks the same dialect.
    fn accent(&self) -> bool {
        false
    }

    /// Why output without any event failed, where the exit code or stderr say it in the agent's own way.
    fn without_events(_ended: &Ended<'_>) -> Option<Failure> {
        None
    }

    /// What it all came to. Only asked where an event was heard; `garbled` and `format` are filled in later.
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
