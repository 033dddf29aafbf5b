//! Everything heard in one call of Copilot: kept small, event by event, until `result`. `verdict.rs` says why it
//! failed. Its exit code is honest; its tokens come in a file after the end.

use crate::claude::tools::Tools;
use crate::copilot::event::{
    Event, Message, Opening, Reason, Shell, Terminal, Tool, ToolError, Trouble, account, usage,
};
use crate::copilot::verdict::Facts;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::worded;
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::plain::{KEPT, Tail, short};
use crate::seam::{Activity, ReaderEvent, Reply};
use crate::tally::Tally;
use crate::terms::Terms;
use ralph_rules::failure::Class;
use ralph_rules::money::Usage;

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;

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

/// What was heard so far.
#[derive(Debug)]
pub struct CopilotReader {
    session: Option<String>,
    model: Option<String>,
    began: bool,
    text: Tail,
    tools: Tools,
    tally: Tally,
    report: Option<Vec<(String, Usage)>>,
    facts: Facts,
    turns: u32,
    /// The exit code of the terminal event.
    end: Option<i64>,
}

impl Default for CopilotReader {
    fn default() -> CopilotReader {
        CopilotReader {
            session: None,
            model: None,
            began: false,
            text: Tail::new(KEPT),
            tools: Tools::default(),
            tally: Tally::default(),
            report: None,
            facts: Facts::default(),
            turns: 0,
            end: None,
        }
    }
}

impl Dialect for CopilotReader {
    fn on(&mut self, terms: Terms) {
        self.tally.on(terms);
    }

    fn object(&mut self, line: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        if first_kind(line).is_some_and(|kind| SKIPPED.contains(&kind)) && line.ends_with('}') {
            return LineKind::Event;
        }
        let Some(event) = read::<Event<'_>>(line) else { return LineKind::NotAnEvent };
        let known = match event.kind.text().as_deref() {
            Some("result") => self.terminal(line, out),
            Some(kind) if event.data.0.is_some() => self.event(kind, event.data, out),
            _ => None,
        };
        if known == Some(true) { LineKind::Event } else { LineKind::Unknown }
    }

    fn cut_short(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        if line.starts_with(br#"{"type":"tool.execution_complete""#) {
            out.push(ReaderEvent::Activity(self.tools.end("", false, false)));
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
                worded(Class::Unknown, &format!("it gave up without a word (exit code {code})"))
            })),
            // What stopped it was told before: it was waiting to try again.
            None => told.filter(|f| f.class != Class::Unknown).or_else(|| Some(aborted(ended.exit))),
        };
        let finished = self.end.is_some();
        let add =
            |models: &Vec<(String, Usage)>| models.iter().fold(Usage::default(), |sum, (_, u)| sum.plus(u));
        let usage = self.report.as_ref().map_or(self.tally.usage(), add);
        let text = if finished { self.text } else { Tail::new(KEPT) };
        Reply {
            text: text.text().into_owned(),
            text_bytes: text.length(),
            finished,
            failure,
            session: self.session,
            model: self.model,
            usage,
            models: self.report.unwrap_or_default(),
            turns: Some(self.turns).filter(|turns| *turns > 0),
            denials: self.tools.into_refused(),
            ..Reply::default()
        }
    }
}

impl CopilotReader {
    fn event(&mut self, kind: &str, data: Field<'_>, out: &mut Vec<ReaderEvent>) -> Option<bool> {
        match kind {
            kind if SKIPPED.contains(&kind) => {}
            "session.start" | "session.resume" | "session.tools_updated" => self.opens(&data.read()?, out),
            "assistant.message" => self.says(&data.read()?, out),
            "assistant.turn_end" => self.turns = self.turns.saturating_add(1),
            "assistant.turn_retry" => {
                let why = data.read::<Reason<'_>>()?.reason.head(200).unwrap_or_default().into_owned();
                out.push(ReaderEvent::Activity(Activity::Retrying { why }));
            }
            "assistant.usage" => {
                let used = usage(data)?;
                out.extend(self.tally.turn(self.model.as_deref(), used, None).map(ReaderEvent::Spent));
            }
            "tool.execution_start" => self.tool_start(&data.read()?, out),
            "tool.execution_complete" => self.tool_end(&data.read()?, out),
            "model.call_failure" => {
                let trouble = data.read::<Trouble<'_>>()?;
                // What a helper of the agent's could not do is the agent's to deal with.
                if trouble.parent.0.is_none() {
                    self.facts.request(&trouble);
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

    fn opens(&mut self, opening: &Opening<'_>, out: &mut Vec<ReaderEvent>) {
        if let Some(session) = opening.session.filled() {
            self.session = Some(short(&session, 200));
        }
        let model = opening.model.filled().or_else(|| opening.selected.filled());
        if let Some(model) = model {
            self.model = Some(short(&model, 200));
        }
        if !self.began && self.model.is_some() {
            self.began = true;
            let began = Activity::Began { session: self.session.clone(), model: self.model.clone() };
            out.push(ReaderEvent::Activity(began));
        }
    }

    fn says(&mut self, message: &Message<'_>, out: &mut Vec<ReaderEvent>) {
        let text = message.content.head(SAID * 2).unwrap_or_default();
        if !text.trim().is_empty() {
            out.push(ReaderEvent::Activity(Activity::Said { text: short(&text, SAID) }));
        }
        if message.parent.0.is_some() {
            return;
        }
        if let Some(model) = message.model.filled() {
            self.model = Some(short(&model, 200));
        }
        if message.piece.count().unwrap_or(0) == 0 {
            self.text = Tail::new(KEPT);
        }
        message.content.pour(&mut self.text);
        // It got an answer: what failed before was tried again with success.
        self.facts = Facts::default();
    }

    fn tool_start(&mut self, tool: &Tool<'_>, out: &mut Vec<ReaderEvent>) {
        let (id, name) = (tool.id.text().unwrap_or_default(), tool.name.text().unwrap_or_default());
        out.push(ReaderEvent::Activity(self.tools.start(&id, &name, tool.arguments)));
    }

    fn tool_end(&mut self, tool: &Tool<'_>, out: &mut Vec<ReaderEvent>) {
        let code = tool.error.read::<ToolError<'_>>().map(|error| error.code).unwrap_or_default();
        let refused = code.is("denied") || code.is("rejected");
        let exit = tool.shell.read::<Shell<'_>>().and_then(|shell| shell.code.number());
        let failed = tool.success.truth() == Some(false) || exit.is_some_and(|code| code != 0.0);
        let id = tool.id.text().unwrap_or_default();
        out.push(ReaderEvent::Activity(self.tools.end(&id, failed, refused)));
    }

    fn terminal(&mut self, line: &str, out: &mut Vec<ReaderEvent>) -> Option<bool> {
        let event: Terminal<'_> = read(line)?;
        let session = event.session.filled()?;
        let code = event.code.number()?;
        self.session = Some(short(&session, 200));
        if self.end.is_none() {
            out.push(ReaderEvent::Final);
        }
        #[allow(clippy::cast_possible_truncation)] // an exit code; `as` stops at the ends
        let code = code as i64;
        self.end = Some(code);
        Some(true)
    }
}
