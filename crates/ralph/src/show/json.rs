//! `--json`: records (lossless, with their position) and activities as JSON lines on stdout. A closed stdout never ends
//! a run.

use crate::print::print;
use ralph_agents::Activity;
use ralph_engine::watch::Watcher;
use ralph_rules::record::{Envelope, Record};
use serde_json::{Value, json};

/// Prints what it sees as JSON lines.
pub struct Json;

/// A record as scripts read it.
pub fn record_line(record: &Record) -> Value {
    let Envelope { seq, at, ran, v, kind, body } = Envelope::from(record);
    json!({"v": v, "type": "record", "seq": seq, "at": at, "ran": ran, "kind": kind, "body": body})
}

impl Watcher for Json {
    fn record(&mut self, record: &Record) {
        print(&(record_line(record).to_string() + "\n"));
    }

    fn activity(&mut self, activity: &Activity) {
        print(&(json!({"v": 1, "type": "activity", "activity": activity}).to_string() + "\n"));
    }
}
