//! Notes about a run for people who are not watching. The engine only sees that they are written in the commit of the
//! record they are about; what they say and who gets them is the business of whoever starts the run.

use ralph_rules::record::Record;
use ralph_rules::state::State;
use ralph_store::OutboxRow;

/// Makes the notes that a run leaves in the outbox.
pub trait NoteMaker: Send + Sync {
    /// The rows for a record. `state` has every fact up to it applied, and no decision that follows it.
    fn rows(&self, state: &State, record: &Record) -> Vec<OutboxRow>;
}
