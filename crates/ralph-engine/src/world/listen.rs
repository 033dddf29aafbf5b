//! Listening to an agent: bytes → redaction → transcript and reader, in one pass and bounded memory. What the reader
//! hears goes to the screens, to the loop (usage), or to the silence watch (tools).

use crate::redact::Stream;
use crate::step_context::StepContext;
use crate::transcript::{Kept, Transcript};
use ralph_agents::{Activity, Exit, Reader, ReaderEvent, Reply};
use ralph_rules::record::{Attempt, Seen, Spent};
use ralph_supervisor::{LineSplitter, ProcessHandle, Sink};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What is kept of one stream.
const CAP: u64 = 64 << 20;
/// The longest line a reader is given whole; a real one reached 409 KB.
const LINE: usize = 8 << 20;

/// One stream's way to its file and its reader.
struct StreamRecorder<'a> {
    redacted: Stream<'a>,
    file: Transcript,
    lines: LineSplitter,
}

impl<'a> StreamRecorder<'a> {
    fn open(ctx: &'a StepContext, id: Attempt, what: &str) -> io::Result<StreamRecorder<'a>> {
        let (_, path) = ctx.file(id, what);
        let redacted = ctx.deps.redactor.stream();
        Ok(StreamRecorder { redacted, file: Transcript::create(&path, CAP)?, lines: LineSplitter::new(LINE) })
    }

    fn recv(&mut self, chunk: &[u8], mut each: impl FnMut(&[u8])) {
        let StreamRecorder { redacted, file, lines } = self;
        redacted.push_to(chunk, &mut |clean: &[u8]| {
            file.write(clean);
            lines.feed(clean, |line| each(line.bytes));
        });
        // What was events must outlive ralph: the transcript is what a crashed call is judged by.
        file.flush();
    }

    fn close(self, mut each: impl FnMut(&[u8])) -> Kept {
        let StreamRecorder { redacted, mut file, mut lines } = self;
        redacted.finish_to(&mut |clean: &[u8]| {
            file.write(clean);
            lines.feed(clean, |line| each(line.bytes));
        });
        lines.finish(|line| each(line.bytes));
        file.finish()
    }
}

/// The files of one attempt, with the way to them.
pub(super) struct Files<'a> {
    out: StreamRecorder<'a>,
    err: StreamRecorder<'a>,
}

impl<'a> Files<'a> {
    /// Opens them.
    pub(super) fn open(ctx: &'a StepContext, id: Attempt) -> io::Result<Files<'a>> {
        Ok(Files {
            out: StreamRecorder::open(ctx, id, "out.jsonl")?,
            err: StreamRecorder::open(ctx, id, "err")?,
        })
    }
}

/// The sink of one call.
pub(super) struct Listener<'a> {
    ctx: &'a StepContext,
    process: ProcessHandle,
    reader: Box<dyn Reader>,
    out: StreamRecorder<'a>,
    err: StreamRecorder<'a>,
    events: Vec<ReaderEvent>,
    /// Usage seen so far.
    spent: Option<ralph_agents::Spent>,
    /// It said nothing and used no tool yet.
    idle: bool,
    /// Tools that run now.
    pub(super) tools: Arc<AtomicU32>,
}

impl<'a> Listener<'a> {
    /// Listens to this program, through this reader, into these files.
    pub(super) fn new(
        ctx: &'a StepContext,
        process: &ProcessHandle,
        reader: Box<dyn Reader>,
        Files { out, err }: Files<'a>,
    ) -> Listener<'a> {
        let (events, tools) = (Vec::new(), Arc::default());
        let spent = None;
        Listener { ctx, process: process.clone(), reader, out, err, events, spent, idle: true, tools }
    }

    /// Before the first byte: most agents are sent their prompt.
    pub(super) fn start(&mut self) {
        self.reader.start(&mut self.events);
        self.react();
    }

    fn react(&mut self) {
        for events in std::mem::take(&mut self.events) {
            match events {
                ReaderEvent::Activity(activity) => self.activity(&activity),
                ReaderEvent::Spent(spent) => self.spent(spent),
                ReaderEvent::Send(bytes) => self.process.send(bytes),
                ReaderEvent::CloseStdin => self.process.close_stdin(),
                ReaderEvent::Final => self.process.final_seen(),
                // No adapter of this version asks; the rules have no answer to give yet.
            }
        }
    }

    fn activity(&mut self, activity: &Activity) {
        self.idle &= !is_work(activity);
        match activity {
            Activity::Tool { .. } => {
                self.tools.fetch_add(1, Ordering::Relaxed);
                if self.ctx.trying.swap(false, Ordering::Relaxed) {
                    self.send_usage(self.spent.unwrap_or_default());
                }
            }
            Activity::ToolEnded { .. } => {
                let _ = self.tools.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            }
            _ => {}
        }
        // What came in several pieces is whole only here.
        self.ctx.watchers.activity(&self.ctx.deps.redactor.activity(activity.clone()));
    }

    /// The loop hears of usage only when the reservation may fall behind it, or where other runs wait for a sign that
    /// the provider works again.
    fn spent(&mut self, spent: ralph_agents::Spent) {
        self.spent = Some(spent);
        let ahead = spent.total.plus(spent.dearest.times(2)).0;
        let sign = self.ctx.trying.load(Ordering::Relaxed) && spent.usage.output > 0;
        if sign || ahead > self.ctx.tell_spend_from.load(Ordering::Relaxed) {
            self.ctx.trying.store(false, Ordering::Relaxed);
            self.send_usage(spent);
        }
    }

    fn send_usage(&self, spent: ralph_agents::Spent) {
        let ralph_agents::Spent { total, dearest, usage, .. } = spent;
        self.ctx.send(Seen::Spent(Spent { total, dearest, usage }));
    }

    /// The program ended: what does it all mean, what was kept of it, what was used, and was nothing done? `report` gives the reader
    /// what the agent left in files.
    pub(super) fn close(
        self,
        exit: Exit,
        report: impl FnOnce(&mut dyn Reader),
    ) -> (Reply, Kept, Option<ralph_agents::Spent>, bool) {
        let Listener { mut reader, out, err, mut events, mut spent, mut idle, .. } = self;
        let kept = out.close(|line| reader.read(line, &mut events));
        for last in events {
            match last {
                ReaderEvent::Spent(now) => spent = Some(now),
                ReaderEvent::Activity(activity) => idle &= !is_work(&activity),
                _ => {}
            }
        }
        err.close(|line| reader.read_stderr(line));
        report(reader.as_mut());
        (reader.close(exit), kept, spent, idle)
    }
}

/// The agent said something or used a tool: a model was paid for it.
pub(super) fn is_work(activity: &Activity) -> bool {
    matches!(activity, Activity::Said { .. } | Activity::Tool { .. })
}

impl Sink for Listener<'_> {
    fn stdout(&mut self, chunk: &[u8]) {
        let Listener { out, reader, events, .. } = self;
        out.recv(chunk, |line| reader.read(line, events));
        self.react();
    }

    fn stderr(&mut self, chunk: &[u8]) {
        let Listener { err, reader, .. } = self;
        err.recv(chunk, |line| reader.read_stderr(line));
    }
}
