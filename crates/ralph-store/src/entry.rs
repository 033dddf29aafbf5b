//! One line of the journal, and how readers walk over many of them.
//! Written by `batch.rs`, linked by `chain.rs`.

use crate::chain::Chain;
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
