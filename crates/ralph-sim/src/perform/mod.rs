//! Performs one section of a script: turns actions into events on `output` and changes in the workspace. `tools` and
//! `shell` do real work, `noise` and `children` misbehave, `failures` and `final_message` end the call.

mod children;
mod failures;
mod final_message;
mod noise;
mod shell;
mod tools;

pub use children::{CHILD, Kind, become_child};

use crate::claim::Facts;
use crate::output::{Block, Cost, Output};
use crate::price::Tokens;
use crate::script::Action;
use final_message::FinalMessage;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What the agent was given.
pub struct Given<'a> {
    /// The prompt, as read from stdin.
    pub prompt: String,
    /// The appended system prompt.
    pub system: String,
    /// Looks up an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// The arguments that start this program again, before its own ones.
    pub self_command: Vec<OsString>,
    /// While true, SIGTERM, SIGINT and SIGHUP end the program.
    pub obey: Arc<AtomicBool>,
}

/// One call in progress.
pub struct Performer<'a> {
    output: Output,
    given: Given<'a>,
    cost: Cost,
    /// Text that waits for the tool use after it: Claude sends both in one message.
    pending: Option<String>,
    changed: BTreeSet<String>,
    tests: Option<bool>,
    final_message: FinalMessage,
}

impl<'a> Performer<'a> {
    /// A call that has not begun.
    pub fn new(output: Output, given: Given<'a>) -> Performer<'a> {
        Performer {
            output,
            given,
            cost: Cost::Tokens(Tokens::SMALL),
            pending: None,
            changed: BTreeSet::new(),
            tests: None,
            final_message: FinalMessage::default(),
        }
    }

    /// Does everything in order and returns the exit code.
    pub fn perform(mut self, actions: Vec<Action>) -> u8 {
        let sets_tokens = actions.iter().any(|a| matches!(a, Action::Tokens(_)));
        if !sets_tokens && actions.iter().any(|a| matches!(a, Action::Spend { .. })) {
            self.cost = Cost::Micro(0);
        }
        self.output.introduce();
        for action in actions {
            if let Some(code) = self.act(action) {
                return code;
            }
        }
        self.say_pending();
        self.finish()
    }

    /// One action; `Some` ends the call with that code.
    fn act(&mut self, action: Action) -> Option<u8> {
        let action = self.use_tool(action)?;
        self.say_pending();
        match action {
            Action::Exit(code) => return Some(code),
            Action::Crash => return Some(children::die()),
            Action::Fail(fail) => return Some(self.fail(&fail)),
            Action::Say(text) => self.pending = Some(text),
            Action::EchoPrompt { last: false } => self.say(&self.given.prompt.clone()),
            Action::EchoSystem => self.say(&self.given.system.clone()),
            Action::Spend { micro, times, every } => self.spend(micro, times, every),
            Action::Tokens(tokens) => self.cost = Cost::Tokens(tokens),
            Action::Cost(says) => self.output.cost_says = says,
            Action::Sleep(time) => thread::sleep(time),
            Action::Hang(time) => hang(time),
            Action::Raw(text) => self.output.line(&text),
            Action::Stderr(text) => drop(writeln!(std::io::stderr(), "{text}")),
            Action::Flood(size) => self.flood(size),
            Action::LongLine(size) => self.long_line(size),
            Action::Garble => self.garble(),
            Action::Daemonise(command) => self.detach(Kind::Daemon, &command),
            Action::SetsidChild(command) => self.detach(Kind::OwnSession, &command),
            Action::IgnoreTerm => self.given.obey.store(false, Ordering::SeqCst),
            other => self.final_message.note(other, &self.given.prompt),
        }
        None
    }

    /// A turn with text only.
    fn say(&mut self, text: &str) {
        self.output.turn(&[Block::Text(text)], "end_turn", self.cost);
    }

    fn say_pending(&mut self) {
        if let Some(text) = self.pending.take() {
            self.say(&text);
        }
    }

    fn spend(&mut self, micro: u64, times: u32, every: Duration) {
        for _ in 0..times {
            self.output.turn(&[Block::Text("Thinking it through.")], "end_turn", Cost::Micro(micro));
            thread::sleep(every);
        }
    }

    fn facts(&self) -> Facts {
        Facts { files: self.changed.len(), tests: self.tests }
    }
}

/// Prints nothing, for a while or until it is stopped.
fn hang(time: Option<Duration>) {
    match time {
        Some(time) => thread::sleep(time),
        None => loop {
            thread::sleep(Duration::from_secs(3600));
        },
    }
}
