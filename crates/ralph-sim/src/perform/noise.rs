//! Too much output, and broken output.

use super::Performer;
use super::tools::bash;
use crate::object::Object;
use crate::output::{Answer, Format};
use std::thread;
use std::time::Duration;

/// About the length of one line of a flood.
const LINE: usize = 8_000;
/// Long lines are written in pieces of this size, so that memory stays small.
const PIECE: u64 = 64 * 1024;

/// Lines no reader can like: cut JSON, other JSON, NUL, bytes that are no UTF-8, words before an event, bare CR.
const BROKEN: [&[u8]; 10] = [
    b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"te\n",
    b"}{\n",
    b"[1,2,3]\n",
    b"null\n",
    b"\n",
    b"nul \0 inside\n",
    b"\xff\xfe not utf-8 \xc3\x28\n",
    b"{\"type\":\"user\",\"message\":\"\xe2\x82\"}\n",
    b"Warning: something {\"type\":\"system\",\"subtype\":\"status\"}\n",
    b"progress 10%\rprogress 99%\r\n",
];

impl Performer<'_> {
    /// At least this many bytes of tool results, one event per line.
    pub fn flood(&mut self, size: u64) {
        let filler = self.output.ids.filler(LINE);
        let line = match self.output.info().format {
            Format::Stream => {
                let id = self.ask("Bash", bash("make -j8"));
                self.output.answer_event(&id, &Answer::good(filler)).text()
            }
            Format::Json | Format::Text => filler,
        };
        let length = u64::try_from(line.len() + 1).unwrap_or(u64::MAX);
        for _ in 0..size.div_ceil(length) {
            self.output.line(&line);
        }
    }

    /// One tool result of about this many bytes, on one line.
    pub fn long_line(&mut self, size: u64) {
        let (before, after) = match self.output.info().format {
            Format::Stream => {
                let id = self.ask("Bash", bash("cat big.json"));
                let content =
                    Object::new().put("tool_use_id", id).put("type", "tool_result").put("content", "@");
                let message = Object::new().put("role", "user").put("content", [content]);
                let event =
                    self.output.sign(Object::new().put("type", "user").put("message", message)).text();
                let (before, after) = event.split_once('@').unwrap_or((&event, ""));
                (before.to_owned(), after.to_owned())
            }
            Format::Json | Format::Text => (String::new(), String::new()),
        };
        self.output.bytes(before.as_bytes());
        let piece = "x".repeat(usize::try_from(PIECE).unwrap_or(1));
        let mut left = size;
        while left > 0 {
            let part = left.min(PIECE);
            self.output.bytes(piece.get(..usize::try_from(part).unwrap_or(0)).unwrap_or("").as_bytes());
            left -= part;
        }
        self.output.line(&after);
    }

    /// Broken lines, then a good event that arrives in two halves, cut inside a character.
    pub fn garble(&mut self) {
        for line in BROKEN {
            self.output.bytes(line);
        }
        let text = "a café, cut in the middle of its é";
        let event = match self.output.info().format {
            Format::Stream => {
                self.output.answer_event("toolu_sim_garbled", &Answer::good(text)).text() + "\n"
            }
            Format::Json | Format::Text => format!("{text}\n"),
        };
        let cut = event.find('é').map_or(0, |at| at + 1);
        let (one, two) = event.as_bytes().split_at(cut);
        self.output.bytes(one);
        thread::sleep(Duration::from_millis(20));
        self.output.bytes(two);
    }
}
