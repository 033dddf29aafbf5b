//! What the event_source bring to the loop: a fact, and what must be written in the same commit as it (a reservation that
//! may be refused, a settlement that never is, a request that is answered).

use ralph_rules::record::Seen;
use ralph_store::{RequestId, Reserve, Settle};

/// A fact on its way into the journal.
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
