//! The voice: prints what Claude Code 2.1.325 prints. `init` introduces, `turn` is one model turn with its
//! stream events, `tool` a tool's answer, `ending` the result. `play` decides what is said.
//!
//! A broken stdout is ignored, as Claude does: it goes on working for nobody until it is ended.

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

/// How the agent presents itself.
#[derive(Clone, Debug)]
pub struct Persona {
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

/// Prints events and keeps the bill.
pub struct Voice {
    out: Box<dyn Write>,
    persona: Persona,
    price: Price,
    /// Source of ids and noise.
    pub ids: Ids,
    /// What the result says it cost.
    pub cost_says: CostSays,
    denials: Vec<Object>,
    used: Tokens,
    micro: u64,
    turns: u32,
    started: Instant,
}

impl Voice {
    /// A voice that has said nothing yet.
    pub fn new(out: Box<dyn Write>, persona: Persona, ids: Ids) -> Voice {
        let price = Price::of(&persona.model);
        Voice {
            out,
            persona,
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

    /// How it presents itself.
    pub fn persona(&self) -> &Persona {
        &self.persona
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
        if self.persona.format == Format::Stream {
            self.line(&event.text());
        }
    }

    /// A `system` event with its subtype, still without session and uuid.
    pub fn system(subtype: &str) -> Object {
        Object::new().put("type", "system").put("subtype", subtype)
    }

    /// Ends an event with session and uuid.
    pub fn sign(&mut self, event: Object) -> Object {
        event.put("session_id", &self.persona.session).put("uuid", self.ids.uuid())
    }
}

#[cfg(test)]
mod tests;
