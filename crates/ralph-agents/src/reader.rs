//! What reads an agent's output (`Reader`), and the events it finds there while the call runs.

use crate::call::Exit;
use crate::reply::Reply;
use ralph_rules::money::{Micro, Usage};
use serde::{Deserialize, Serialize};

/// Reads one call's output. Never panics, never quadratic, whatever the bytes.
pub trait Reader: Send {
    /// Before the first byte: what to send (most send the prompt and close stdin).
    fn start(&mut self, out: &mut Vec<ReaderEvent>);
    /// One line of stdout, without its line end. A line longer than the engine's limit comes cut.
    fn read(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>);
    /// One line of stderr; most adapters only look for a known failure wording.
    fn read_stderr(&mut self, _line: &[u8]) {}
    /// A file of `Launch::reports`, read after the end and before `close`.
    fn read_report(&mut self, _name: &str, _bytes: &[u8]) {}
    /// The whole output as one document, where all of it exists already. Says whether it was one.
    fn read_document(&mut self, _bytes: &[u8], _out: &mut Vec<ReaderEvent>) -> bool {
        false
    }
    /// The output ended; gives the result of the call.
    fn close(self: Box<Self>, exit: Exit) -> Reply;
}

/// Something a reader found in the output.
#[derive(Clone, Debug, PartialEq)]
pub enum ReaderEvent {
    /// Seen live, shown, not kept in the journal.
    Activity(Activity),
    /// Usage so far in this call.
    Spent(Spent),
    /// Bytes for the agent's stdin.
    Send(Vec<u8>),
    /// No more input for the agent.
    CloseStdin,
    /// The terminal event was seen: the agent gets a short grace to exit.
    Final,
}

/// Usage of this call as seen so far; never less than what was told before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Cost so far.
    pub total: Micro,
    /// The dearest single model turn so far.
    pub dearest: Micro,
    /// Tokens so far.
    pub usage: Usage,
    /// A part of the cost is a guess: the model's price is not known.
    pub guessed: bool,
}

/// What the agent is doing right now; for screens and logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Activity {
    /// The agent introduced itself.
    Began {
        /// Its conversation id.
        session: Option<String>,
        /// The model it uses.
        model: Option<String>,
    },
    /// The agent said something.
    Said {
        /// What it said.
        text: String,
    },
    /// A tool started.
    Tool {
        /// The tool's name.
        name: String,
        /// Its main argument: a command, a pattern, a path.
        detail: String,
        /// The file it works on, where there is one.
        file: Option<String>,
    },
    /// A tool ended.
    ToolEnded {
        /// Whether it reported an error.
        failed: bool,
    },
    /// The client waits and tries again by itself.
    Retrying {
        /// The error, which try it will be and when, as far as the agent says.
        why: String,
    },
    /// A line that is not the agent's protocol.
    Noise {
        /// Its first bytes as text.
        text: String,
    },
}
