//! `--json`: records (lossless, with their position) and activities as JSON lines on stdout. A closed stdout never ends
//! a run.

use crate::print::print;
use ralph_agents::Activity;
use ralph_engine::watch::Watcher;
use ralph_rules::record::Record;
use ralph_view::record_json::record_line;
use serde_json::json;

/// Prints what it sees as JSON lines.
pub struct Json;

impl Watcher for Json {
    fn record(&mut self, record: &Record) {
        print(&(record_line(record).to_string() + "\n"));
    }

    fn activity(&mut self, activity: &Activity) {
        print(&(json!({"v": 1, "type": "activity", "activity": activity}).to_string() + "\n"));
    }
}
