//! Walks through a run from its first record on: the journal in order, and each call's transcript where the call is in
//! it. A run that is still running can be followed to its end, also when another process resumes it.

use crate::call_lines::{CallLines, CallPart};
use ralph_agents::{Activity, ReaderEvent};
use ralph_engine::journal::record_of;
use ralph_engine::run::stream_of;
use ralph_engine::transcript::{Follower, left_out_line};
use ralph_rules::next::Next;
use ralph_rules::prices::Prices;
use ralph_rules::record::{Attempt, Decision, Fact, Record, RunStarted, Seen};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use ralph_store::{Store, StoreError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// How often a running run is read: what the agent says is shown within a tenth of a second.
const POLL: Duration = Duration::from_millis(50);

/// Receives a run's story, piece by piece.
pub trait StoryVisitor {
    /// How the run started; called also where its first record is not shown.
    fn run_started(&mut self, _start: &RunStarted) {}
    /// A record; `state` is the one before it.
    fn record(&mut self, record: &Record, state: &State) -> io::Result<()>;
    /// Bytes of a call's transcript, as they are; where some are missing, the line that says so.
    fn transcript_bytes(&mut self, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
    /// A line of it, and the events its reader found in it.
    fn transcript_line(&mut self, _id: Attempt, _line: &[u8], _events: &[ReaderEvent]) -> io::Result<()> {
        Ok(())
    }
    /// A call ended; `stderr` is its other stream, `lost` says that its transcript does not exist any more.
    fn call_closed(&mut self, _id: Attempt, _stderr: Follower, _lost: bool) -> io::Result<()> {
        Ok(())
    }
    /// Everything known by now was passed on.
    fn caught_up(&mut self) -> io::Result<()>;
}

/// Why the walk ended early.
#[derive(Debug)]
pub enum StoryError {
    /// The visitor cannot write any more: nobody reads, or the disk is full.
    Output(io::Error),
    /// The journal cannot be read.
    Store(StoreError),
    /// A record is in a shape this version does not know.
    Unreadable(String),
}

impl From<io::Error> for StoryError {
    fn from(error: io::Error) -> StoryError {
        StoryError::Output(error)
    }
}

impl From<StoreError> for StoryError {
    fn from(error: StoreError) -> StoryError {
        StoryError::Store(error)
    }
}

/// A transcript that cannot be read any more is shown as far as it went.
enum Stop {
    Output(io::Error),
    Unread,
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Stop {
        Stop::Unread
    }
}

/// A run to walk through.
pub struct Story<'a> {
    /// Where the journal is.
    pub store: &'a dyn Store,
    /// Which run.
    pub run: &'a str,
    /// Its files.
    pub folder: PathBuf,
    /// Only this iteration.
    pub iteration: Option<u32>,
    /// Whether a process still works on it.
    pub running: &'a dyn Fn() -> bool,
}

/// How far the walk is.
#[derive(Default)]
struct Position {
    state: State,
    iteration: u32,
    call: Option<OpenCall>,
    /// The store's mark when its records were read last.
    mark: Option<u64>,
}

/// A call whose transcript is being read.
struct OpenCall {
    id: Attempt,
    out: CallLines,
}

impl Story<'_> {
    /// Walks as far as the journal goes; with `follow`, until no process works on the run any more. Returns the state then.
    pub fn walk(&self, follow: bool, visitor: &mut dyn StoryVisitor) -> Result<State, StoryError> {
        self.walk_on(Position::default(), follow, visitor)
    }

    /// Follows the run from the end of these records on, as if they had been told before. Of their calls only one that
    /// is still open is read.
    pub fn follow_after(
        &self,
        records: &[Record],
        visitor: &mut dyn StoryVisitor,
    ) -> Result<State, StoryError> {
        let mut position = Position::default();
        for record in records {
            position.add(self, record);
        }
        self.walk_on(position, true, visitor)
    }

    fn walk_on(
        &self,
        mut position: Position,
        follow: bool,
        visitor: &mut dyn StoryVisitor,
    ) -> Result<State, StoryError> {
        loop {
            // Asked before reading: what is written until a run ends is then read for certain.
            let running = follow && (self.running)();
            let mark = self.store.changed()?;
            if position.mark.replace(mark) != Some(mark) {
                for entry in self.store.read(&stream_of(self.run), position.state.seq)? {
                    let record = record_of(&entry).map_err(|e| StoryError::Unreadable(e.to_string()))?;
                    self.record(&record, &mut position, visitor)?;
                }
            }
            if let Some(open) = &mut position.call {
                open.read(visitor)?;
            }
            visitor.caught_up()?;
            if !running {
                break;
            }
            std::thread::sleep(POLL);
        }
        if let Some(open) = position.call.take() {
            self.close(open, visitor)?;
        }
        visitor.caught_up()?;
        Ok(position.state)
    }

    fn shown(&self, iteration: u32) -> bool {
        self.iteration.is_none_or(|wanted| wanted == iteration)
    }

    fn record(
        &self,
        record: &Record,
        position: &mut Position,
        visitor: &mut dyn StoryVisitor,
    ) -> Result<(), StoryError> {
        if let Fact::Seen(Seen::RunStarted(start)) = &record.fact {
            visitor.run_started(start);
        }
        if let Some(mut open) = position.call.take_if(|_| ends_call(record)) {
            open.read(visitor)?;
            self.close(open, visitor)?;
        }
        if let Fact::Decided(Decision { next: Next::Do(Step::Admit { id, .. }), .. }) = &record.fact {
            // What was decided belongs to the iteration before.
            if self.shown(position.iteration) {
                visitor.record(record, &position.state)?;
            }
            position.iteration = id.iteration;
        } else if self.shown(position.iteration) {
            visitor.record(record, &position.state)?;
        }
        position.add(self, record);
        Ok(())
    }

    fn close(&self, mut open: OpenCall, visitor: &mut dyn StoryVisitor) -> Result<(), StoryError> {
        open.last_line(visitor)?;
        let stderr = Follower::at(&self.folder.join(format!("{}.err", open.id)));
        Ok(visitor.call_closed(open.id, stderr, !open.out.found())?)
    }
}

impl Position {
    /// One more record; what ends a call forgets it.
    fn add(&mut self, story: &Story<'_>, record: &Record) {
        self.state.apply(record);
        if ends_call(record) {
            self.call = None;
        }
        if let Fact::Decided(Decision { next: Next::Do(Step::Call { id, rung, review, .. }), .. }) =
            &record.fact
        {
            self.iteration = id.iteration;
            let agent = self.state.start.as_ref().map(|start| start.caller(*rung, *review));
            let shown = story.shown(id.iteration);
            let out = || CallLines::new(&story.folder, *id, agent, &Prices::default());
            self.call = shown.then(|| OpenCall { id: *id, out: out() });
        }
    }
}

fn ends_call(record: &Record) -> bool {
    matches!(record.fact, Fact::Seen(Seen::CallEnded(_) | Seen::CallLost(_) | Seen::Resumed(_)))
}

impl OpenCall {
    fn read(&mut self, visitor: &mut dyn StoryVisitor) -> io::Result<()> {
        let OpenCall { id, out } = self;
        match out.read(u64::MAX, &mut |part| pass_on(*id, &part, visitor).map_err(Stop::Output)) {
            Err(Stop::Output(error)) => Err(error),
            Ok(()) | Err(Stop::Unread) => Ok(()),
        }
    }

    /// A line without its end.
    fn last_line(&mut self, visitor: &mut dyn StoryVisitor) -> io::Result<()> {
        let OpenCall { id, out } = self;
        out.finish(&mut |part| pass_on(*id, &part, visitor))
    }
}

fn pass_on(id: Attempt, part: &CallPart<'_>, visitor: &mut dyn StoryVisitor) -> io::Result<()> {
    match part {
        CallPart::Bytes(bytes) => visitor.transcript_bytes(bytes),
        CallPart::Line { bytes, events, .. } => visitor.transcript_line(id, bytes, events),
        CallPart::Missed(count) => {
            let line = left_out_line(*count);
            let text = String::from_utf8_lossy(line.trim_ascii()).into_owned();
            let noise = ReaderEvent::Activity(Activity::Noise { text });
            visitor.transcript_line(id, line.trim_ascii(), &[noise])
        }
    }
}
