//! The result of one call: final message, failure, usage, cost.

use ralph_rules::claim::ReportedStatus;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use serde::{Deserialize, Serialize};

/// The result of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The final message, at most its last MiB: the only text a claim is read from. Empty where the output
    /// ended without one; what the agent said on the way is not its final message.
    pub text: String,
    /// The final message's true length.
    pub text_bytes: u64,
    /// The status fields of a JSON reply, of which the text is a part.
    pub status: Option<ReportedStatus>,
    /// A terminal event was seen.
    pub finished: bool,
    /// Why the call failed, if it did.
    pub failure: Option<Failure>,
    /// Conversation id.
    pub session: Option<String>,
    /// Model as the agent reported it.
    pub model: Option<String>,
    /// Tokens of this call.
    pub usage: Usage,
    /// The same by model, where the agent tells of each: side requests often go to another one.
    pub models: Vec<(String, Usage)>,
    /// Cost as the agent reported it; `None` is unknown, never zero.
    pub cost: Option<Micro>,
    /// Which of these figures may be of the whole conversation that was continued.
    pub covers: Covers,
    /// The agent's own count of model turns.
    pub turns: Option<u32>,
    /// Tools it was refused.
    pub denials: Vec<Denial>,
    /// Lines that could not be read as the agent's protocol.
    pub garbled: u32,
    /// The shape the output had.
    pub format: Format,
}

/// Which figures may be of a whole conversation, not of this call alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covers {
    /// The cost.
    pub cost: bool,
    /// The tokens.
    pub usage: bool,
}

/// The shape of an agent's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One JSON document or array.
    Json,
    /// One JSON event per line.
    Jsonl,
    /// Plain text.
    #[default]
    Text,
}

/// A refused tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The tool's name.
    pub tool: String,
    /// What it wanted to do.
    pub detail: String,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its class, which decides what the run does next.
    pub class: Class,
    /// The agent's own words, shortened.
    pub message: String,
    /// When it may work again, as far as the agent said.
    pub reset: Option<Reset>,
}

/// A reset time as an agent words it. The engine, which knows clock and zone, turns it into a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reset {
    /// Milliseconds since 1970, UTC.
    At(i64),
    /// Milliseconds from now.
    After(i64),
    /// A time on a clock: the next such time, in the named zone or the local one.
    Clock {
        /// Month (1–12) and day, where a date was given.
        date: Option<(u8, u8)>,
        /// Hour, 0–23.
        hour: u8,
        /// Minute.
        minute: u8,
        /// Zone as written, e.g. `UTC` or `America/New_York`.
        zone: Option<String>,
    },
}
