//! Reads an output that is already there, whole and of any size, whatever its format: what `ralph analyze`
//! uses. The same readers as in a run, fed from memory.

use crate::claude::reader::ClaudeReader;
use crate::command::CommandReader;
use crate::output::Output;
use crate::seam::{Activity, Exit, Reader, Reply};
use memchr::memchr;

/// Reads everything. `agent` picks the reader (none: detect); an `exit` without code and signal is unknown.
pub fn read_all(bytes: &[u8], agent: Option<&str>, exit: Exit) -> Reply {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut output = Output::new();
    let mut out = Vec::new();
    if !(may_be_document(bytes) && output.document(bytes, &mut out)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            output.line(rest.get(..end).unwrap_or(rest), &mut out, |text| Activity::Noise { text });
            out.clear();
            rest = rest.get(end + 1..).unwrap_or(&[]);
        }
    }
    let reader: Box<dyn Reader> = match agent {
        Some("claude" | "sim") => Box::new(ClaudeReader::of(output)),
        _ => Box::new(CommandReader::of(output)),
    };
    reader.close(exit)
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
    use crate::seam::Format;
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
            ("{\"result\":\"cut", Format::Text, "{\"result\":\"cut"),
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
