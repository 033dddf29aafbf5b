//! The reader of agents that print events: one dialect in any of its output formats, events by lines (what we
//! ask for), one JSON document, or plain text (what a user's own arguments may ask for).

use crate::dialect::{Dialect, Ended};
use crate::error_phrases::{class_of, class_of_plain, worded};
use crate::output::{Output, aborted};
use crate::seam::{Activity, Exit, Failure, Reader, ReaderEvent, Reply};
use crate::terms::Terms;
use ralph_rules::failure::Class;

/// The reader of one call of an agent that speaks dialect `D`.
pub struct EventReader<D> {
    prompt: Vec<u8>,
    may_be_text: bool,
    output: Output<D>,
}

impl<D: Dialect> EventReader<D> {
    /// A reader that sends this prompt. Where the call asked for events, text alone is no answer:
    /// `may_be_text` says that it could be.
    pub fn new(prompt: &str, may_be_text: bool) -> EventReader<D> {
        EventReader { prompt: prompt.as_bytes().to_vec(), may_be_text, output: Output::new() }
    }

    /// The same reader, of a call on these terms.
    pub fn on(self, terms: Terms) -> EventReader<D> {
        EventReader { output: self.output.on(terms), ..self }
    }

    /// A reader of output that is there already, in any format.
    pub fn offline_reader() -> Box<dyn Reader> {
        Box::new(EventReader::<D>::new("", true))
    }
}

impl<D: Dialect> Reader for EventReader<D> {
    fn start(&mut self, out: &mut Vec<ReaderEvent>) {
        // Left open, stdin keeps the client waiting for more prompt forever.
        if !self.prompt.is_empty() {
            out.push(ReaderEvent::Send(std::mem::take(&mut self.prompt)));
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
        self.output.text_reply(finished, failure)
    }
}

impl<D: Dialect> EventReader<D> {
    /// Why output without any event failed, if it did.
    fn text_failure(&self, exit: Exit) -> Option<Failure> {
        let (text, stderr) = (self.output.plain(), self.output.stderr_text());
        let killed = exit.code.is_some_and(|code| code > 128);
        let complaint = D::complaint(&text, &stderr).filter(|_| !exit.not_started);
        if complaint.is_some() {
            return complaint;
        }
        if exit.not_started || exit.by_us || exit.signal.is_some() {
            return Some(aborted(exit));
        }
        let told = D::without_events(&Ended { exit, stderr: &stderr });
        if told.is_some() || killed {
            return told.or_else(|| Some(aborted(exit)));
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
