//! One call's output while it is read: events of a dialect where there are any, otherwise plain text. Lines are tried
//! as they are, then between their first and last brace, and at the end as one document. `event_reader.rs` and
//! `command.rs` put their own rules about exits on top; `dialect.rs` says what a dialect is.

use crate::call::Exit;
use crate::call_pricing::CallPricing;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::worded;
use crate::json::repaired;
use crate::reader::{Activity, ReaderEvent};
use crate::reply::{Failure, Format, Reply};
use crate::text::{KEPT, Tail, clean, from_brace, is_blank, short_bytes};
use ralph_rules::failure::Class;
use serde_json::value::RawValue;

/// How many lines that are no events are shown live; the rest is only counted.
const SHOWN: u32 = 200;
/// How much of stderr is kept for a failure's wording; a client's help may follow it.
const STDERR: usize = 32 << 10;

/// What was read so far.
#[derive(Debug)]
pub struct Output<D> {
    dialect: D,
    events: u32,
    /// One document, not a line per event.
    document: bool,
    text: Tail,
    stderr: Tail,
    garbled: u32,
}

impl<D: Dialect> Output<D> {
    /// Nothing read yet, of a call whose usage is priced like this.
    pub fn new(pricing: CallPricing) -> Output<D> {
        let mut dialect = D::default();
        dialect.price_with(pricing);
        Output {
            dialect,
            events: 0,
            document: false,
            text: Tail::new(KEPT),
            stderr: Tail::new(STDERR),
            garbled: 0,
        }
    }

    /// Whether it is the known event stream.
    pub fn has_events(&self) -> bool {
        self.events > 0
    }

    /// One line of stdout. `shown_as` says how a line that is no event is shown.
    pub fn line(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>, shown_as: fn(String) -> Activity) {
        let before = self.has_events();
        let kind = if is_blank(line) { LineKind::Unknown } else { self.line_kind(line) };
        if kind == LineKind::NotAnEvent {
            self.dialect.cut_line(line);
            self.garbled = self.garbled.saturating_add(1);
        }
        out.append(&mut self.dialect.call().events);
        if kind == LineKind::NotAnEvent && self.garbled <= SHOWN {
            out.push(ReaderEvent::Activity(shown_as(short_bytes(line, 200))));
        }
        match (before, self.has_events()) {
            (false, false) => self.text.push_line(line),
            (false, true) => self.text.clear(),
            (true, _) => {}
        }
    }

    /// One line of stderr.
    pub fn stderr(&mut self, line: &[u8]) {
        self.stderr.push_line(line);
    }

    /// A file that the agent wrote.
    pub fn report(&mut self, name: &str, bytes: &[u8]) {
        self.dialect.report(name, bytes);
    }

    /// The whole output as one JSON document: an array of events, one event, or an older tool's reply.
    /// Says whether it was one.
    pub fn document(&mut self, bytes: &[u8], out: &mut Vec<ReaderEvent>) -> bool {
        let bytes = bytes.trim_ascii();
        let known = self.json(bytes) == LineKind::Event || self.other_document(bytes);
        out.append(&mut self.dialect.call().events);
        if known {
            self.events = self.events.max(1);
            self.document = true;
            self.garbled = 0; // its lines were no events one by one
            self.text.clear();
        }
        known
    }

    fn other_document(&mut self, bytes: &[u8]) -> bool {
        bytes.starts_with(b"{") && std::str::from_utf8(bytes).is_ok_and(|text| self.dialect.document(text))
    }

    /// No event came line by line: perhaps the lines are one document.
    pub fn try_document(&mut self) {
        if self.has_events() {
            return;
        }
        let text = std::mem::replace(&mut self.text, Tail::new(KEPT));
        let known = text.whole().is_some_and(|bytes| self.document(bytes, &mut Vec::new()));
        if !known {
            self.text = text;
        }
    }

    fn line_kind(&mut self, line: &[u8]) -> LineKind {
        let line = line.trim_ascii();
        let kind = self.json(line);
        let inner =
            between_braces(line).filter(|inner| kind == LineKind::NotAnEvent && inner.len() < line.len());
        let Some(inner) = inner else { return kind };
        let kind = self.json(inner);
        if kind == LineKind::Event {
            self.dialect
                .text_before_event(line.get(..memchr::memchr(b'{', line).unwrap_or(0)).unwrap_or_default());
        }
        // An array that is printed with a line per event.
        self.document |= kind == LineKind::Event && line.starts_with(b"[");
        kind
    }

    /// Bytes as JSON, repaired if need be.
    fn json(&mut self, bytes: &[u8]) -> LineKind {
        if !matches!(bytes.first(), Some(b'{' | b'[')) {
            return LineKind::NotAnEvent;
        }
        let kind = std::str::from_utf8(bytes).map_or(LineKind::NotAnEvent, |text| self.value(text));
        match kind {
            LineKind::NotAnEvent => repaired(bytes).map_or(LineKind::NotAnEvent, |text| self.value(&text)),
            kind => kind,
        }
    }

    fn value(&mut self, text: &str) -> LineKind {
        if !text.starts_with('[') {
            return self.object(text);
        }
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else { return LineKind::NotAnEvent };
        let events = items.iter().filter(|item| self.object(item.get()) == LineKind::Event).count();
        if events == 0 {
            return LineKind::NotAnEvent;
        }
        self.document = true;
        LineKind::Event
    }

    fn object(&mut self, text: &str) -> LineKind {
        let kind = self.dialect.object(text);
        self.events = self.events.saturating_add(u32::from(kind == LineKind::Event));
        kind
    }

    /// The plain text, terminal sequences taken out.
    pub fn plain(&self) -> String {
        clean(&self.text.text()).into_owned()
    }

    /// The kept end of stderr.
    pub fn stderr_text(&self) -> String {
        clean(&self.stderr.text()).trim().to_owned()
    }

    /// The reply of an event stream: its terminal event decides, and without one it was aborted.
    pub fn event_reply(self, exit: Exit) -> Reply {
        let stderr = self.stderr_text();
        let reply = self.dialect.reply(&Ended { exit, stderr: &stderr });
        let single = self.document || (self.events == 1 && reply.finished);
        let format = if single { Format::Json } else { Format::Jsonl };
        Reply { garbled: self.garbled, format, ..reply }.with_message_opened()
    }

    /// The reply of plain text.
    pub fn text_reply(self, finished: bool, failure: Option<Failure>) -> Reply {
        Reply { text: self.plain(), text_bytes: self.text.length(), finished, failure, ..Reply::default() }
    }
}

/// From the first opening brace to the last closing one.
fn between_braces(line: &[u8]) -> Option<&[u8]> {
    let from = from_brace(line)?;
    from.get(..=memchr::memrchr(b'}', from)?)
}

/// A call that ended without its terminal event.
pub fn aborted(exit: Exit) -> Failure {
    let how = match exit {
        Exit { not_started: true, .. } => {
            return worded(
                Class::Unknown,
                "the program could not be started; is it installed and on the PATH?",
            );
        }
        Exit { by_us: true, .. } => "ralph ended it first".to_owned(),
        Exit { signal: Some(signal), .. } => format!("killed by signal {signal}"),
        Exit { code: Some(code), .. } => format!("exit code {code}"),
        _ => "the output ends early".to_owned(),
    };
    worded(Class::Aborted, &format!("no final result: {how}"))
}
