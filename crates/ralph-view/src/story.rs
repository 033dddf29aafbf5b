//! A run told from its first record on: the journal in order, and each call's transcript where the call stands in it.
//! While the run is under way it is told on as it goes, also by a process that took it up again.

use crate::transcript::Transcript;
use ralph_agents::registry;
use ralph_agents::{Call, Reader, ReaderEvent};
use ralph_engine::journal::record_of;
use ralph_engine::run::stream_of;
use ralph_rules::next::Next;
use ralph_rules::record::{Attempt, Decision, Fact, Record, RunStarted, Seen};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::{Store, StoreError};
use ralph_supervisor::LineSplitter;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest line read whole.
const LINE: usize = 8 << 20;
/// How often a run under way is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Receives a run's story, piece by piece.
pub trait StoryVisitor {
    /// What the run was given; told also where its first record is not shown.
    fn began(&mut self, _start: &RunStarted) {}
    /// A record; `state` stands before it.
    fn record(&mut self, record: &Record, state: &State) -> io::Result<()>;
    /// Bytes of a call's transcript, as they are.
    fn bytes(&mut self, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
    /// A line of it, and what its reader heard in it.
    fn line(&mut self, _id: Attempt, _line: &[u8], _heard: &[ReaderEvent]) -> io::Result<()> {
        Ok(())
    }
    /// A call is over; `stderr` is its other stream, `lost` says that its transcript is not there any more.
    fn closed(&mut self, _id: Attempt, _stderr: Transcript, _lost: bool) -> io::Result<()> {
        Ok(())
    }
    /// All that is known by now was told.
    fn caught_up(&mut self) -> io::Result<()>;
}

/// Why the telling ended early.
#[derive(Debug)]
pub enum Ended {
    /// The visitor cannot write any more: nobody reads, or the disk is full.
    Output(io::Error),
    /// The journal cannot be read.
    Store(StoreError),
    /// A record is in a shape this version does not know.
    Unreadable(String),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Ended {
        Ended::Output(error)
    }
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Ended {
        Ended::Store(error)
    }
}

/// A file that cannot be read any more is told as far as it went.
enum Stop {
    Output(io::Error),
    Unread,
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Stop {
        Stop::Unread
    }
}

/// A run to be told.
pub struct Story<'a> {
    /// Where the journal is.
    pub store: &'a dyn Store,
    /// Which run.
    pub run: &'a str,
    /// Its files.
    pub folder: PathBuf,
    /// Only this iteration.
    pub iteration: Option<u32>,
    /// Somebody still works on it.
    pub running: &'a dyn Fn() -> bool,
}

/// Where the telling is.
#[derive(Default)]
struct Place {
    state: State,
    iteration: u32,
    call: Option<Open>,
}

/// A call that is being told.
struct Open {
    id: Attempt,
    out: Transcript,
    lines: LineSplitter,
    reader: Option<Box<dyn Reader>>,
    found: bool,
}

impl Story<'_> {
    /// Tells it as far as it goes; `follow`: until nobody works on it any more. Gives where it stands then.
    pub fn tell(&self, follow: bool, visitor: &mut dyn StoryVisitor) -> Result<State, Ended> {
        let mut place = Place::default();
        loop {
            // Asked before reading: what is written until a run ends is then read for certain.
            let running = follow && (self.running)();
            for entry in self.store.read(&stream_of(self.run), place.state.seq)? {
                let record = record_of(entry).map_err(|e| Ended::Unreadable(e.to_string()))?;
                self.record(&record, &mut place, visitor)?;
            }
            if let Some(open) = &mut place.call {
                open.read(visitor)?;
            }
            visitor.caught_up()?;
            if !running {
                break;
            }
            std::thread::sleep(LOOK);
        }
        if let Some(open) = place.call.take() {
            self.close(open, visitor)?;
        }
        visitor.caught_up()?;
        Ok(place.state)
    }

    fn shown(&self, iteration: u32) -> bool {
        self.iteration.is_none_or(|wanted| wanted == iteration)
    }

    fn record(
        &self,
        record: &Record,
        place: &mut Place,
        visitor: &mut dyn StoryVisitor,
    ) -> Result<(), Ended> {
        if let Fact::Seen(Seen::RunStarted(start)) = &record.fact {
            visitor.began(start);
        }
        let ends =
            matches!(record.fact, Fact::Seen(Seen::CallEnded(_) | Seen::CallLost(_) | Seen::Resumed(_)));
        if let Some(mut open) = place.call.take_if(|_| ends) {
            open.read(visitor)?;
            self.close(open, visitor)?;
        }
        if let Fact::Decided(Decision { next: Next::Do(Step::Admit { id, .. }), .. }) = &record.fact {
            // What was decided belongs to the iteration before.
            if self.shown(place.iteration) {
                visitor.record(record, &place.state)?;
            }
            place.iteration = id.iteration;
        } else if self.shown(place.iteration) {
            visitor.record(record, &place.state)?;
        }
        place.state.apply(record);
        if let Fact::Decided(Decision { next: Next::Do(Step::Call { id, rung, .. }), .. }) = &record.fact
            && self.shown(id.iteration)
        {
            place.call = Some(Open::new(*id, &self.path(*id, "out.jsonl"), &place.state, *rung));
        }
        Ok(())
    }

    fn path(&self, id: Attempt, what: &str) -> PathBuf {
        self.folder.join(format!("{id}.{what}"))
    }

    fn close(&self, mut open: Open, visitor: &mut dyn StoryVisitor) -> Result<(), Ended> {
        open.last_line(visitor)?;
        let stderr = Transcript::at(&self.path(open.id, "err"));
        Ok(visitor.closed(open.id, stderr, !open.found)?)
    }
}

impl Open {
    fn new(id: Attempt, path: &Path, state: &State, rung: u32) -> Open {
        let agent = state.start.as_ref().map(|start| start.rung(rung));
        let reader = agent.and_then(|choice| {
            let call = Call { args: choice.args.clone(), ..Call::default() };
            registry::find(&choice.name).ok().map(|agent| agent.reader(&call))
        });
        Open { id, out: Transcript::at(path), lines: LineSplitter::new(LINE), reader, found: false }
    }

    fn read(&mut self, visitor: &mut dyn StoryVisitor) -> io::Result<()> {
        let Open { id, out, lines, reader, found } = self;
        let read = out.read(|piece| {
            visitor.bytes(piece).map_err(Stop::Output)?;
            let mut told = Ok(());
            lines.feed(piece, |line| {
                if told.is_ok() {
                    told = heard(*id, line.bytes, reader, visitor);
                }
            });
            told.map_err(Stop::Output)
        });
        match read {
            Ok(there) => {
                *found |= there;
                Ok(())
            }
            Err(Stop::Output(error)) => Err(error),
            Err(Stop::Unread) => Ok(()),
        }
    }

    /// A line without its end.
    fn last_line(&mut self, visitor: &mut dyn StoryVisitor) -> io::Result<()> {
        let Open { id, lines, reader, .. } = self;
        let mut told = Ok(());
        lines.finish(|line| told = heard(*id, line.bytes, reader, visitor));
        told
    }
}

fn heard(
    id: Attempt,
    line: &[u8],
    reader: &mut Option<Box<dyn Reader>>,
    visitor: &mut dyn StoryVisitor,
) -> io::Result<()> {
    let mut heard = Vec::new();
    if let Some(reader) = reader {
        reader.read(line, &mut heard);
    }
    visitor.line(id, line, &heard)
}
