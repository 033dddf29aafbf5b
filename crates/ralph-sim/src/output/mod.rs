//! Prints what Claude Code 2.1.325 prints: `init` the first event, `turn` one model turn with its stream events, `tool` a
//! tool result, `ending` the final result. `perform` decides what is printed.
//!
//! A broken stdout is ignored, as Claude does: it keeps working until it is stopped.

mod ending;
mod init;
mod tool;
mod turn;

pub use ending::{Ending, Last};
pub use init::VERSION;
pub use tool::Answer;
pub use turn::{Block, Cost};

use crate::ids::Ids;
use crate::object::Object;
use crate::price::{Price, Tokens};
use crate::script::CostSays;
use std::io::Write;
use std::time::Instant;

/// The shape of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One event per line.
    #[default]
    Stream,
    /// The result alone, as one line of JSON.
    Json,
    /// The final message alone.
    Text,
}

/// Session settings that appear in the output.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// Shape of the output.
    pub format: Format,
    /// Whether stream events are printed.
    pub partial: bool,
    /// Model name.
    pub model: String,
    /// Conversation id.
    pub session: String,
    /// Permission mode, as told in `init`.
    pub permission_mode: String,
    /// The directory it works in.
    pub cwd: String,
}

/// Prints events and adds up the cost.
pub struct Output {
    out: Box<dyn Write>,
    info: SessionInfo,
    price: Price,
    /// Source of ids and noise.
    pub ids: Ids,
    /// The cost the result reports.
    pub cost_says: CostSays,
    denials: Vec<Object>,
    used: Tokens,
    micro: u64,
    turns: u32,
    started: Instant,
}

impl Output {
    /// An output without any events yet.
    pub fn new(out: Box<dyn Write>, info: SessionInfo, ids: Ids) -> Output {
        let price = Price::of(&info.model);
        Output {
            out,
            info,
            price,
            ids,
            cost_says: CostSays::Truth,
            denials: Vec::new(),
            used: Tokens::default(),
            micro: 0,
            turns: 0,
            started: Instant::now(),
        }
    }

    /// The session settings.
    pub fn info(&self) -> &SessionInfo {
        &self.info
    }

    /// Model turns so far.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Micro-dollars spent so far.
    pub fn spent(&self) -> u64 {
        self.micro
    }

    /// Bytes as they are, at once.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let _ = self.out.write_all(bytes).and_then(|()| self.out.flush());
    }

    /// A line as it is, whatever the format.
    pub fn line(&mut self, text: &str) {
        self.bytes(format!("{text}\n").as_bytes());
    }

    /// An event: a line, where the format shows events.
    pub fn event(&mut self, event: &Object) {
        if self.info.format == Format::Stream {
            self.line(&event.text());
        }
    }

    /// A `system` event with its subtype, still without session and uuid.
    pub fn system(subtype: &str) -> Object {
        Object::new().put("type", "system").put("subtype", subtype)
    }

    /// Ends an event with session and uuid.
    pub fn sign(&mut self, event: Object) -> Object {
        event.put("session_id", &self.info.session).put("uuid", self.ids.uuid())
    }
}

#[cfg(test)]
mod tests;
