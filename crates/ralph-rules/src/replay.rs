//! Decides a journal again: after every record the rules are asked, and their answer must be what was written
//! down. Under the same rules number a difference is a bug; under another it is "would decide otherwise today".

use crate::next::{Next, next};
use crate::record::{Decision, Fact, Record, Seen};
use crate::state::State;

/// A place where the rules answer otherwise than the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The record.
    pub seq: u64,
    /// What was written down; `None` where nothing was decided.
    pub written: Option<Decision>,
    /// What the rules answer.
    pub today: Decision,
}

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Decisions compared.
    pub decisions: u64,
    /// Where they differ.
    pub differences: Vec<Difference>,
}

/// Decides the whole journal again. A process that ended between a fact and the answer leaves the answer out;
/// the next record is then `Resumed`.
pub fn replay(records: &[Record]) -> Replayed {
    let mut state = State::default();
    let mut found = Replayed::default();
    for record in records {
        let today = next(&state);
        let written = match &record.fact {
            Fact::Decided(decision) => Some(decision),
            Fact::Seen(_) => None,
        };
        // Limits that a person changed belong to the resumption before them: the rules are asked after both.
        let interrupted = matches!(record.fact, Fact::Seen(Seen::Resumed(_) | Seen::PolicyChanged(_)));
        let agrees = match written {
            Some(written) => *written == today,
            None => interrupted || matches!(today.next, Next::Wait { .. }),
        };
        found.decisions += u64::from(written.is_some());
        if !agrees {
            found.differences.push(Difference { seq: record.seq, written: written.cloned(), today });
        }
        state.apply(record);
    }
    found
}
