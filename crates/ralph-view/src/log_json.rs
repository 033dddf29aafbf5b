//! A run's log as `run --json` prints it: records and activities as JSON lines. Activities name the call they belong to.

use crate::record_json::record_line;
use crate::story::StoryVisitor;
use ralph_agents::ReaderEvent;
use ralph_rules::record::{Attempt, Record};
use ralph_rules::state::State;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes JSON lines.
pub struct LogJson<W> {
    out: W,
}

impl<W: Write> LogJson<W> {
    /// To this writer.
    pub fn new(out: W) -> LogJson<W> {
        LogJson { out }
    }

    /// One more line.
    pub fn value(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }
}

impl<W: Write> StoryVisitor for LogJson<W> {
    fn record(&mut self, record: &Record, _state: &State) -> io::Result<()> {
        self.value(&record_line(record))
    }

    fn transcript_line(&mut self, id: Attempt, _line: &[u8], events: &[ReaderEvent]) -> io::Result<()> {
        for event in events {
            if let ReaderEvent::Activity(activity) = event {
                let (iteration, attempt) = (id.iteration, id.attempt);
                self.value(&json!({"v": 1, "type": "activity", "iteration": iteration, "attempt": attempt,
                    "activity": activity}))?;
            }
        }
        Ok(())
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
