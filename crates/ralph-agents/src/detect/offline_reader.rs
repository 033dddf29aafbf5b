//! Feeds an agent's reader with an output that comes in pieces of any size: by lines, or as one document where it
//! is one. Memory stays bounded however long the output is. `detect.rs` says whose it is, `array.rs` cuts arrays.

use super::array::Array;
use super::{SAMPLE, lines, whose};
use crate::call::Exit;
use crate::output::aborted;
use crate::reader::{Reader, ReaderEvent};
use crate::registry::find;
use crate::reply::{Format, Reply};
use memchr::{memchr, memrchr};
use serde::de::IgnoredAny;

/// How much is held at most.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Before it is decided whose output it is and what shape it has.
    sample: usize,
    /// Of a line that does not begin like JSON: a final message keeps less of it.
    line: usize,
    /// Of an array, before it is cut into its objects.
    array: usize,
    /// Of a document, or of a line that begins like JSON.
    document: usize,
}

const BOUNDS: Bounds = Bounds { sample: SAMPLE, line: 4 << 20, array: 4 << 20, document: 64 << 20 };
const BOM: &[u8] = b"\xef\xbb\xbf";

/// What the output looks like so far.
enum Shape {
    /// Too little was seen.
    Unknown,
    /// Its first line begins like JSON; perhaps there is no other. Has it ended?
    OneLine(bool),
    /// One JSON document over many lines, held whole.
    Document,
    /// One long array, cut into its objects.
    Array(Array),
    /// An event or some text on each line.
    Lines,
}

/// Reads an output that comes piece by piece.
pub struct OfflineReader {
    bounds: Bounds,
    agent: Option<String>,
    reader: Option<Box<dyn Reader>>,
    shape: Shape,
    /// What came and was not read yet.
    held: Vec<u8>,
    /// The held line lost its beginning.
    cut: bool,
    /// Bytes of overlong lines that were let go.
    dropped: u64,
}

impl OfflineReader {
    /// Nothing read yet. `agent` picks the reader (none, or an unknown name: found out).
    pub fn new(agent: Option<&str>) -> OfflineReader {
        OfflineReader::within(BOUNDS, agent)
    }

    fn within(bounds: Bounds, agent: Option<&str>) -> OfflineReader {
        let (agent, shape, held) = (agent.map(str::to_owned), Shape::Unknown, Vec::new());
        OfflineReader { bounds, agent, reader: None, shape, held, cut: false, dropped: 0 }
    }

    /// The next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.shape {
            Shape::Lines => self.by_lines(bytes),
            Shape::Array(array) => feed_array(array, bytes, self.bounds, &mut self.reader),
            Shape::Unknown => {
                self.held.extend_from_slice(bytes);
                if self.held.len() >= self.bounds.sample {
                    self.begin();
                }
            }
            Shape::OneLine(ended) => {
                let ended = *ended;
                self.held.extend_from_slice(bytes);
                self.look_on(bytes, ended);
            }
            Shape::Document => {
                self.held.extend_from_slice(bytes);
                self.bound();
            }
        }
    }

    /// The output ended; gives the result of the call.
    pub fn close(mut self, exit: Exit) -> Reply {
        if matches!(self.shape, Shape::Unknown) {
            self.begin();
        }
        self.choose();
        let Some(mut reader) = self.reader.take() else { return Reply::default() };
        let mut out = Vec::new();
        let held = std::mem::take(&mut self.held);
        let document = matches!(self.shape, Shape::OneLine(_) | Shape::Document);
        if !(document && reader.read_document(&held, &mut out)) {
            read_lines(&held, reader.as_mut());
        }
        let mut reply = reader.close(exit);
        if let Shape::Array(array) = &self.shape {
            reply.format = Format::Json;
            if !array.is_whole() {
                return Reply { text: String::new(), finished: false, failure: Some(aborted(exit)), ..reply };
            }
        }
        if reply.format == Format::Text {
            reply.text_bytes = reply.text_bytes.saturating_add(self.dropped);
        }
        reply
    }

    /// Takes the reader of whoever printed what is held; a document shows that only as a whole.
    fn choose(&mut self) {
        if self.reader.is_none() {
            let named = self.agent.as_deref().and_then(|name| find(name).ok());
            let agent = named.or_else(|| find(whose(&self.held)).ok());
            self.reader = agent.map(|agent| agent.offline_reader());
        }
    }

    /// Enough was seen to say how it is to be read.
    fn begin(&mut self) {
        if self.held.starts_with(BOM) {
            self.held.drain(..BOM.len());
        }
        match begins(&self.held) {
            (Some(b'['), Some(b'{')) => {
                self.shape = Shape::Document;
                self.bound();
            }
            (Some(b'{'), Some(b'"')) => {
                let first = self.held.trim_ascii_start().to_vec();
                self.look_on(&first, false);
            }
            _ => self.go_by_lines(),
        }
    }

    /// The first line may be the whole document, the first of a document's many, or an event among others.
    /// `fresh` is what came last, `ended` says that the line ended before it.
    fn look_on(&mut self, fresh: &[u8], ended: bool) {
        let end = if ended { Some(0) } else { memchr(b'\n', fresh) };
        let after = end.and_then(|end| fresh.get(end..)).unwrap_or_default();
        self.shape = Shape::OneLine(end.is_some());
        if !after.trim_ascii().is_empty() {
            let held = self.held.trim_ascii_start();
            let first = held.get(..memchr(b'\n', held).unwrap_or(held.len())).unwrap_or(held);
            if serde_json::from_slice::<IgnoredAny>(first).is_ok() {
                return self.go_by_lines();
            }
            self.shape = Shape::Document;
        }
        self.bound();
    }

    /// A document that is too long to be held is cut, or was none.
    fn bound(&mut self) {
        let array = begins(&self.held).0 == Some(b'[');
        if array && self.held.len() > self.bounds.array {
            let mut array = Array::default();
            array.feed(&self.held, 0, &mut |_| {});
            if array.is_broken() {
                return self.go_by_lines();
            }
            array = Array::default();
            self.choose();
            let held = std::mem::take(&mut self.held);
            feed_array(&mut array, &held, self.bounds, &mut self.reader);
            self.shape = Shape::Array(array);
        } else if self.held.len() > self.bounds.document {
            self.go_by_lines();
        }
    }

    fn go_by_lines(&mut self) {
        self.choose();
        self.shape = Shape::Lines;
        let held = std::mem::take(&mut self.held);
        self.by_lines(&held);
    }

    fn by_lines(&mut self, mut bytes: &[u8]) {
        if !self.held.is_empty() {
            let end = memchr(b'\n', bytes);
            self.hold(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes));
            let Some(end) = end else { return };
            bytes = bytes.get(end + 1..).unwrap_or_default();
            let line = std::mem::take(&mut self.held);
            self.cut = false;
            self.read(&line);
        }
        let whole = memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let (complete, begun) = bytes.split_at(whole);
        self.read(complete);
        self.hold(begun);
    }

    fn read(&mut self, bytes: &[u8]) {
        if let Some(reader) = self.reader.as_deref_mut() {
            read_lines(bytes, reader);
        }
    }

    /// Holds on to a line that goes on. Of one that is too long the beginning is let go.
    fn hold(&mut self, piece: &[u8]) {
        self.held.extend_from_slice(piece);
        let json = !self.cut && matches!(begins(&self.held).0, Some(b'{' | b'['));
        let most = if json { self.bounds.document } else { self.bounds.line };
        if self.held.len() > most {
            let gone = self.held.len() - self.bounds.line / 2;
            self.held.drain(..gone);
            self.held.shrink_to(self.bounds.line * 2);
            self.dropped = self.dropped.saturating_add(gone as u64);
            self.cut = true;
        }
    }
}

/// The first two characters that are not white space.
fn begins(bytes: &[u8]) -> (Option<u8>, Option<u8>) {
    let mut solid = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    (solid.next(), solid.next())
}

fn read_lines(bytes: &[u8], reader: &mut dyn Reader) {
    let mut out = Vec::new();
    for line in lines(bytes) {
        reader.read(line, &mut out);
        out.clear();
    }
}

fn feed_array(array: &mut Array, bytes: &[u8], bounds: Bounds, reader: &mut Option<Box<dyn Reader>>) {
    let Some(reader) = reader else { return };
    let mut out: Vec<ReaderEvent> = Vec::new();
    array.feed(bytes, bounds.document, &mut |object| {
        reader.read(object, &mut out);
        out.clear();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// So small that every shape is met by a few dozen bytes.
    const TIGHT: Bounds = Bounds { sample: 8, line: 64, array: 40, document: 4096 };

    fn read(bounds: Bounds, bytes: &[u8], piece: usize) -> Reply {
        let mut offline_reader = OfflineReader::within(bounds, Some("claude"));
        bytes.chunks(piece).for_each(|piece| offline_reader.feed(piece));
        offline_reader.close(Exit::default())
    }

    /// Outputs of every shape, and text that only looks like one.
    const OUTPUTS: &[&str] = &[
        "",
        "\u{feff}plain words\nand more of them, in a line that is long enough\n",
        "{\"type\":\"result\",\"result\":\"one line\"}",
        "{\"result\":\"an older tool\",\"session_id\":\"s\"}\n\n",
        "  {\"result\":\"an older tool\",\"session_id\":\"s\"}  \r\n",
        "{\n\"type\":\"result\",\n\"result\":\"over lines\"\n}\n",
        "{\"type\":\"system\",\"session_id\":\"s\"}\n{\"type\":\"result\",\"result\":\"by lines\"}\n",
        "chatter\n{\"type\":\"result\",\"result\":\"after chatter\"}",
        "[{\"type\":\"system\",\"session_id\":\"s\"},{\"type\":\"result\",\"result\":\"in an array\"}]",
        "[\n{\"type\":\"system\",\"session_id\":\"s\"},\n{\"type\":\"result\",\"result\":\"in an array\"}\n]\n",
        "[INFO] a log\n[INFO] that goes on and on and on\n",
        "[{not json} but text] that goes on\nfor a while\n",
        "{brace} in the text\nthat goes on\n",
        "{\"cut\": \"short",
    ];

    #[test]
    fn neither_the_pieces_nor_the_bounds_change_what_is_read() {
        for output in OUTPUTS {
            let whole = read(BOUNDS, output.as_bytes(), usize::MAX);
            for piece in 1..=output.len().max(1) {
                assert_eq!(read(BOUNDS, output.as_bytes(), piece), whole, "{output}");
                let tight = read(Bounds { array: 4096, ..TIGHT }, output.as_bytes(), piece);
                assert_eq!(tight, whole, "{output} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn a_long_array_is_cut_and_must_be_whole() {
        let array = OUTPUTS[8];
        for piece in 1..=array.len() {
            let reply = read(TIGHT, array.as_bytes(), piece);
            assert_eq!((reply.text.as_str(), reply.format), ("in an array", Format::Json), "{piece}");
            let cut = read(TIGHT, &array.as_bytes()[..array.len() - 1], piece);
            assert!(cut.failure.is_some() && cut.text.is_empty() && !cut.finished, "{piece}");
        }
        let text = "[{no} array] but text that goes on\nfor a while\n";
        assert_eq!(read(TIGHT, text.as_bytes(), 50), read(BOUNDS, text.as_bytes(), 50));
    }

    #[test]
    fn an_overlong_line_keeps_its_end_and_its_length() {
        let text = format!("first\n{}end", "x".repeat(1000));
        for piece in [1, 7, 64, 2000] {
            let reply = read(TIGHT, text.as_bytes(), piece);
            assert_eq!(reply.text_bytes, text.len() as u64);
            assert!(reply.text.ends_with("xend") && reply.text.len() < 100, "{}", reply.text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_mixture_in_any_pieces_reads_as_it_does_whole(
            parts in prop::collection::vec((0..OUTPUTS.len(), "[\\[\\]{}\",\\\\a\\n ]{0,12}"), 0..4),
            piece in 1..200usize,
        ) {
            let text: String = parts.iter().map(|(nth, noise)| format!("{}{noise}", OUTPUTS[*nth])).collect();
            let whole = read(BOUNDS, text.as_bytes(), usize::MAX);
            prop_assert_eq!(read(BOUNDS, text.as_bytes(), piece), whole);
            read(TIGHT, text.as_bytes(), piece);
        }
    }
}
