//! Reads an output that exists already, of any size and whatever its format: what `ralph analyze` uses. The same
//! readers as in a run; `detect/offline_reader.rs` feeds them piece by piece, `detect/array.rs` cuts long arrays.

mod array;
mod offline_reader;

pub use offline_reader::OfflineReader;

use crate::agent_info::{Detect, EventCount};
use crate::call::Exit;
use crate::dialect::{Dialect, LineKind};
use crate::registry::AGENTS;
use crate::reply::Reply;
use memchr::memchr;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// How much of an output is looked at to find out whose it is.
const SAMPLE: usize = 256 << 10;
/// How many lines are searched for an agent's banner.
const BANNER_LINES: usize = 40;
/// The agent whose output is any text.
const ANY_PROGRAM: &str = "command";

/// Reads everything. `agent` picks the reader (none: found out); an `exit` without code and signal is unknown.
pub fn read_all(bytes: &[u8], agent: Option<&str>, exit: Exit) -> Reply {
    let mut offline_reader = OfflineReader::new(agent);
    offline_reader.feed(bytes);
    offline_reader.close(exit)
}

/// The agent that printed this, by its events; any program where none is known. Where two find the same number of
/// events the one with a distinctive event wins, otherwise the earlier one in the list: some agents print Claude's format.
pub fn whose(bytes: &[u8]) -> &'static str {
    // A document is only one as a whole; of everything else the beginning is enough.
    let whole = may_be_document(bytes) && !bytes.trim_ascii_start().starts_with(b"[");
    let sample = if whole { bytes } else { bytes.get(..SAMPLE).unwrap_or(bytes) };
    let mut best = (ANY_PROGRAM, EventCount::default());
    for info in AGENTS {
        if let Detect::Events(count) = info.detect {
            let found = count(sample);
            if found > best.1 {
                best = (info.name, found);
            }
        }
    }
    if best.1.events == 0 { by_banner(sample) } else { best.0 }
}

/// The agents that print text for people and say who they are before everything else.
fn by_banner(sample: &[u8]) -> &'static str {
    let printed =
        |banner: &str| lines(sample).take(BANNER_LINES).any(|line| line.starts_with(banner.as_bytes()));
    let found = AGENTS.iter().find(|info| matches!(info.detect, Detect::Banner(banner) if printed(banner)));
    found.map_or(ANY_PROGRAM, |info| info.name)
}

/// The events of dialect `D` in a sample; for `AgentInfo::detect`.
pub(crate) fn count_events<D: Dialect>(sample: &[u8]) -> EventCount {
    let mut dialect = D::default();
    let mut events = 0;
    each_object(sample, |object| {
        events += u32::from(dialect.object(object) == LineKind::Event);
        dialect.call().events.clear();
    });
    let document = std::str::from_utf8(sample.trim_ascii()).unwrap_or("");
    if events == 0 && document.starts_with('{') && dialect.document(document) {
        events = 1;
    }
    EventCount { events, distinctive: events > 0 && dialect.is_distinctive() }
}

/// The objects of a sample: a line each, or the items of one array, the last of which may be cut.
fn each_object(sample: &[u8], mut with: impl FnMut(&str)) {
    let start = sample.trim_ascii_start();
    if start.starts_with(b"[") {
        let valid = start.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        // What cannot be read any more ends the sample; that is not an error.
        let _ = serde_json::Deserializer::from_str(valid).deserialize_seq(Items(&mut with));
        return;
    }
    for line in lines(sample).filter(|line| line.starts_with(b"{")) {
        if let Ok(text) = std::str::from_utf8(line) {
            with(text.trim_end());
        }
    }
}

struct Items<'w, W>(&'w mut W);

impl<'de, W: FnMut(&str)> Visitor<'de> for Items<'_, W> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&RawValue>()? {
            (self.0)(item.get());
        }
        Ok(())
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or(rest);
        rest = rest.get(end + 1..).unwrap_or(&[]);
        Some(line)
    })
}

/// One JSON document rather than a line per event: an array, or an object that goes on after its first line.
fn may_be_document(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii();
    let first = bytes.get(..memchr(b'\n', bytes).unwrap_or(bytes.len())).unwrap_or(bytes);
    match first.first() {
        Some(b'[') => true,
        Some(b'{') => {
            first.len() == bytes.len() || serde_json::from_slice::<serde::de::IgnoredAny>(first).is_err()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Format;
    use ralph_rules::failure::Class;

    fn read(text: &str) -> Reply {
        read_all(text.as_bytes(), None, Exit::default())
    }

    #[test]
    fn formats_are_told_apart() {
        for (text, format, message) in [
            ("plain words\n", Format::Text, "plain words"),
            ("{\"type\":\"result\",\"result\":\"r\"}", Format::Json, "r"),
            ("\u{feff}{\n\"type\":\"result\",\n\"result\":\"r\"\n}", Format::Json, "r"),
            (
                "[\n{\"type\":\"assistant\",\"message\":{}},\n{\"type\":\"result\",\"result\":\"r\"}\n]",
                Format::Json,
                "r",
            ),
            ("{\"result\":\"r\",\"session_id\":\"s\"}\n", Format::Json, "r"),
            (
                "{\"type\":\"system\",\"session_id\":\"s\"}\r\n{\"type\":\"result\",\"result\":\"r\"}\r\n",
                Format::Jsonl,
                "r",
            ),
            ("{\"result\":\"cut", Format::Json, "cut"),
            ("chatter {\"type\":\"result\",\"result\":\"r\"} \u{1b}[0m", Format::Json, "r"),
        ] {
            let reply = read(text);
            assert_eq!((reply.format, reply.text.as_str()), (format, message), "{text}");
            assert_eq!(reply.failure, None, "{text}");
        }
    }

    #[test]
    fn nothing_at_all_was_aborted() {
        for agent in [None, Some("claude"), Some("command")] {
            let reply = read_all(b"", agent, Exit::default());
            assert_eq!(reply.failure.map(|f| f.class), Some(Class::Aborted), "{agent:?}");
        }
    }

    #[test]
    fn the_last_result_wins() {
        let reply = read("{\"type\":\"result\",\"result\":\"a\"}\n{\"type\":\"result\",\"result\":\"b\"}\n");
        assert_eq!((reply.text.as_str(), reply.format), ("b", Format::Jsonl));
    }

    #[test]
    fn a_long_text_keeps_its_end_and_its_length() {
        let text = "x".repeat(3 << 20) + "end";
        let reply = read(&text);
        assert_eq!(reply.text.len(), 1 << 20);
        assert!(reply.text.ends_with("xend"));
        assert_eq!(reply.text_bytes, text.len() as u64);
        let json = format!("{{\"type\":\"result\",\"result\":\"{}\"}}", "y\\n".repeat(1 << 20));
        let reply = read(&json);
        assert_eq!((reply.text.len(), reply.text_bytes), (1 << 20, 2 << 20));
    }
}
