//! One model turn: a message of one or more blocks. As with Claude, each block becomes an `assistant` event of
//! its own, all with the same message id and the same usage whose output is a placeholder; the true usage is
//! only in the stream events and in the result.

use super::{Format, Output};
use crate::clock;
use crate::object::Object;
use crate::price::Tokens;

/// A part of a message.
pub enum Block<'a> {
    /// Words.
    Text(&'a str),
    /// A tool to be used.
    Tool {
        /// Id the answer refers to.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
        /// Its arguments.
        input: Object,
    },
}

/// What a turn costs.
#[derive(Clone, Copy, Debug)]
pub enum Cost {
    /// These tokens, at list price.
    Tokens(Tokens),
    /// This many micro-dollars; the tokens follow.
    Micro(u64),
}

/// Text arrives in pieces of about this many bytes, or in this many pieces if it is long.
const PIECE: usize = 40;

impl Output {
    /// One whole turn; `stop` is Claude's `stop_reason`.
    pub fn turn(&mut self, blocks: &[Block<'_>], stop: &str, cost: Cost) {
        let (tokens, micro) = match cost {
            Cost::Tokens(tokens) => (tokens, self.price.cost(tokens)),
            Cost::Micro(micro) => (self.price.tokens(micro), micro),
        };
        self.used = self.used.plus(tokens);
        self.micro = self.micro.saturating_add(micro);
        self.turns += 1;
        if self.info.format != Format::Stream {
            return;
        }
        let message = self.ids.named("msg");
        let request = self.ids.named("req");
        let placeholder = usage(Tokens { output: 1, ..tokens });
        self.message_start(&message, &placeholder);
        for (index, block) in blocks.iter().enumerate() {
            self.block(&message, &request, &placeholder, index, block);
        }
        let delta = Object::new().put("stop_reason", stop).put("stop_sequence", None::<u8>);
        let event =
            Object::new().put("type", "message_delta").put("delta", delta).put("usage", usage(tokens));
        self.streamed(&message, event);
        self.streamed(&message, Object::new().put("type", "message_stop"));
    }

    fn message_start(&mut self, id: &str, usage: &Object) {
        if !self.info.partial {
            return;
        }
        let status = self.sign(Output::system("status").put("status", "requesting"));
        self.event(&status);
        let message = Object::new()
            .put("id", id)
            .put("type", "message")
            .put("role", "assistant")
            .put("model", &self.info.model)
            .put("content", [(); 0])
            .put("stop_reason", None::<u8>)
            .put("stop_sequence", None::<u8>)
            .put("usage", usage);
        self.streamed(id, Object::new().put("type", "message_start").put("message", message));
    }

    fn block(&mut self, message: &str, request: &str, usage: &Object, index: usize, block: &Block<'_>) {
        let (empty, full, deltas) = parts(block);
        let event = |kind: &str| Object::new().put("type", kind).put("index", index);
        self.streamed(message, event("content_block_start").put("content_block", empty));
        for delta in deltas {
            self.streamed(message, event("content_block_delta").put("delta", delta));
        }
        let body = Object::new()
            .put("id", message)
            .put("type", "message")
            .put("role", "assistant")
            .put("model", &self.info.model)
            .put("content", [full])
            .put("stop_reason", None::<u8>)
            .put("stop_sequence", None::<u8>)
            .put("usage", usage)
            .put("context_management", None::<u8>);
        let assistant =
            Object::new().put("type", "assistant").put("message", body).put("parent_tool_use_id", None::<u8>);
        let assistant =
            self.sign(assistant).put("timestamp", clock::stamp(clock::now())).put("request_id", request);
        self.event(&assistant);
        self.streamed(message, event("content_block_stop"));
    }

    fn streamed(&mut self, message: &str, event: Object) {
        if self.info.partial {
            let event = Object::new()
                .put("type", "stream_event")
                .put("event", event)
                .put("session_id", &self.info.session)
                .put("parent_tool_use_id", None::<u8>)
                .put("uuid", self.ids.uuid())
                .put("api_message_id", message);
            self.event(&event);
        }
    }
}

/// A block as it starts, as it ends, and the pieces in between.
fn parts(block: &Block<'_>) -> (Object, Object, Vec<Object>) {
    match block {
        Block::Text(text) => {
            let words = |text: &str| Object::new().put("type", "text").put("text", text);
            let delta = |piece: &str| Object::new().put("type", "text_delta").put("text", piece);
            (words(""), words(text), pieces(text).map(delta).collect())
        }
        Block::Tool { id, name, input } => {
            let tool = Object::new().put("type", "tool_use").put("id", id).put("name", name);
            let delta = Object::new().put("type", "input_json_delta").put("partial_json", input.text());
            (tool.clone().put("input", Object::new()), tool.put("input", input), vec![delta])
        }
    }
}

/// The text in pieces that never split a character.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let length = PIECE.max(text.len() / PIECE);
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(length));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Usage as a message reports it.
fn usage(tokens: Tokens) -> Object {
    Object::new()
        .put("input_tokens", tokens.input)
        .put("cache_creation_input_tokens", tokens.cache_write)
        .put("cache_read_input_tokens", tokens.cache_read)
        .put("output_tokens", tokens.output)
        .put("service_tier", "standard")
}
