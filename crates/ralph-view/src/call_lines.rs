//! One call's output in lines, with what its agent's reader finds in them and when they came. What is still being written
//! is read on later, also where its newest half lies in the ring: lines come whole and once, and what is missing is told.

use memchr::memchr;
use ralph_agents::{Call, Reader, ReaderEvent, registry};
use ralph_engine::transcript::{Followed, Follower, TimeIndex, left_out_line};
use ralph_rules::prices::Prices;
use ralph_rules::record::{AgentChoice, Attempt, Ms};
use ralph_supervisor::LineSplitter;
use std::io;
use std::path::Path;

/// The longest line read whole; the rest of a longer one is left out.
const LINE: usize = 8 << 20;

/// What a call's output has next.
pub(crate) enum CallPart<'a> {
    /// Bytes as they are; where some are missing, the line that says so.
    Bytes(&'a [u8]),
    /// A line that is complete.
    Line {
        /// Without its end.
        bytes: &'a [u8],
        /// What the agent's reader found in it.
        events: &'a [ReaderEvent],
        /// When it came, where that is known.
        at: Option<Ms>,
    },
    /// So many bytes are missing before the next line.
    Missed(u64),
}

/// One call's output while it is read.
pub(crate) struct CallLines {
    out: Follower,
    lines: LineSplitter,
    reader: Option<Box<dyn Reader>>,
    /// Bytes of the line that is not complete yet, and when the last of them came.
    begun: u64,
    at: Option<Ms>,
    /// Bytes are missing, and the next line has not begun yet: so many in all.
    torn: Option<u64>,
    found: bool,
}

impl CallLines {
    /// Of a call of this agent; without one, lines have no events. The transcript need not be there yet.
    pub(crate) fn new(folder: &Path, id: Attempt, agent: Option<&AgentChoice>, prices: &Prices) -> CallLines {
        let reader = agent.and_then(|choice| {
            let (args, model) = (choice.args.clone(), choice.model.clone());
            let call = Call { args, model, prices: prices.clone(), ..Call::default() };
            registry::find(&choice.name).ok().map(|agent| agent.reader(&call))
        });
        CallLines {
            out: Follower::at(&folder.join(format!("{id}.out.jsonl"))),
            lines: LineSplitter::new(LINE),
            reader,
            begun: 0,
            at: None,
            torn: None,
            found: false,
        }
    }

    /// Whether there is or was a transcript.
    pub(crate) fn found(&self) -> bool {
        self.found
    }

    /// Passes on what came since the last time, and stops after about `most` bytes.
    pub(crate) fn read<E: From<io::Error>>(
        &mut self,
        most: u64,
        each: &mut impl FnMut(CallPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let CallLines { out, lines, reader, begun, at, torn, found } = self;
        let mut split = Split { lines, reader, begun, at, torn };
        let there = out.read(most, |followed| match followed {
            Followed::Bytes { position, bytes, times } => {
                each(CallPart::Bytes(bytes))?;
                split.bytes(position, bytes, times, each)
            }
            Followed::Missed(count) => {
                split.missed(count);
                each(CallPart::Bytes(&left_out_line(count)))
            }
        });
        *found |= there?;
        Ok(())
    }

    /// The call is over, and everything was read: passes on a last line without its end.
    pub(crate) fn finish<E>(
        &mut self,
        each: &mut impl FnMut(CallPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(missed) = self.torn.take() {
            return each(CallPart::Missed(missed));
        }
        let CallLines { lines, reader, at, .. } = self;
        let mut passed = Ok(());
        lines.finish(|line| passed = pass_on(line.bytes, *at, reader, each));
        passed
    }
}

/// The parts of `CallLines` that make lines of bytes.
struct Split<'a> {
    lines: &'a mut LineSplitter,
    reader: &'a mut Option<Box<dyn Reader>>,
    begun: &'a mut u64,
    at: &'a mut Option<Ms>,
    torn: &'a mut Option<u64>,
}

impl Split<'_> {
    /// Bytes are missing: the line they are in counts to them, before and after the gap.
    fn missed(&mut self, count: u64) {
        *self.torn = Some(self.torn.unwrap_or(0) + count + std::mem::take(self.begun));
        *self.lines = LineSplitter::new(LINE);
    }

    fn bytes<E>(
        &mut self,
        mut position: u64,
        bytes: &[u8],
        times: &TimeIndex,
        each: &mut impl FnMut(CallPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (piece, after) = rest.split_at(end);
            rest = after;
            let (len, ends) = (piece.len() as u64, piece.ends_with(b"\n"));
            position += len;
            if let Some(missed) = self.torn {
                *missed += len;
                if ends && let Some(missed) = self.torn.take() {
                    each(CallPart::Missed(missed))?;
                }
                continue;
            }
            *self.begun = if ends { 0 } else { *self.begun + len };
            *self.at = times.at(position.saturating_sub(1));
            let mut passed = Ok(());
            let (at, reader) = (*self.at, &mut *self.reader);
            self.lines.feed(piece, |line| passed = pass_on(line.bytes, at, reader, each));
            passed?;
        }
        Ok(())
    }
}

fn pass_on<E>(
    bytes: &[u8],
    at: Option<Ms>,
    reader: &mut Option<Box<dyn Reader>>,
    each: &mut impl FnMut(CallPart<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut events = Vec::new();
    if let Some(reader) = reader {
        reader.read(bytes, &mut events);
    }
    each(CallPart::Line { bytes, events: &events, at })
}
