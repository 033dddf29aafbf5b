//! Copilot's event stream: kept small, event by event, until `result`. `failure.rs` says why it failed. Its exit code is
//! honest; its tokens come in a file after the end.

use crate::accumulator::Accumulator;
use crate::copilot::event::{
    Event, Introduction, Message, Reason, RequestError, Shell, Terminal, Tool, ToolError, account, usage,
};
use crate::copilot::failure::FailureFacts;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::worded;
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::reply::Reply;
use ralph_rules::failure::Class;
use ralph_rules::money::Usage;

/// Events that say nothing new: pieces of what comes whole later, and the client's housekeeping.
const SKIPPED: &[&str] = &[
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning_delta",
    "assistant.streaming_delta",
    "assistant.tool_call_delta",
    "assistant.turn_start",
    "assistant.idle",
    "tool.execution_partial_result",
    "tool.shell_output",
    "session.background_tasks_changed",
    "session.skills_loaded",
    "session.mcp_servers_loaded",
    "model.call_start",
    "model.call_final_result",
    "user.message",
];

/// What was read so far.
#[derive(Debug, Default)]
pub struct CopilotReader {
    call: Accumulator,
    began: bool,
    report: Option<Vec<(String, Usage)>>,
    facts: FailureFacts,
    /// The exit code of the terminal event.
    end: Option<i64>,
}

impl Dialect for CopilotReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.call
    }

    fn object(&mut self, line: &str) -> LineKind {
        if first_kind(line).is_some_and(|kind| SKIPPED.contains(&kind)) && line.ends_with('}') {
            return LineKind::Event;
        }
        let Some(event) = read::<Event<'_>>(line) else { return LineKind::NotAnEvent };
        let known = match event.kind.text().as_deref() {
            Some("result") => self.terminal(line),
            Some(kind) if event.data.0.is_some() => self.event(kind, event.data),
            _ => None,
        };
        known.unwrap_or(false).into()
    }

    fn cut_line(&mut self, line: &[u8]) {
        if line.starts_with(br#"{"type":"tool.execution_complete""#) {
            self.call.tool_end_cut();
        }
    }

    fn report(&mut self, _name: &str, bytes: &[u8]) {
        self.report = std::str::from_utf8(bytes).ok().and_then(account);
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let told = self.facts.failure();
        let failure = match self.end {
            Some(0) => None,
            Some(code) => Some(told.unwrap_or_else(|| {
                worded(Class::Unknown, &format!("it ended without a message (exit code {code})"))
            })),
            // What stopped it was told before: it was waiting to try again.
            None => told.filter(|f| f.class != Class::Unknown).or_else(|| Some(aborted(ended.exit))),
        };
        let reply = self.call.reply(self.end.is_some(), failure);
        let Some(models) = self.report else { return reply };
        let usage = models.iter().fold(Usage::default(), |sum, (_, used)| sum.plus(used));
        Reply { usage, models, ..reply }
    }
}

impl CopilotReader {
    fn event(&mut self, kind: &str, data: Field<'_>) -> Option<bool> {
        match kind {
            kind if SKIPPED.contains(&kind) => {}
            "session.start" | "session.resume" | "session.tools_updated" => self.began(&data.read()?),
            "assistant.message" => self.message(&data.read()?),
            "assistant.turn_end" => self.call.turns = self.call.turns.saturating_add(1),
            "assistant.turn_retry" => {
                let why = data.read::<Reason<'_>>()?.reason.head(200).unwrap_or_default().into_owned();
                self.call.retrying(why);
            }
            "assistant.usage" => self.call.spend(usage(data)?, None),
            "tool.execution_start" => {
                let tool: Tool<'_> = data.read()?;
                self.call.tool_start(tool.id, tool.name, tool.arguments);
            }
            "tool.execution_complete" => self.tool_end(&data.read()?),
            "model.call_failure" => {
                let error = data.read::<RequestError<'_>>()?;
                // What a helper of the agent's could not do is the agent's to deal with.
                if error.parent.0.is_none() {
                    self.facts.request(&error);
                }
            }
            "session.error" => self.facts.session(&data.read()?),
            "abort" => self.facts.stop(data.read::<Reason<'_>>()?.reason),
            "session_limits_exhausted.requested" => {
                self.facts.stop(read(r#""session_limits""#).unwrap_or_default());
            }
            "model.call_finished" | "session.info" | "session.warning" | "assistant.intent" => {}
            _ => return None,
        }
        Some(true)
    }

    fn began(&mut self, event: &Introduction<'_>) {
        self.call.set_session(event.session);
        if !self.call.set_model(event.model) {
            self.call.set_model(event.selected);
        }
        if !self.began && self.call.model.is_some() {
            self.began = true;
            self.call.began();
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        self.call.show_field(message.content);
        if message.parent.0.is_some() {
            return;
        }
        self.call.set_model(message.model);
        if message.piece.count().unwrap_or(0) == 0 {
            self.call.text.clear();
        }
        message.content.pour(&mut self.call.text);
        // It got an answer: what failed before was tried again with success.
        self.facts = FailureFacts::default();
    }

    fn tool_end(&mut self, tool: &Tool<'_>) {
        let code = tool.error.read::<ToolError<'_>>().map(|error| error.code).unwrap_or_default();
        let refused = code.is("denied") || code.is("rejected");
        let exit = tool.shell.read::<Shell<'_>>().and_then(|shell| shell.code.number());
        let failed = tool.success.truth() == Some(false) || exit.is_some_and(|code| code != 0.0);
        self.call.tool_end(tool.id, failed, refused);
    }

    fn terminal(&mut self, line: &str) -> Option<bool> {
        let event: Terminal<'_> = read(line)?;
        event.session.filled()?;
        let code = event.code.number()?;
        self.call.set_session(event.session);
        self.call.finish();
        #[allow(clippy::cast_possible_truncation)] // an exit code; `as` stops at the ends
        let code = code as i64;
        self.end = Some(code);
        Some(true)
    }
}
