//! A record as scripts read it: one JSON object, lossless, with its position in the journal.

use ralph_rules::record::{Envelope, Record};
use serde_json::{Value, json};

/// A record as scripts read it.
pub fn record_line(record: &Record) -> Value {
    let Envelope { seq, at, ran, v, kind, body } = Envelope::from(record);
    json!({"v": v, "type": "record", "seq": seq, "at": at, "ran": ran, "kind": kind, "body": body})
}
