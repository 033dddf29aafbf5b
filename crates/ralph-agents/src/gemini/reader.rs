//! Everything heard in one call of Gemini: what the agent says comes in pieces, and its final message is what came
//! after the last tool. `event.rs` has the lines' shapes, `fault.rs` says what an error means.

use crate::claude::tools::Tools;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::{class_of, worded};
use crate::gemini::event::{
    Account, Document, Error, Init, Kind, Message, Note, Outcome, Quick, ToolResult, ToolUse, account,
    quick_message,
};
use crate::gemini::fault::{Facts, failure};
use crate::gemini::stderr::{facts, failure_in, fuller, words_in};
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::plain::{KEPT, Tail, short};
use crate::seam::{Activity, Failure, ReaderEvent, Reply};
use ralph_rules::failure::Class;
use ralph_rules::money::Usage;

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;

/// How a refused tool's result words it, where its type does not.
const REFUSED: &[&str] =
    &["denied by policy", "Path not in workspace", "must be within one of the workspace directories"];

/// What was heard so far.
#[derive(Debug)]
pub struct GeminiReader {
    session: Option<String>,
    model: Option<String>,
    /// What was said since the last tool.
    text: Tail,
    /// The beginning of it, which is shown when it is complete.
    saying: String,
    tools: Tools,
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
    facts: Facts,
    account: Account,
}

impl Default for GeminiReader {
    fn default() -> GeminiReader {
        GeminiReader {
            session: None,
            model: None,
            text: Tail::new(KEPT),
            saying: String::new(),
            tools: Tools::default(),
            worked: false,
            noted: String::new(),
            end: None,
        }
    }
}

impl Dialect for GeminiReader {
    fn object(&mut self, line: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        match first_kind(line) {
            Some(kind) => self.event(kind, line, out),
            None => match read::<Kind<'_>>(line) {
                None => LineKind::NotAnEvent,
                Some(event) => {
                    event.kind.text().map_or(LineKind::Unknown, |kind| self.event(&kind, line, out))
                }
            },
        }
    }

    /// The document of `-o json`.
    fn envelope(&mut self, document: &str, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(document) = read::<Document<'_>>(document) else { return false };
        let answered = document.response.text().is_some() && document.stats.0.is_some();
        let failed = facts(document.error).filter(|_| document.session_id.0.is_some());
        if document.kind.0.is_some() || (!answered && failed.is_none()) {
            return false;
        }
        self.session = document.session_id.filled().map(|session| short(&session, 200));
        document.response.pour(&mut self.text);
        self.worked = self.text.length() > 0;
        let warnings: Vec<Field<'_>> = document.warnings.read().unwrap_or_default();
        self.noted = warnings.last().and_then(|w| w.head(500)).unwrap_or_default().into_owned();
        self.finish(failed.is_some(), failed.unwrap_or_default(), account(document.stats), out);
        true
    }

    /// A tool's result that was too long for the hands and cut: the tool has ended all the same.
    fn cut_short(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        if line.starts_with(br#"{"type":"tool_result""#) {
            out.push(ReaderEvent::Activity(self.tools.end("", false, false)));
        }
    }

    fn without_events(ended: &Ended<'_>) -> Option<Failure> {
        failure_in(ended)
    }

    fn reply(mut self, ended: &Ended<'_>) -> Reply {
        let end = self.end.take();
        let failure = self.failure(end.as_ref(), ended);
        let finished = end.is_some();
        if !finished || end.as_ref().is_some_and(|end| end.failed) {
            self.text.clear();
        }
        let Account { usage, models, model } = end.map(|end| end.account).unwrap_or_default();
        let asked = if self.names_model() { self.model } else { None };
        Reply {
            text_bytes: self.text.length(),
            text: self.text.text().into_owned(),
            finished,
            failure,
            session: self.session,
            model: asked.or(model),
            usage,
            models,
            denials: self.tools.into_refused(),
            ..Reply::default()
        }
    }
}

impl GeminiReader {
    fn event(&mut self, kind: &str, line: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        let known = match kind {
            "message" => match quick_message(line) {
                Some(Quick::Echo) => Some(true),
                Some(Quick::Piece(content)) => Some(self.piece(content)),
                None => read(line).map(|event| self.message(&event)),
            },
            "init" => read(line).map(|event| self.began(&event, out)),
            "tool_use" => read(line).map(|event| self.tool_use(&event, out)),
            "tool_result" => read(line).map(|event| self.tool_result(&event, out)),
            "error" => read(line).map(|event| self.note(&event)),
            "result" => read(line).map(|event| self.result(&event, out)),
            _ => return LineKind::Unknown,
        };
        known.map_or(LineKind::NotAnEvent, |known| if known { LineKind::Event } else { LineKind::Unknown })
    }

    fn began(&mut self, event: &Init<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let (Some(session), Some(model)) = (event.session_id.filled(), event.model.filled()) else {
            return false;
        };
        self.session = Some(short(&session, 200));
        self.model = Some(short(&model, 200));
        let began = Activity::Began { session: self.session.clone(), model: self.model.clone() };
        out.push(ReaderEvent::Activity(began));
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
            self.text.clear();
            self.saying.clear();
        }
        self.piece(event.content)
    }

    fn piece(&mut self, content: Field<'_>) -> bool {
        self.noted.clear();
        self.worked = true;
        content.pour(&mut self.text);
        if self.saying.len() < SAID {
            self.saying.push_str(&content.head(SAID * 2).unwrap_or_default());
        }
        true
    }

    /// Shows what was said.
    fn show(&mut self, out: &mut Vec<ReaderEvent>) {
        let said = std::mem::take(&mut self.saying);
        if !said.trim().is_empty() {
            out.push(ReaderEvent::Activity(Activity::Said { text: short(&said, SAID) }));
        }
    }

    fn tool_use(&mut self, event: &ToolUse<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let (Some(name), Some(id)) = (event.tool_name.text(), event.tool_id.text()) else { return false };
        self.show(out);
        self.text.clear();
        self.noted.clear();
        self.worked = true;
        out.push(ReaderEvent::Activity(self.tools.start(&id, &name, event.parameters)));
        true
    }

    fn tool_result(&mut self, event: &ToolResult<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let (Some(id), Some(status)) = (event.tool_id.text(), event.status.text()) else { return false };
        let failed = status == "error";
        let error: Error<'_> = event.error.read().unwrap_or_default();
        let refused = error.kind.is("policy_violation")
            || error.kind.is("path_not_in_workspace")
            || error.message.head(200).is_some_and(|words| REFUSED.iter().any(|r| words.contains(r)));
        out.push(ReaderEvent::Activity(self.tools.end(&id, failed, failed && refused)));
        true
    }

    fn note(&mut self, event: &Note<'_>) -> bool {
        let Some(words) = event.message.head(500).filter(|_| event.severity.0.is_some()) else {
            return false;
        };
        self.noted = words.into_owned();
        true
    }

    fn result(&mut self, event: &Outcome<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(status) = event.status.text() else { return false };
        self.show(out);
        let told = facts(event.error);
        let failed = told.is_some() || status != "success";
        self.finish(failed, told.unwrap_or_default(), account(event.stats), out);
        true
    }

    /// Whether the model is known from the start. One that is chosen on the way is named in the account only.
    fn names_model(&self) -> bool {
        self.model.as_ref().is_some_and(|model| !model.starts_with("auto"))
    }

    fn finish(&mut self, failed: bool, mut facts: Facts, account: Account, out: &mut Vec<ReaderEvent>) {
        if facts.words.is_empty() {
            facts.words.clone_from(&self.noted);
        }
        if self.end.is_none() {
            out.push(ReaderEvent::Final);
        }
        self.end = Some(End { failed, facts, account });
    }

    fn failure(&self, end: Option<&End>, ended: &Ended<'_>) -> Option<Failure> {
        match end {
            Some(End { failed: true, facts, .. }) => {
                let code = facts.code.or(ended.exit.code.map(i64::from));
                Some(failure(&fuller(Facts { code, ..facts.clone() }, words_in(ended.stderr))))
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
