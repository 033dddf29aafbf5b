//! The JSON replies of older tools: an object whose `result` is the final message, with status fields beside it or in its
//! `metadata`. A program prints one as its whole output, or a model gives one as its whole final message; in no other
//! place are the fields a claim. `loose_json.rs` reads the object, `ralph-rules` says what the fields are worth.

use crate::json::unescaped;
use crate::loose_json::{Damage, Value, object};
use crate::reply::{Format, Reply};
use crate::text::{KEPT, short};
use ralph_rules::claim::{Malformed, ReportedStatus};
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// Longest value that is kept.
const VALUE: usize = 4 << 10;
/// Longest id of a conversation that is kept.
const SESSION: usize = 200;

/// What an object has of a reply.
#[derive(Default)]
struct Members<'a> {
    text: Option<Value<'a>>,
    /// `result` occurs twice: none of them is known to be the message.
    doubled: bool,
    /// `result` was read last.
    text_last: bool,
    /// The agent says that the call failed.
    failed: bool,
    kind: Option<Value<'a>>,
    session: Option<String>,
    status: ReportedStatus,
    summary: Option<String>,
    /// Damage inside of `metadata`, and whether reading stopped there.
    inner: Option<(Damage, bool)>,
}

/// The status fields of an event or a reply that is valid JSON.
pub fn status_of(object_text: &str) -> Option<ReportedStatus> {
    let mut members = Members::default();
    object(object_text, &mut |key, value| members.take(&key, value, true));
    Some(members.into_status()).filter(ReportedStatus::is_claim)
}

impl Reply {
    /// The reply of an agent whose final message may be a JSON reply: opened if its fields say how the work stands.
    pub(crate) fn with_message_opened(self) -> Reply {
        self.opened(ReportedStatus::is_claim)
    }

    /// The reply of a program whose whole output is the message: a damaged JSON reply is opened without fields, too.
    pub(crate) fn with_output_opened(self) -> Reply {
        self.opened(|status| status.is_claim() || status.malformed.is_some())
    }

    fn opened(mut self, worth: fn(&ReportedStatus) -> bool) -> Reply {
        // Of a longer message the beginning is not known.
        if self.status.is_some() || self.text_bytes > KEPT as u64 {
            return self;
        }
        let Some((text, session, status)) = open(&self.text).filter(|(_, _, status)| worth(status)) else {
            return self;
        };
        self.text_bytes = text.len() as u64;
        self.text = text;
        self.session = self.session.or(session);
        self.status = Some(status);
        if self.format == Format::Text {
            self.format = Format::Json;
        }
        self
    }
}

/// Opens a message that is one JSON reply and nothing else: its text, its session and its fields.
fn open(message: &str) -> Option<(String, Option<String>, ReportedStatus)> {
    let written = unfenced(message.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'));
    if !written.starts_with('{') {
        return None;
    }
    let mut members = Members::default();
    let end = object(written, &mut |key, value| members.take(&key, value, true));
    if !written.get(end.at..)?.trim().is_empty() && !end.stopped {
        return None;
    }
    let malformed = serde_json::from_str::<IgnoredAny>(written).err().map(|error| {
        let inner = members.inner.map(|(damage, _)| damage);
        let first = [end.damage, inner].into_iter().flatten().min_by_key(|damage| damage.at);
        let what = match first {
            Some(Damage { what, at }) => format!("{}: {what}", position(written, at)),
            None => {
                format!("line {}, column {}: not valid JSON", error.line(), error.column())
            }
        };
        let stopped = end.stopped || members.inner.is_some_and(|(_, stopped)| stopped);
        // A quote that is not escaped ends a text too early.
        Malformed { what, stopped, text_cut: end.stopped && members.text_last }
    });
    let (Some(Value::Text(inside) | Value::CutText(inside)), false) = (members.text, members.doubled) else {
        return None;
    };
    let text = unescaped(inside).into_owned();
    match (members.kind, malformed) {
        (None, malformed) => {
            let session = members.session.take();
            members.status.has_errors |= members.failed;
            Some((text, session, ReportedStatus { malformed, ..members.into_status() }))
        }
        // An event without its end may have said that it failed.
        (Some(Value::Text("result")), Some(malformed)) => {
            let malformed = Some(Malformed { stopped: true, text_cut: true, ..malformed });
            Some((text, members.session, ReportedStatus { malformed, ..ReportedStatus::default() }))
        }
        _ => None,
    }
}

/// The inside of a message that is one fence.
fn unfenced(message: &str) -> &str {
    let inside = || {
        let (first, rest) = message.strip_prefix("```")?.strip_suffix("```")?.split_once('\n')?;
        matches!(first.trim(), "" | "json" | "JSON").then_some(rest.trim())
    };
    inside().unwrap_or(message)
}

fn position(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let lines = before.matches('\n').count();
    format!("line {}, column {}", lines + 1, line.chars().count() + 1)
}

impl<'a> Members<'a> {
    fn take(&mut self, key: &str, value: Value<'a>, top: bool) {
        let status = &mut self.status;
        self.text_last = top && key == "result";
        match key.to_ascii_lowercase().as_str() {
            "result" if top => self.doubled |= self.text.replace(value).is_some(),
            "type" if top => self.kind = Some(value),
            "metadata" if top => self.take_metadata(value),
            "session_id" | "sessionid" => self.session = worded(value).map(|id| short(&id, SESSION)),
            "status" | "completion_status" => add(&mut status.status, value),
            "exit_signal" => add(&mut status.exit_signal, value),
            "tests_status" => add(&mut status.tests_status, value),
            "work_type" => add(&mut status.work_type, value),
            "tasks_completed" | "tasks_completed_this_loop" => add(&mut status.tasks_completed, value),
            "files_changed" | "files_modified" => add(&mut status.files_modified, value),
            "recommendation" => add(&mut status.recommendation, value),
            "summary" => add(&mut self.summary, value),
            "has_errors" => status.has_errors |= is_true(value),
            "is_error" if top => self.failed |= is_true(value),
            _ => {}
        }
    }

    fn take_metadata(&mut self, value: Value<'a>) {
        let Value::Nested(raw, from) = value else { return };
        if raw.starts_with('{') {
            let end = object(raw, &mut |key, value| self.take(&key, value, false));
            let damage = end.damage.map(|damage| Damage { at: damage.at + from, ..damage });
            self.inner = damage.map(|damage| (damage, end.stopped));
        }
    }

    fn into_status(self) -> ReportedStatus {
        let recommendation = self.status.recommendation.or(self.summary);
        ReportedStatus { recommendation, ..self.status }
    }
}

/// A value as a word; null is none.
fn worded(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value {
        Value::Text(inside) => Some(unescaped(inside)),
        Value::Bare("null" | "None") | Value::CutText(_) => None,
        Value::Bare(raw) | Value::Nested(raw, _) => Some(Cow::Borrowed(raw)),
    }
}

fn is_true(value: Value<'_>) -> bool {
    worded(value).is_some_and(|truth| truth.eq_ignore_ascii_case("true"))
}

/// Notes a value. A second one that differs is noted beside it: together they are no word that means anything.
fn add(place: &mut Option<String>, value: Value<'_>) {
    let Some(word) = worded(value).map(|word| short(&word, VALUE)) else { return };
    match place {
        Some(said) if said.eq_ignore_ascii_case(&word) || said.len() > VALUE => {}
        Some(said) => *said = format!("{said} and {word}"),
        None => *place = Some(word),
    }
}

#[cfg(test)]
mod tests;
