//! What agents printed, byte by byte. On a terminal what would move its cursor becomes visible instead.

use super::out::{Gone, Out};
use super::story::Teller;
use crate::plain::plain_lines;
use ralph_agents::ReaderEvent;
use ralph_rules::record::{Attempt, Record};
use ralph_rules::state::State;

/// Prints transcripts as they are.
pub struct Raw {
    out: Out,
    terminal: bool,
}

impl Raw {
    /// To stdout, which may be a terminal.
    pub fn new(terminal: bool) -> Raw {
        Raw { out: Out::new(), terminal }
    }
}

impl Teller for Raw {
    fn record(&mut self, _record: &Record, _state: &State) -> Result<(), Gone> {
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        if self.terminal { Ok(()) } else { self.out.bytes(bytes) }
    }

    fn line(&mut self, _id: Attempt, line: &[u8], _heard: &[ReaderEvent]) -> Result<(), Gone> {
        if self.terminal { self.out.line(&plain_lines(&String::from_utf8_lossy(line))) } else { Ok(()) }
    }

    fn caught_up(&mut self) -> Result<(), Gone> {
        self.out.flush()
    }
}
