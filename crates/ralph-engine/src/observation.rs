//! What the loop receives: a fact, and what must be written in the same commit (a reservation, which may be refused; a
//! settlement, which may not; requests that are thereby answered).

use ralph_rules::record::Seen;
use ralph_store::{RequestId, Reserve, Settle};

/// A fact that is to be written to the journal.
#[derive(Debug)]
pub struct Observation {
    /// The fact.
    pub seen: Seen,
    /// Money and slots to reserve with it; if the ledger refuses, the fact becomes `Refused`.
    pub reserve: Option<Reserve>,
    /// Money to settle with it.
    pub settle: Option<Settle>,
    /// The requests it answers.
    pub done: Vec<RequestId>,
}

impl From<Seen> for Observation {
    fn from(seen: Seen) -> Observation {
        Observation { seen, reserve: None, settle: None, done: Vec::new() }
    }
}
