//! Replays a journal: the rules decide again after every record, and the result must equal the recorded decision. Under
//! the same `RULES` number a difference is a bug; under another one, today's rules decide differently.

use crate::next::{Next, next};
use crate::record::{Decision, Fact, Record, Request, Seen};
use crate::state::State;

/// A decision that differs from the recorded one.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The record.
    pub seq: u64,
    /// The recorded decision; none if nothing was decided.
    pub written: Option<Decision>,
    /// The decision of the current rules.
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

/// Replays a whole journal. If a process ended between a fact and its decision, the decision is missing and the next
/// record is `Resumed`.
pub fn replay(records: &[Record]) -> Replayed {
    let mut state = State::default();
    let mut found = Replayed::default();
    let mut resuming = false;
    for record in records {
        let today = next(&state);
        let written = match &record.fact {
            Fact::Decided(decision) => Some(decision),
            Fact::Seen(_) => None,
        };
        // Found calls, changed limits, hints, an acceptance and a stop that comes with it belong to the resumption before them: the rules decide
        // after all of them.
        resuming = match &record.fact {
            Fact::Seen(Seen::Resumed(_) | Seen::CallsFound(_) | Seen::PolicyChanged(_)) => true,
            Fact::Seen(Seen::Asked(asked)) => match asked.request {
                Request::Accept => true,
                Request::Hint { .. } | Request::Stop { .. } => resuming,
                _ => false,
            },
            _ => false,
        };
        let agrees = match written {
            Some(written) => *written == today,
            None => resuming || matches!(today.next, Next::Wait { .. }),
        };
        found.decisions += u64::from(written.is_some());
        if !agrees {
            found.differences.push(Difference { seq: record.seq, written: written.cloned(), today });
        }
        state.apply(record);
    }
    found
}
