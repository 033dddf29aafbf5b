//! Gemini's event stream: what the agent says comes in pieces, and its final message is what came after the last tool.
//! `event.rs` has the lines' shapes, `failure.rs` says what an error means.

use crate::accumulator::Accumulator;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::{class_of, worded};
use crate::gemini::event::{
    Account, Document, Error, Init, Kind, Message, Note, Outcome, Quick, ToolResult, ToolUse, account,
    quick_message,
};
use crate::gemini::failure::{FailureFacts, failure};
use crate::gemini::stderr::{facts, failure_in, fuller, words_in};
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::reply::{Failure, Reply};
use ralph_rules::failure::Class;
use ralph_rules::money::Usage;

/// How much of the message is remembered for the screen.
const SAYING: usize = 2000;

/// How a refused tool's result words it, where its type does not.
const REFUSED: &[&str] =
    &["denied by policy", "Path not in workspace", "must be within one of the workspace directories"];

/// What was read so far; the accumulator's text is what was said since the last tool.
#[derive(Debug, Default)]
pub struct GeminiReader {
    call: Accumulator,
    /// The beginning of the text, which is shown when it is complete.
    saying: String,
    /// It said something or used a tool.
    worked: bool,
    /// The last warning or error on the way, if nothing followed it.
    noted: String,
    end: Option<End>,
}

/// The terminal event.
#[derive(Debug)]
struct End {
    /// It says that it failed.
    failed: bool,
    /// What it says about it.
    facts: FailureFacts,
    account: Account,
}

impl Dialect for GeminiReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.call
    }

    fn object(&mut self, line: &str) -> LineKind {
        match first_kind(line) {
            Some(kind) => self.event(kind, line),
            None => match read::<Kind<'_>>(line) {
                None => LineKind::NotAnEvent,
                Some(event) => event.kind.text().map_or(LineKind::Unknown, |kind| self.event(&kind, line)),
            },
        }
    }

    /// The document of `-o json`.
    fn document(&mut self, document: &str) -> bool {
        let Some(document) = read::<Document<'_>>(document) else { return false };
        let answered = document.response.text().is_some() && document.stats.0.is_some();
        let failed = facts(document.error).filter(|_| document.session_id.0.is_some());
        if document.kind.0.is_some() || (!answered && failed.is_none()) {
            return false;
        }
        self.call.set_session(document.session_id);
        document.response.pour(&mut self.call.text);
        self.worked = self.call.text.length() > 0;
        let warnings: Vec<Field<'_>> = document.warnings.read().unwrap_or_default();
        self.noted = warnings.last().and_then(|w| w.head(500)).unwrap_or_default().into_owned();
        self.finish(failed.is_some(), failed.unwrap_or_default(), account(document.stats));
        true
    }

    /// A tool's result that was too long and cut: the tool has ended all the same.
    fn cut_line(&mut self, line: &[u8]) {
        if line.starts_with(br#"{"type":"tool_result""#) {
            self.call.tool_end_cut();
        }
    }

    fn failure_without_events(ended: &Ended<'_>) -> Option<Failure> {
        failure_in(ended)
    }

    fn reply(mut self, ended: &Ended<'_>) -> Reply {
        let end = self.end.take();
        let failure = self.failure(end.as_ref(), ended);
        if end.as_ref().is_some_and(|end| end.failed) {
            self.call.text.clear();
        }
        if !self.names_model() {
            self.call.model = None;
        }
        let reply = self.call.reply(end.is_some(), failure);
        let Account { usage, models, model } = end.map(|end| end.account).unwrap_or_default();
        Reply { usage, models, model: reply.model.or(model), ..reply }
    }
}

impl GeminiReader {
    fn event(&mut self, kind: &str, line: &str) -> LineKind {
        let known = match kind {
            "message" => match quick_message(line) {
                Some(Quick::Echo) => Some(true),
                Some(Quick::Piece(content)) => Some(self.piece(content)),
                None => read(line).map(|event| self.message(&event)),
            },
            "init" => read(line).map(|event| self.began(&event)),
            "tool_use" => read(line).map(|event| self.tool_use(&event)),
            "tool_result" => read(line).map(|event| self.tool_result(&event)),
            "error" => read(line).map(|event| self.note(&event)),
            "result" => read(line).map(|event| self.result(&event)),
            _ => return LineKind::Unknown,
        };
        known.into()
    }

    fn began(&mut self, event: &Init<'_>) -> bool {
        if event.session_id.filled().is_none() || event.model.filled().is_none() {
            return false;
        }
        self.call.set_session(event.session_id);
        self.call.set_model(event.model);
        self.call.began();
        true
    }

    fn message(&mut self, event: &Message<'_>) -> bool {
        if event.content.0.is_none() {
            return false;
        }
        if !event.role.is("assistant") {
            return event.role.is("user");
        }
        if event.delta.truth() != Some(true) {
            self.call.text.clear();
            self.saying.clear();
        }
        self.piece(event.content)
    }

    fn piece(&mut self, content: Field<'_>) -> bool {
        self.noted.clear();
        self.worked = true;
        content.pour(&mut self.call.text);
        if self.saying.len() < SAYING {
            self.saying.push_str(&content.head(SAYING * 2).unwrap_or_default());
        }
        true
    }

    /// Shows what was said.
    fn show(&mut self) {
        self.call.show(&std::mem::take(&mut self.saying));
    }

    fn tool_use(&mut self, event: &ToolUse<'_>) -> bool {
        if event.tool_name.text().is_none() || event.tool_id.text().is_none() {
            return false;
        }
        self.show();
        self.call.text.clear();
        self.noted.clear();
        self.worked = true;
        self.call.tool_start(event.tool_id, event.tool_name, event.parameters);
        true
    }

    fn tool_result(&mut self, event: &ToolResult<'_>) -> bool {
        let (Some(_), Some(status)) = (event.tool_id.text(), event.status.text()) else { return false };
        let failed = status == "error";
        let error: Error<'_> = event.error.read().unwrap_or_default();
        let refused = error.kind.is("policy_violation")
            || error.kind.is("path_not_in_workspace")
            || error.message.head(200).is_some_and(|words| REFUSED.iter().any(|r| words.contains(r)));
        self.call.tool_end(event.tool_id, failed, failed && refused);
        true
    }

    fn note(&mut self, event: &Note<'_>) -> bool {
        let Some(words) = event.message.head(500).filter(|_| event.severity.0.is_some()) else {
            return false;
        };
        self.noted = words.into_owned();
        true
    }

    fn result(&mut self, event: &Outcome<'_>) -> bool {
        let Some(status) = event.status.text() else { return false };
        self.show();
        let told = facts(event.error);
        let failed = told.is_some() || status != "success";
        self.finish(failed, told.unwrap_or_default(), account(event.stats));
        true
    }

    /// Whether the model is known from the start. One that is chosen on the way is named in the account only.
    fn names_model(&self) -> bool {
        self.call.model.as_ref().is_some_and(|model| !model.starts_with("auto"))
    }

    fn finish(&mut self, failed: bool, mut facts: FailureFacts, account: Account) {
        if facts.words.is_empty() {
            facts.words.clone_from(&self.noted);
        }
        self.call.finish();
        self.end = Some(End { failed, facts, account });
    }

    fn failure(&self, end: Option<&End>, ended: &Ended<'_>) -> Option<Failure> {
        match end {
            Some(End { failed: true, facts, .. }) => {
                let code = facts.code.or(ended.exit.code.map(i64::from));
                Some(failure(&fuller(FailureFacts { code, ..facts.clone() }, words_in(ended.stderr))))
            }
            // Versions up to 0.11 call it a success when the API refuses them, and tell stderr alone.
            Some(end) if !self.worked && end.account.usage == Usage::default() => {
                Some(failure(&words_in(ended.stderr)))
            }
            // It stopped itself, and calls that a success.
            Some(_) if self.noted.is_empty() => None,
            Some(_) => class_of(&self.noted)
                .filter(|class| *class == Class::MaxTurns)
                .map(|class| worded(class, &self.noted)),
            None => {
                let exit = ended.exit;
                let told = failure_in(ended).filter(|told| !exit.by_us && told.class != Class::Unknown);
                Some(told.unwrap_or_else(|| aborted(exit)))
            }
        }
    }
}
