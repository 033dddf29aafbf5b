//! One durable commit: records, money, answered requests, read-model rows and memos, all or nothing.
//! Plain data; `ledger.rs` defines what the money part means.

use crate::entry::Position;
use crate::model::{AccountRow, IterationRow, RunRow};
use crate::outbox::OutboxRow;
use serde::{Deserialize, Serialize};

/// Everything that one commit writes. Order of effect: records, settlements, the reservation, the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Records to append.
    pub put: Vec<Put>,
    /// Money and slots to reserve; the whole batch fails when a limit refuses.
    pub reserve: Option<Reserve>,
    /// Reservations that have become real spend; never refused, and booked before `reserve` is checked.
    pub settle: Vec<Settle>,
    /// Requests of the inbox that were answered.
    pub done: Vec<RequestId>,
    /// Rows of the read model, inserted or replaced.
    pub rows: Vec<Row>,
    /// Small values to remember (`Some`) or forget (`None`).
    pub memo: Vec<(String, Option<String>)>,
    /// Notes to deliver; those that are there already stay as they are.
    pub outbox: Vec<OutboxRow>,
    /// The clock as the caller saw it, UTC milliseconds.
    pub now: i64,
}

impl Batch {
    /// True when committing it would write nothing.
    pub fn is_empty(&self) -> bool {
        self.put.is_empty()
            && self.reserve.is_none()
            && self.settle.is_empty()
            && self.done.is_empty()
            && self.rows.is_empty()
            && self.memo.is_empty()
            && self.outbox.is_empty()
    }
}

/// One record to append to a stream whose head the caller has seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Put {
    /// The stream to append to.
    pub stream: String,
    /// Head of the stream as the caller knows it (0: empty). A later `Put` of the same batch counts on the earlier ones.
    pub expect: u64,
    /// When, UTC milliseconds.
    pub at: i64,
    /// Milliseconds the run had been active.
    pub ran: i64,
    /// Version of the body's shape.
    pub v: u32,
    /// What kind of record the body holds.
    pub kind: String,
    /// The record as JSON text.
    pub body: String,
}

/// A claim on money and slots before a call. The same id again is the same grant; a higher `to` extends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserve {
    /// Names the reservation, such as `run/iteration/attempt`.
    pub id: String,
    /// Micro-dollars held in all, not the difference.
    pub to: i64,
    /// Every meter to charge; all of them grant, or none is touched.
    pub against: Vec<Limit>,
}

/// A meter to charge, with the cap it may not pass (`None`: only count).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// A sum of money, such as a run's or a day's.
    Total {
        /// The meter's name.
        meter: String,
        /// Micro-dollars that settled and held together may reach.
        cap: Option<i64>,
    },
    /// A sliding window, such as calls or tokens in any hour.
    Window {
        /// The meter's name; several spans may share one.
        meter: String,
        /// Length of the window in milliseconds.
        span: i64,
        /// What any stretch of `span` may hold.
        cap: Option<i64>,
        /// How much this reservation adds.
        add: i64,
    },
}

/// What a reservation really cost. Never refused; the first settlement of an id stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settle {
    /// The reservation's id.
    pub id: String,
    /// Micro-dollars really spent.
    pub actual: i64,
    /// Money meters to book it on besides those that were reserved; needed when nothing was.
    pub meters: Vec<String>,
    /// Real figures for sliding windows; those not named keep what was reserved.
    pub used: Vec<Used>,
}

/// The real figure for one sliding window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Used {
    /// The window's meter.
    pub meter: String,
    /// What the call really took.
    pub amount: i64,
}

/// A row of the read model.
#[derive(Debug, Clone, PartialEq)]
pub enum Row {
    /// One run, replaced by id.
    Run(Box<RunRow>),
    /// One attempt of one iteration, replaced by run, number and attempt.
    Iteration(IterationRow),
    /// One run's account, replaced by run.
    Account(AccountRow),
}

/// Names one row of the inbox; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub i64);

/// What a person asked of a run, waiting for the run's own writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Hand it back in [`Batch::done`].
    pub id: RequestId,
    /// The run it is for.
    pub run: String,
    /// When it was asked, UTC milliseconds.
    pub at: i64,
    /// What was asked, as JSON text.
    pub body: String,
}

/// What a commit gave back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// Position of the last record appended, if any was.
    pub position: Option<Position>,
    /// What is held now under the reservation of this batch.
    pub grant: Option<Grant>,
}

/// A reservation as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// Micro-dollars held (or once held, when settled).
    pub to: i64,
    /// It was settled before: nothing is held any more and nothing was added.
    pub settled: bool,
}
