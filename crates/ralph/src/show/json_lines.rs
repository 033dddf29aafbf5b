//! `--json`: records (lossless, with their position) and activities as JSON lines on stdout. A closed stdout never ends
//! a run.

use crate::print::RunOutput;
use ralph_agents::Activity;
use ralph_engine::watch::Watcher;
use ralph_rules::record::Record;
use ralph_view::record_json::record_line;
use serde_json::{Value, json};

/// Prints what one run does as JSON lines.
pub struct JsonLines(RunOutput);

impl JsonLines {
    /// Prints to the stdout of `out`.
    pub fn new(out: RunOutput) -> JsonLines {
        JsonLines(out)
    }

    fn line(&self, value: &Value) {
        self.0.stdout(&format!("{value}\n"));
    }
}

impl Watcher for JsonLines {
    fn record(&mut self, record: &Record) {
        self.line(&record_line(record));
    }

    fn activity(&mut self, activity: &Activity) {
        self.line(&json!({"v": 1, "type": "activity", "activity": activity}));
    }
}
