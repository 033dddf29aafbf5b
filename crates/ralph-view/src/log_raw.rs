//! What agents printed, byte by byte. On a terminal what would move its cursor becomes visible instead.

use crate::plain::plain_lines;
use crate::story::StoryVisitor;
use ralph_agents::ReaderEvent;
use ralph_rules::record::{Attempt, Record};
use ralph_rules::state::State;
use std::io::{self, Write};

/// Writes transcripts as they are.
pub struct LogRaw<W> {
    out: W,
    terminal: bool,
}

impl<W: Write> LogRaw<W> {
    /// To this writer, which may be a terminal.
    pub fn new(out: W, terminal: bool) -> LogRaw<W> {
        LogRaw { out, terminal }
    }
}

impl<W: Write> StoryVisitor for LogRaw<W> {
    fn record(&mut self, _record: &Record, _state: &State) -> io::Result<()> {
        Ok(())
    }

    fn transcript_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.terminal { Ok(()) } else { self.out.write_all(bytes) }
    }

    fn transcript_line(&mut self, _id: Attempt, line: &[u8], _events: &[ReaderEvent]) -> io::Result<()> {
        match self.terminal {
            true => writeln!(self.out, "{}", plain_lines(&String::from_utf8_lossy(line))),
            false => Ok(()),
        }
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
