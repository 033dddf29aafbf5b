//! A run told as `run --json` tells it: records and activities as JSON lines. Activities say which call they are of.

use super::out::{Gone, Out};
use super::story::Teller;
use crate::show::record_line;
use ralph_agents::ReaderEvent;
use ralph_rules::record::{Attempt, Record};
use ralph_rules::state::State;
use serde_json::{Value, json};

/// Prints JSON lines.
pub struct Json {
    out: Out,
}

impl Json {
    /// To stdout.
    pub fn new() -> Json {
        Json { out: Out::new() }
    }

    /// One more line.
    pub fn value(&mut self, value: &Value) -> Result<(), Gone> {
        self.out.line(&value.to_string())
    }
}

impl Teller for Json {
    fn record(&mut self, record: &Record, _state: &State) -> Result<(), Gone> {
        self.value(&record_line(record))
    }

    fn line(&mut self, id: Attempt, _line: &[u8], heard: &[ReaderEvent]) -> Result<(), Gone> {
        for heard in heard {
            if let ReaderEvent::Activity(activity) = heard {
                let (iteration, attempt) = (id.iteration, id.attempt);
                self.value(&json!({"v": 1, "type": "activity", "iteration": iteration, "attempt": attempt,
                    "activity": activity}))?;
            }
        }
        Ok(())
    }

    fn caught_up(&mut self) -> Result<(), Gone> {
        self.out.flush()
    }
}
