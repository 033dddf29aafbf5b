//! The reader of agents that print events: one dialect in any of its output formats, events by lines (what we ask
//! for), one JSON document, or plain text (what a user's own arguments may ask for).

use crate::agent_info::ReaderSetup;
use crate::call::Exit;
use crate::dialect::{Dialect, Ended};
use crate::error_phrases::{class_of, class_of_plain, worded};
use crate::output::{Output, aborted};
use crate::reader::{Activity, Reader, ReaderEvent};
use crate::reply::{Failure, Reply};
use ralph_rules::failure::Class;

/// The reader of one call of an agent that prints dialect `D`.
pub struct EventReader<D> {
    stdin: Vec<u8>,
    may_be_text: bool,
    output: Output<D>,
}

impl<D: Dialect> EventReader<D> {
    /// A reader that has read nothing yet.
    pub fn new(setup: ReaderSetup<'_>) -> EventReader<D> {
        EventReader {
            stdin: setup.stdin.into_bytes(),
            may_be_text: setup.may_be_text,
            output: Output::new(setup.pricing),
        }
    }
}

impl<D: Dialect> Reader for EventReader<D> {
    fn start(&mut self, out: &mut Vec<ReaderEvent>) {
        // Left open, stdin keeps the client waiting for more prompt forever.
        if !self.stdin.is_empty() {
            out.push(ReaderEvent::Send(std::mem::take(&mut self.stdin)));
        }
        out.push(ReaderEvent::CloseStdin);
    }

    fn read(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        self.output.line(line, out, |text| Activity::Noise { text });
    }

    fn read_stderr(&mut self, line: &[u8]) {
        self.output.stderr(line);
    }

    fn read_report(&mut self, name: &str, bytes: &[u8]) {
        self.output.report(name, bytes);
    }

    fn read_document(&mut self, bytes: &[u8], out: &mut Vec<ReaderEvent>) -> bool {
        self.output.document(bytes, out)
    }

    fn close(mut self: Box<Self>, exit: Exit) -> Reply {
        self.output.try_document();
        if self.output.has_events() {
            return self.output.event_reply(exit);
        }
        let failure = self.text_failure(exit);
        let finished = failure.is_none();
        self.output.text_reply(finished, failure).with_message_opened()
    }
}

impl<D: Dialect> EventReader<D> {
    /// Why output without any event failed, if it did.
    fn text_failure(&self, exit: Exit) -> Option<Failure> {
        let (text, stderr) = (self.output.plain(), self.output.stderr_text());
        let worded_failure = D::failure_in_text(&text, &stderr).filter(|_| !exit.not_started);
        if worded_failure.is_some() {
            return worded_failure;
        }
        if exit.not_started || exit.by_us || exit.signal.is_some() {
            return Some(aborted(exit));
        }
        let own = D::failure_without_events(&Ended { exit, stderr: &stderr });
        if own.is_some() || exit.was_killed() {
            return own.or_else(|| Some(aborted(exit)));
        }
        let said = if text.trim().is_empty() { &stderr } else { &text };
        let class = match exit.code {
            Some(0) => None,
            Some(_) => class_of(said).or_else(|| class_of(&stderr)),
            None => class_of_plain(said),
        };
        if let Some(class) = class {
            return Some(worded(class, said));
        }
        let answered = self.may_be_text && !text.trim().is_empty();
        match exit.code {
            None | Some(0) if answered => None,
            Some(code) if code != 0 && !said.is_empty() => Some(worded(Class::Unknown, said)),
            _ => Some(aborted(exit)),
        }
    }
}
