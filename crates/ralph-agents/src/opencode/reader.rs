//! Everything heard in one call of opencode. There is no terminal event: the last step says how it ended and the
//! program's exit that it was the last. Even an answer that is complete may be followed by more, since a
//! conversation that grew too long is summed up in a step of its own; so no end is announced before the exit.

use crate::claude::tools::Tools;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::worded;
use crate::json::{Field, read};
use crate::opencode::event::{Event, Part, usage};
use crate::opencode::fault::{failure, on_stderr, refusals};
use crate::output::aborted;
use crate::plain::{KEPT, Tail, short};
use crate::seam::{Activity, Failure, ReaderEvent, Reply};
use crate::tally::Tally;
use crate::terms::Terms;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;
/// How the results of refused tools begin: nobody is there to be asked, or a rule forbids it.
const REFUSED: &[&str] =
    &["\"The user rejected permission", "\"The user has specified a rule which prevents"];

/// What was heard so far.
#[derive(Debug)]
pub struct OpencodeReader {
    session: Option<String>,
    /// The text of the last step.
    text: Tail,
    tally: Tally,
    tools: Tools,
    steps: u32,
    last: Last,
    /// A tool of the last step was refused, which ends the run.
    refused: bool,
}

/// What came last.
#[derive(Debug, Default)]
enum Last {
    /// No step yet.
    #[default]
    Nothing,
    /// A step that has not ended.
    Open,
    /// A step ended.
    Step(Reason),
    /// An error.
    Error(Failure),
}

/// Why a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The answer is complete.
    Done,
    /// Tools were used; another step follows.
    Tools,
    /// The model's stream broke off; the client tries the step again.
    Broken,
    /// The answer was cut off.
    Length,
    /// The provider filtered the answer.
    Filter,
    /// The model failed; an error should say why.
    Error,
}

impl Default for OpencodeReader {
    fn default() -> OpencodeReader {
        OpencodeReader {
            session: None,
            text: Tail::new(KEPT),
            tally: Tally::default(),
            tools: Tools::default(),
            steps: 0,
            last: Last::Nothing,
            refused: false,
        }
    }
}

impl Dialect for OpencodeReader {
    fn on(&mut self, terms: Terms) {
        self.tally.on(terms);
    }

    fn object(&mut self, line: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        let Some(event) = read::<Event<'_>>(line) else { return LineKind::NotAnEvent };
        let Some(session) = event.session.filled() else { return LineKind::Unknown };
        let Some(kind) = event.kind.text().filter(|kind| is_known(kind, &event)) else {
            return LineKind::Unknown;
        };
        if self.session.is_none() {
            self.session = Some(short(&session, 200));
            out.push(ReaderEvent::Activity(Activity::Began { session: self.session.clone(), model: None }));
        }
        let part = event.part.unwrap_or_default();
        match kind.as_ref() {
            "step_start" => self.step_start(),
            "text" => self.said(part.text, out),
            "tool_use" => self.tool(&part, out),
            "step_finish" => self.step_finish(&part, out),
            "error" => self.error(event.error),
            _ => {}
        }
        LineKind::Event
    }

    fn without_events(ended: &Ended<'_>) -> Option<Failure> {
        on_stderr(ended)
    }

    fn reply(mut self, ended: &Ended<'_>) -> Reply {
        if matches!(self.last, Last::Nothing | Last::Open) {
            self.tally.blind();
        }
        let mut denials = std::mem::take(&mut self.tools).into_refused();
        if denials.is_empty() {
            // Some versions leave a refused tool out of the stream.
            denials = refusals(ended.stderr);
            self.refused |= !denials.is_empty();
        }
        let (finished, failure) = self.end(ended);
        let final_message = finished && !matches!(self.last, Last::Step(Reason::Tools));
        if !final_message {
            self.text.clear();
        }
        Reply {
            text_bytes: self.text.length(),
            text: self.text.text().into_owned(),
            finished,
            failure,
            session: self.session,
            usage: self.tally.usage(),
            cost: self.tally.cost(),
            turns: (self.steps > 0).then_some(self.steps),
            denials,
            ..Reply::default()
        }
    }
}

impl OpencodeReader {
    fn step_start(&mut self) {
        if matches!(self.last, Last::Open) {
            // The step before it was dropped without an account.
            self.tally.blind();
        }
        self.last = Last::Open;
        self.refused = false;
        self.text.clear();
    }

    fn said(&mut self, text: Field<'_>, out: &mut Vec<ReaderEvent>) {
        if self.text.length() > 0 {
            self.text.push(b"\n");
        }
        text.pour(&mut self.text);
        let shown = text.head(SAID * 2).unwrap_or_default();
        if !shown.trim().is_empty() {
            out.push(ReaderEvent::Activity(Activity::Said { text: short(&shown, SAID) }));
        }
    }

    fn tool(&mut self, part: &Part<'_>, out: &mut Vec<ReaderEvent>) {
        let Some(state) = &part.state else { return };
        let (id, name) = (part.call.text().unwrap_or_default(), part.tool.text().unwrap_or_default());
        let failed = state.status.is("error");
        let refused = failed && state.error.raw().is_some_and(|e| REFUSED.iter().any(|r| e.starts_with(r)));
        out.push(ReaderEvent::Activity(self.tools.start(&id, &name, state.input)));
        out.push(ReaderEvent::Activity(self.tools.end(&id, failed, refused)));
        self.refused |= refused;
        if name == "task" && !refused {
            // A sub-agent's steps are in a conversation of their own, which is not shown.
            self.tally.blind();
        }
    }

    fn step_finish(&mut self, part: &Part<'_>, out: &mut Vec<ReaderEvent>) {
        self.steps = self.steps.saturating_add(1);
        let reason = reason(part.reason);
        self.last = Last::Step(reason);
        let (used, cost) = (usage(part.tokens), part.cost.number().and_then(Micro::from_usd));
        out.extend(self.tally.turn(None, used, cost).map(ReaderEvent::Spent));
        if reason == Reason::Broken {
            let why = "the model's answer broke off; the client asks again".to_owned();
            out.push(ReaderEvent::Activity(Activity::Retrying { why }));
            if used == Usage::default() {
                // The provider counts what it did not live to tell.
                self.tally.blind();
            }
        }
    }

    fn error(&mut self, error: Field<'_>) {
        if matches!(self.last, Last::Open) {
            self.tally.blind();
        }
        let told = failure(error);
        let known = matches!(&self.last, Last::Error(before) if before.class != Class::Unknown);
        if !(known && told.class == Class::Unknown) {
            self.last = Last::Error(told);
        }
    }

    /// Whether it came to its end, and what failed.
    fn end(&self, ended: &Ended<'_>) -> (bool, Option<Failure>) {
        let exit = ended.exit;
        let killed = exit.by_us || exit.signal.is_some() || exit.code.is_some_and(|code| code > 128);
        let well = !killed && exit.code.is_none_or(|code| code == 0);
        let cut = || Some(aborted(exit));
        match &self.last {
            Last::Error(told) => (!killed, Some(told.clone())),
            Last::Step(Reason::Tools) if well && self.refused => (true, None),
            Last::Step(Reason::Length) if !killed => {
                (true, told(Class::Truncated, "the answer was cut off (length)"))
            }
            Last::Step(Reason::Filter) if !killed => {
                (true, told(Class::Refusal, "the provider filtered the answer (content-filter)"))
            }
            Last::Step(Reason::Error) if !killed => {
                (true, told(Class::Unknown, "the step ended with an error"))
            }
            Last::Step(Reason::Done) if well => (true, None),
            _ => (false, on_stderr(ended).or_else(cut)),
        }
    }
}

fn told(class: Class, words: &str) -> Option<Failure> {
    Some(worded(class, words))
}

/// Whether it is an event of this stream: a kind that is known, with what belongs to it.
fn is_known(kind: &str, event: &Event<'_>) -> bool {
    match kind {
        "step_start" | "step_finish" | "text" | "tool_use" | "reasoning" => event.part.is_some(),
        "error" => event.error.0.is_some(),
        _ => false,
    }
}

fn reason(field: Field<'_>) -> Reason {
    match field.head(40).as_deref() {
        Some("tool-calls") => Reason::Tools,
        Some("length") => Reason::Length,
        Some("content-filter") => Reason::Filter,
        Some("error") => Reason::Error,
        Some("unknown") | None => Reason::Broken,
        Some(_) => Reason::Done,
    }
}
