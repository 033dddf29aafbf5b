//! What streams carry: every event is written once as text and shared by all streams.

use crate::answer::json_len;
use bytes::Bytes;
use ralph_store::Position;
use ralph_view::activity_line::ActivityLine;
use ralph_view::board::{CardChange, News, RunActivity};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Bytes of lines in one event at most.
const LINES: usize = 64 * 1024;

/// Said when nothing else was, so that both ends know of each other.
pub fn keep_alive() -> Bytes {
    Bytes::from_static(b": keep-alive\n\n")
}

/// An event as it is sent. JSON has no line breaks of its own, so nothing in it can end the event or begin another.
fn event(name: &str, id: Option<Position>, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_else(|_| "{}".to_owned());
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("event: {name}\n{id}data: {data}\n\n").into()
}

/// Everything has to be read again.
pub fn reset(position: Position) -> Bytes {
    event("reset", Some(position), &json!({}))
}

/// The database cannot be read, or can be read again.
pub fn trouble(text: Option<&str>) -> Bytes {
    event("trouble", None, &json!({ "text": text }))
}

/// A run that changed.
pub fn run(position: Option<Position>, change: &CardChange) -> Bytes {
    event("run", position, change)
}

/// What an agent said and did, for those who look at the run: as many of its latest lines as fit.
pub fn activity(activity: &RunActivity) -> Bytes {
    let mut room = LINES;
    let fits = |line: &&ActivityLine| {
        let rest = room.checked_sub(json_len(line) + 1);
        room = rest.unwrap_or_default();
        rest.is_some()
    };
    let latest = activity.lines.iter().rev().take_while(fits).count();
    if latest == activity.lines.len() {
        return event("activity", None, activity);
    }
    let mut shorter = activity.clone();
    shorter.lines.drain(..activity.lines.len() - latest);
    event("activity", None, &shorter)
}

/// The same in brief, for everybody else: without its lines.
pub fn brief(activity: &RunActivity) -> Bytes {
    let mut value = serde_json::to_value(activity).unwrap_or_default();
    if let Some(lines) = value.get_mut("lines") {
        *lines = Value::Array(Vec::new());
    }
    event("activity", None, &value)
}

/// The runs that changed, each with the position of its newest record among the news, in that order. One that changed
/// without a record has none and comes last.
pub fn in_order(news: &News) -> Vec<(Option<Position>, &CardChange)> {
    let mut newest: HashMap<&str, Position> = HashMap::new();
    for record in &news.records {
        newest.insert(&record.run, record.position);
    }
    let position = |change: &CardChange| newest.get(change.card.run.row.id.as_str()).copied();
    let mut changes: Vec<_> = news.changes.iter().map(|change| (position(change), change)).collect();
    changes.sort_by_key(|(position, _)| position.unwrap_or(Position::MAX));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_rules::record::Attempt;
    use ralph_view::activity_line::LineKind;
    use ralph_view::board::ShownCall;

    #[test]
    fn nothing_in_an_event_ends_it_or_begins_another() {
        let hostile = "x\n\nevent: reset\r\nid: 999\ndata: {}\r\r\u{2028}\u{85}";
        let text = trouble(Some(hostile));
        let text = std::str::from_utf8(&text).unwrap();
        assert_eq!(text.matches('\n').count(), 3, "{text:?}");
        assert!(!text.contains('\r') && text.ends_with("\n\n"));
        let data = text.lines().nth(1).unwrap().strip_prefix("data: ").unwrap();
        assert_eq!(serde_json::from_str::<Value>(data).unwrap()["text"], hostile);
    }

    #[test]
    fn of_very_many_lines_the_latest_are_sent() {
        let line = |n| ActivityLine {
            n,
            at: None,
            kind: LineKind::Said,
            name: String::new(),
            text: "x".repeat(4_000),
            tool: None,
        };
        let said = |lines: u64| RunActivity {
            run: "0199".into(),
            call: ShownCall { id: Attempt { iteration: 1, attempt: 1 }, review: false },
            lines: (1..=lines).map(line).collect(),
            doing: None,
            live_micro: None,
        };
        let sent = |lines: u64| {
            let event = activity(&said(lines));
            assert!(event.len() < LINES + 1_000, "{} bytes", event.len());
            let text = std::str::from_utf8(&event).unwrap();
            let data = text.lines().nth(1).unwrap().strip_prefix("data: ").unwrap();
            let lines = serde_json::from_str::<Value>(data).unwrap()["lines"].take();
            lines.as_array().unwrap().iter().map(|line| line["n"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(sent(3), [1, 2, 3]);
        assert_eq!(sent(500), (485..=500).collect::<Vec<_>>());
    }

    #[test]
    fn the_frames_of_an_event() {
        assert_eq!(reset(7), "event: reset\nid: 7\ndata: {}\n\n");
        assert_eq!(trouble(None), "event: trouble\ndata: {\"text\":null}\n\n");
    }
}
