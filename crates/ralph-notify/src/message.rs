//! Notes → the body and headers of a request, or the title and text for a program. Several notes make one digest.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use ralph_rules::notice::Event;
use ralph_rules::record::Ms;
use ralph_store::OutboxEntry;
use ralph_view::note::Note;
use serde_json::{Value, json};

/// Notes that a digest has as whole lines; of more only the number is said.
const LINES: usize = 50;

/// What the body of a webhook looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON by the Standard Webhooks specification.
    #[default]
    Standard,
    /// What Slack, and others that imitate it, accept.
    Slack,
    /// What an ntfy topic accepts.
    Ntfy,
}

impl Format {
    /// The words for it, the default first.
    pub const WORDS: [&'static str; 3] = ["standard", "slack", "ntfy"];

    /// The format of this name.
    pub fn of(word: &str) -> Option<Format> {
        [Format::Standard, Format::Slack, Format::Ntfy].into_iter().find(|format| format.name() == word)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Standard => "standard",
            Format::Slack => "slack",
            Format::Ntfy => "ntfy",
        }
    }
}

/// What is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    pub headers: Vec<(String, String)>,
    pub bytes: Vec<u8>,
}

/// One note, or several that were kept during quiet hours.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    id: String,
    notes: Vec<Note>,
}

impl Message {
    /// Of rows of the outbox. A row that cannot be read is left out: a newer ralph may have written it.
    pub fn of(entries: &[OutboxEntry]) -> Option<Message> {
        let notes: Vec<Note> =
            entries.iter().filter_map(|entry| serde_json::from_str(&entry.row.body).ok()).collect();
        let id = message_id(entries.iter().map(|entry| entry.row.id.as_str()));
        (!notes.is_empty()).then_some(Message { id, notes })
    }

    /// A note of its own.
    pub fn single(id: &str, note: Note) -> Message {
        Message { id: message_id([id].into_iter()), notes: vec![note] }
    }

    /// Names it for the receiver: the same at every attempt.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// One line, which begins with a word of ralph's.
    pub fn title(&self) -> String {
        match self.notes.as_slice() {
            [note] => note.title(),
            notes => format!("ralph: {} notes", notes.len()),
        }
    }

    /// The text, which begins with a word of ralph's.
    pub fn text(&self) -> String {
        match self.notes.as_slice() {
            [note] => note.text(),
            notes => {
                let mut lines: Vec<String> = notes.iter().take(LINES).map(Note::line).collect();
                if notes.len() > LINES {
                    lines.push(format!("and {} more", notes.len() - LINES));
                }
                lines.join("\n")
            }
        }
    }

    /// The body in a format.
    pub fn body(&self, format: Format) -> Body {
        match format {
            Format::Standard => json_body(&self.standard()),
            Format::Slack => {
                let text = format!("*{}*\n{}", escaped(&self.title()), escaped(&self.text()));
                json_body(&json!({ "text": text }))
            }
            Format::Ntfy => self.ntfy(),
        }
    }

    fn standard(&self) -> Value {
        match self.notes.as_slice() {
            [note] if note.run.is_empty() => envelope("notify.test", note.at, &json!(note)),
            [note] => envelope(&format!("run.{}", note.event), note.at, &json!(note)),
            notes => {
                let at = notes.iter().map(|note| note.at).max().unwrap_or(0);
                envelope("run.digest", at, &json!({ "notes": notes }))
            }
        }
    }

    fn ntfy(&self) -> Body {
        let urgent = [Event::Blocked, Event::Crashed].map(Event::name);
        let priority = if self.notes.iter().any(|n| urgent.contains(&n.event.as_str())) { "4" } else { "3" };
        let title = self.title();
        // A header is ASCII; what is not goes in the encoding that mail has for it.
        let title = if title.is_ascii() { title } else { format!("=?UTF-8?B?{}?=", STANDARD.encode(title)) };
        let headers =
            [("content-type", "text/plain; charset=utf-8"), ("title", &title), ("priority", priority)];
        let headers = headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Body { headers, bytes: self.text().into_bytes() }
    }
}

fn message_id<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let hash = blake3::hash(ids.collect::<Vec<_>>().join("\n").as_bytes()).to_hex();
    format!("msg_{}", hash.get(..32).unwrap_or_default())
}

fn envelope(kind: &str, at: Ms, data: &Value) -> Value {
    let timestamp = Timestamp::from_millisecond(at).unwrap_or_default().to_string();
    json!({ "type": kind, "timestamp": timestamp, "data": data })
}

fn json_body(value: &Value) -> Body {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Body { headers, bytes: value.to_string().into_bytes() }
}

/// The three characters that Slack reads as markup; without them there is no link and no mention.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_store::OutboxRow;

    fn note(event: &str, task: &str) -> Note {
        Note {
            event: event.into(),
            at: 1_794_700_800_000,
            run: "0198c1d2-aaaa-7bbb-8ccc-12341f0f7559".into(),
            workspace: "pärser".into(),
            task: task.into(),
            agent: "claude".into(),
            status: "COMPLETED".into(),
            why: "verification passed".into(),
            next: "ralph diff 1f0f7559".into(),
            cost_is_complete: true,
            ..Note::default()
        }
    }

    fn entries(notes: &[Note]) -> Vec<OutboxEntry> {
        let row = |(nth, note): (usize, &Note)| OutboxRow {
            id: format!("row {nth}"),
            body: serde_json::to_string(note).unwrap(),
            ..OutboxRow::default()
        };
        notes.iter().enumerate().map(row).map(|row| OutboxEntry { row, ..OutboxEntry::default() }).collect()
    }

    #[test]
    fn every_format_says_the_same() {
        let message = Message::of(&entries(&[note("completed", "Fix <!channel> & co")])).unwrap();
        let standard: Value = serde_json::from_slice(&message.body(Format::Standard).bytes).unwrap();
        assert_eq!(standard["type"], "run.completed");
        assert_eq!(standard["timestamp"], "2026-11-15T00:00:00Z");
        assert_eq!(standard["data"]["task"], "Fix <!channel> & co");
        assert_eq!(standard["data"]["next"], "ralph diff 1f0f7559");
        let slack: Value = serde_json::from_slice(&message.body(Format::Slack).bytes).unwrap();
        let text = slack["text"].as_str().unwrap();
        assert!(text.contains("Fix &lt;!channel&gt; &amp; co") && !text.contains('<'), "{text}");
        let ntfy = message.body(Format::Ntfy);
        assert_eq!(ntfy.headers[1].1, "=?UTF-8?B?cmFscGg6IGNvbXBsZXRlZCBpbiBww6Ryc2Vy?=");
        assert!(String::from_utf8(ntfy.bytes).unwrap().starts_with("ralph run 1f0f7559 in pärser"));
    }

    #[test]
    fn several_notes_are_one_digest_with_an_id_of_its_own() {
        let many: Vec<Note> = (0..60).map(|n| note("stopped", &format!("task {n}"))).collect();
        let digest = Message::of(&entries(&many)).unwrap();
        assert_eq!(digest.title(), "ralph: 60 notes");
        assert_eq!(digest.text().lines().count(), LINES + 1);
        assert!(digest.text().ends_with("and 10 more"));
        let standard: Value = serde_json::from_slice(&digest.body(Format::Standard).bytes).unwrap();
        assert_eq!(
            (standard["type"].as_str(), standard["data"]["notes"][59]["task"].as_str()),
            (Some("run.digest"), Some("task 59"))
        );
        assert_eq!(digest.id(), Message::of(&entries(&many)).unwrap().id());
        assert_ne!(digest.id(), Message::of(&entries(&many[..1])).unwrap().id());
    }

    #[test]
    fn a_row_of_a_newer_ralph_is_left_out() {
        let mut rows = entries(&[note("completed", "a"), note("completed", "b")]);
        rows[0].row.body = "{\"other\":1}".into();
        assert!(Message::of(&rows).unwrap().text().contains(": b"));
        assert_eq!(Message::of(&rows[..1]), None);
    }
}
