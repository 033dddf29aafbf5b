//! A run's journal, read back from the store as records.

use crate::run::stream_of;
use ralph_rules::record::{Envelope, Record, Unreadable};
use ralph_store::{Entry, Store, StoreError};

/// Why a journal could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record is in a shape this version does not know.
    #[error(transparent)]
    Record(#[from] Unreadable),
}

/// All records of a run, in order.
pub fn read(store: &dyn Store, run: &str) -> Result<Vec<Record>, JournalError> {
    store.read(&stream_of(run), 0)?.into_iter().map(|entry| Ok(record_of(entry)?)).collect()
}

/// A stored entry as a record.
pub fn record_of(entry: Entry) -> Result<Record, Unreadable> {
    Record::try_from(envelope_of(entry)?)
}

/// A stored entry as it is printed by `--json`.
pub fn envelope_of(entry: Entry) -> Result<Envelope, Unreadable> {
    let Entry { seq, at, ran, v, kind, body, .. } = entry;
    let body = serde_json::from_str(&body).map_err(|e| Unreadable { seq, why: e.to_string() })?;
    Ok(Envelope { seq, at, ran, v, kind, body })
}
