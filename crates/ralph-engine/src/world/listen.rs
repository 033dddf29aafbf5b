//! Reads an agent's output: bytes → redaction → transcript and reader, in one pass and bounded memory. The reader's events
//! go to the watchers (activity), to the loop (usage) and to the silence check (running tools).

use crate::redact::{Redactor, Stream};
use crate::step_context::StepContext;
use crate::transcript::{Kept, Transcript};
use ralph_agents::{Activity, Exit, Reader, ReaderEvent, Reply};
use ralph_rules::record::{Attempt, Seen, Spent};
use ralph_supervisor::{LineSplitter, ProcessHandle, Sink};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Most bytes kept of one stream.
const CAP: u64 = 64 << 20;
/// Longest line a reader is given whole; real ones reach 409 KB.
const LINE: usize = 8 << 20;

/// Redacts one stream, writes it to its file and splits it into lines.
struct StreamRecorder<'a> {
    redacted: Stream<'a>,
    file: Transcript,
    lines: LineSplitter,
}

impl<'a> StreamRecorder<'a> {
    fn new(redactor: &'a Redactor, file: Transcript) -> StreamRecorder<'a> {
        StreamRecorder { redacted: redactor.stream(), file, lines: LineSplitter::new(LINE) }
    }

    fn recv(&mut self, chunk: &[u8], mut each: impl FnMut(&[u8])) {
        let StreamRecorder { redacted, file, lines } = self;
        redacted.push_to(chunk, &mut |clean: &[u8]| {
            file.write(clean);
            lines.feed(clean, |line| each(line.bytes));
        });
        // A crashed call is judged by its transcript, so it must be complete at any time; and others watch it. A chunk is
        // what the pipe held: while an agent writes fast, there is little to gain by gathering more of it.
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

/// The recorders of both streams of one attempt.
pub(super) struct Files<'a> {
    out: StreamRecorder<'a>,
    err: StreamRecorder<'a>,
}

impl<'a> Files<'a> {
    /// Opens their files.
    pub(super) fn open(ctx: &'a StepContext, id: Attempt) -> io::Result<Files<'a>> {
        let out = Transcript::create_with_times(&ctx.file(id, "out.jsonl").1, CAP)?;
        let err = Transcript::create(&ctx.file(id, "err").1, CAP)?;
        let redactor = &ctx.deps.redactor;
        Ok(Files { out: StreamRecorder::new(redactor, out), err: StreamRecorder::new(redactor, err) })
    }
}

/// Receives the output of one call.
pub(super) struct Listener<'a> {
    ctx: &'a StepContext,
    process: ProcessHandle,
    reader: Box<dyn Reader>,
    out: StreamRecorder<'a>,
    err: StreamRecorder<'a>,
    events: Vec<ReaderEvent>,
    /// Usage seen so far.
    spent: Option<ralph_agents::Spent>,
    /// The agent said nothing and used no tool so far.
    idle: bool,
    /// Tools that run now.
    pub(super) tools: Arc<AtomicU32>,
}

impl<'a> Listener<'a> {
    /// Reads the output of this process through this reader and records it in these files.
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

    /// Before the first byte: lets the reader send the prompt.
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
        // Redacted again: text that arrived in several pieces is whole only here.
        self.ctx.watchers.activity(&self.ctx.deps.redactor.activity(activity.clone()));
    }

    /// The loop is told of usage only when the reservation may be exceeded, or when other runs wait for a sign that the
    /// provider works again.
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

    /// The program ended: returns the reply, what was kept of stdout, the usage, and whether the agent was idle. `report`
    /// gives the reader what the agent wrote to files.
    pub(super) fn close(
        self,
        exit: Exit,
        report: impl FnOnce(&mut dyn Reader),
    ) -> (Reply, Kept, Option<ralph_agents::Spent>, bool) {
        let Listener { mut reader, out, err, mut events, mut spent, mut idle, .. } = self;
        let mut kept = out.close(|line| reader.read(line, &mut events));
        for last in events {
            match last {
                ReaderEvent::Spent(now) => spent = Some(now),
                ReaderEvent::Activity(activity) => idle &= !is_work(&activity),
                _ => {}
            }
        }
        let trouble = err.close(|line| reader.read_stderr(line)).trouble;
        kept.trouble = kept.trouble.or(trouble);
        report(reader.as_mut());
        (reader.close(exit), kept, spent, idle)
    }
}

/// Whether an activity shows that a model worked, and was paid for it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::utc;
    use crate::transcript::TimeIndex;

    #[test]
    fn a_line_is_in_the_file_with_its_time_before_anything_else_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("001.a1.out.jsonl");
        let redactor = Redactor::new(std::iter::empty::<(&str, &str)>());
        let file = Transcript::create_with_times(&path, CAP).unwrap();
        let mut recorder = StreamRecorder::new(&redactor, file);
        let before = utc();
        let mut written = String::new();
        for line in ["{\"type\":\"one\"}\n", "{\"type\":\"two\"}\n"] {
            recorder.recv(line.as_bytes(), |_| {});
            written.push_str(line);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
        }
        let mut times = TimeIndex::of(&path);
        times.refresh();
        assert!(times.at(0).is_some_and(|at| (before..=utc()).contains(&at)), "{:?}", times.at(0));
    }
}
