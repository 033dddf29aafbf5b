//! The agents' seam: what an adapter takes, what it promises, what it hears. Native CLIs and, later,
//! protocol agents speak through the same verbs. The hands do all I/O.

use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::prices::Prices;
use serde::{Deserialize, Serialize};

/// One coding agent: how it is started and how its output is read.
pub trait Agent: Send + Sync {
    /// The name users type.
    fn name(&self) -> &str;
    /// What it can report and do.
    fn can(&self) -> Abilities;
    /// The command line for one call.
    fn launch(&self, call: &Call) -> Launch;
    /// A fresh reader for one call's output.
    fn reader(&self, call: &Call) -> Box<dyn Reader>;
    /// A reader of an output that is there already, in whatever format the agent has.
    fn offline_reader(&self) -> Box<dyn Reader>;
    /// The arguments that make it print its version.
    fn version_args(&self) -> &'static [&'static str] {
        &["--version"]
    }
}

/// What an agent can report and do; banner, doctor and rules depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // a list of independent yes/no facts
pub struct Abilities {
    /// Shows usage while it works, so a call can be ended by cost.
    pub live_usage: bool,
    /// Reports what it cost in dollars.
    pub cost: bool,
    /// Shows when a tool starts, so a long build is not mistaken for silence.
    pub shows_tool_start: bool,
    /// Has a budget limit of its own.
    pub native_budget: bool,
    /// Asks before it uses a tool.
    pub asks_permission: bool,
    /// Can be asked to stop in words, not only by a signal.
    pub can_cancel: bool,
    /// Can go on with an earlier conversation.
    pub resumes: bool,
    /// Takes the protocol text as an appended system prompt (else it goes into the prompt's footer).
    pub system_prompt: bool,
}

/// What one call needs, resolved; nothing here is looked up by the adapter itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The whole prompt of this call.
    pub prompt: String,
    /// The protocol text for agents that take a system prompt.
    pub system: String,
    /// Model, where one was chosen.
    pub model: Option<String>,
    /// Program to start instead of the adapter's own (an override, or the found path).
    pub program: Option<String>,
    /// Arguments the user passes on (`-- ARGS`).
    pub args: Vec<String>,
    /// What may be spent in this call at most, for agents with a budget of their own.
    pub budget: Option<Micro>,
    /// A directory for this call's own files, outside the workspace; `Launch::files` are written there.
    pub scratch: String,
    /// What models cost, for agents that tell tokens and no dollars.
    pub prices: Prices,
}

/// How to start an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Program name or path.
    pub program: String,
    /// Its arguments; never the prompt itself, which could overflow them.
    pub args: Vec<String>,
    /// Environment to add.
    pub env: Vec<(String, String)>,
    /// Environment to take away.
    pub env_remove: Vec<String>,
    /// Files to write into the call's scratch directory before the start: a name and its bytes. For a prompt
    /// that an agent takes neither from stdin nor safely as an argument.
    pub files: Vec<(String, Vec<u8>)>,
    /// Names in the scratch directory that the agent may have written; the reader gets them at the end.
    pub reports: Vec<String>,
}

/// Reads one call's output. Never panics, never quadratic, whatever the bytes.
pub trait Reader: Send {
    /// Before the first byte: what to send (most send the prompt and close stdin).
    fn start(&mut self, out: &mut Vec<ReaderEvent>);
    /// One line of stdout, without its line end. A line cut by the hands' cap comes as it was cut.
    fn read(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>);
    /// One line of stderr; most adapters only look for a known failure wording.
    fn read_stderr(&mut self, _line: &[u8]) {}
    /// A file of `Launch::reports`, read after the end and before `close`.
    fn read_report(&mut self, _name: &str, _bytes: &[u8]) {}
    /// The whole output as one document, where it is there already. Says whether it was one.
    fn read_document(&mut self, _bytes: &[u8], _out: &mut Vec<ReaderEvent>) -> bool {
        false
    }
    /// The answer to an `Asks`.
    fn answer(&mut self, _ask: u64, _allow: bool, _out: &mut Vec<ReaderEvent>) {}
    /// Ask the agent to stop in its own words.
    fn cancel(&mut self, _out: &mut Vec<ReaderEvent>) {}
    /// The output ended; what does it all mean?
    fn close(self: Box<Self>, exit: Exit) -> Reply;
}

/// Something an adapter heard in the output.
#[derive(Clone, Debug, PartialEq)]
pub enum ReaderEvent {
    /// Seen live, shown, not kept in the journal.
    Activity(Activity),
    /// Usage so far in this call.
    Spent(Spent),
    /// The agent asks for permission.
    Asks {
        /// Number to answer with.
        id: u64,
        /// The tool it wants to use.
        tool: String,
        /// The paths the tool would touch.
        paths: Vec<String>,
    },
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
        /// Why.
        why: String,
    },
    /// A line that is not the agent's protocol.
    Noise {
        /// Its first bytes as text.
        text: String,
    },
}

/// How the program ended, as the hands saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Exit code, where it exited.
    pub code: Option<i32>,
    /// Signal, where it was killed by one.
    pub signal: Option<i32>,
    /// The program could not be started at all.
    pub not_started: bool,
    /// ralph ended it (deadline, budget, a person), so a missing result is no fault of its own.
    pub by_us: bool,
}

/// What one call came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The final message, at most its last MiB: the only text a claim is read from. Empty where the output
    /// ended without one; what the agent said on the way is not its final message.
    pub text: String,
    /// The final message's true length.
    pub text_bytes: u64,
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
    /// Which of these figures may be of the whole conversation that was gone on with.
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
    /// Its class: whose fault, and what follows.
    pub class: Class,
    /// The agent's own words, shortened.
    pub message: String,
    /// When it may work again, as far as the agent said.
    pub reset: Option<Reset>,
}

/// A reset time as an agent words it. The hands, which know clock and zone, turn it into a moment.
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
