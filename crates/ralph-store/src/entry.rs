//! One line of the journal, and how readers walk over many of them.
//! Written by `batch.rs`, linked by `chain.rs`.

use crate::chain::{Chain, Link};
use crate::error::StoreError;
use serde::{Deserialize, Serialize};

/// Where a record stands among all records of the store: grows with every commit, never reused, 0 is before all.
pub type Position = u64;

/// One record of one stream; the body is JSON text that this crate never reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The stream it belongs to, such as `run/<id>`.
    pub stream: String,
    /// Its number in the stream, from 1, without holes.
    pub seq: u64,
    /// When it was written, UTC milliseconds.
    pub at: i64,
    /// Milliseconds the run had been active.
    pub ran: i64,
    /// Version of the body's shape.
    pub v: u32,
    /// What kind of record the body holds.
    pub kind: String,
    /// The record itself, as JSON text.
    pub body: String,
}

/// A record as it lies in the store, its checksum not compared yet: reading is one thread's work, comparing can be
/// another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UncheckedEntry<'a> {
    /// The stream it belongs to.
    pub stream: &'a str,
    /// Its number in the stream.
    pub seq: u64,
    /// When it was written, UTC milliseconds.
    pub at: i64,
    /// Milliseconds the run had been active.
    pub ran: i64,
    /// Version of the body's shape.
    pub v: u32,
    /// What kind of record the body holds.
    pub kind: &'a str,
    /// The record itself, as JSON text.
    pub body: &'a str,
    /// The links before and after it, as they were written; none where the store keeps none.
    pub links: Option<(Chain, Chain)>,
}

impl UncheckedEntry<'_> {
    /// Compares its checksum with its content and the record before it.
    pub fn check(&self) -> Result<(), StoreError> {
        let UncheckedEntry { stream, seq, at, ran, v, kind, body, links } = *self;
        let link = Link { seq, at, ran, v, kind, body };
        if links.is_none_or(|(before, after)| before.link(&link) == after) {
            return Ok(());
        }
        let why = "its checksum does not match its content and the preceding record".to_owned();
        Err(StoreError::Corrupt { stream: stream.to_owned(), seq, why })
    }

    /// The record, if its checksum is right.
    pub(crate) fn checked(&self) -> Result<Entry, StoreError> {
        self.check()?;
        let UncheckedEntry { stream, seq, at, ran, v, kind, body, .. } = *self;
        Ok(Entry { stream: stream.into(), seq, at, ran, v, kind: kind.into(), body: body.into() })
    }
}

impl<'a> From<&'a Entry> for UncheckedEntry<'a> {
    fn from(entry: &'a Entry) -> UncheckedEntry<'a> {
        let Entry { stream, seq, at, ran, v, kind, body } = entry;
        let (seq, at, ran, v) = (*seq, *at, *ran, *v);
        UncheckedEntry { stream, seq, at, ran, v, kind, body, links: None }
    }
}

/// The newest record of a stream: its number and the checksum over everything up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Number of the newest record; the next `Put` expects it.
    pub seq: u64,
    /// The chain's last value, for receipts.
    pub chain: Chain,
}

/// What [`crate::Store::since`] found, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Records after the position asked for, in commit order.
    pub entries: Vec<(Position, Entry)>,
    /// Ask from here next time: nothing at or before it will appear later.
    pub next: Position,
}
