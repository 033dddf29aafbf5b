//! opencode's event stream. There is no terminal event: the last step says how it ended and the program's exit that it
//! was the last. Even an answer that is complete may be followed by more, since a conversation that grew too long is
//! summed up in a step of its own; so no end is announced before the exit.

use crate::accumulator::Accumulator;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::error_phrases::worded;
use crate::json::{Field, read};
use crate::opencode::event::{Event, Part, usage};
use crate::opencode::failure::{failure, on_stderr, refusals};
use crate::output::aborted;
use crate::reply::{Failure, Reply};
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};

/// How the results of refused tools begin: nobody is there to be asked, or a rule forbids it.
const REFUSED: &[&str] =
    &["\"The user rejected permission", "\"The user has specified a rule which prevents"];

/// What was read so far; the accumulator's text is that of the last step.
#[derive(Debug, Default)]
pub struct OpencodeReader {
    call: Accumulator,
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

impl Dialect for OpencodeReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.call
    }

    fn object(&mut self, line: &str) -> LineKind {
        let Some(event) = read::<Event<'_>>(line) else { return LineKind::NotAnEvent };
        let Some(kind) = event.kind.text().filter(|kind| is_known(kind, &event)) else {
            return LineKind::Unknown;
        };
        if self.call.session.is_none() {
            self.call.set_session(event.session);
            self.call.began();
        }
        let part = event.part.unwrap_or_default();
        match kind.as_ref() {
            "step_start" => self.step_start(),
            "text" => self.said(part.text),
            "tool_use" => self.tool(&part),
            "step_finish" => self.step_finish(&part),
            "error" => self.error(event.error),
            _ => {}
        }
        LineKind::Event
    }

    fn failure_without_events(ended: &Ended<'_>) -> Option<Failure> {
        on_stderr(ended)
    }

    fn reply(mut self, ended: &Ended<'_>) -> Reply {
        if matches!(self.last, Last::Nothing | Last::Open) {
            self.call.tally.blind();
        }
        let mut denials = std::mem::take(&mut self.call.tools).into_refused();
        if denials.is_empty() {
            // Some versions leave a refused tool out of the stream.
            denials = refusals(ended.stderr);
            self.refused |= !denials.is_empty();
        }
        let (finished, failure) = self.end(ended);
        if matches!(self.last, Last::Step(Reason::Tools)) {
            self.call.text.clear();
        }
        let cost = self.call.tally.cost();
        Reply { denials, cost, ..self.call.reply(finished, failure) }
    }
}

impl OpencodeReader {
    fn step_start(&mut self) {
        if matches!(self.last, Last::Open) {
            // The step before it was dropped without an account.
            self.call.tally.blind();
        }
        self.last = Last::Open;
        self.refused = false;
        self.call.text.clear();
    }

    fn said(&mut self, text: Field<'_>) {
        if self.call.text.length() > 0 {
            self.call.text.push(b"\n");
        }
        text.pour(&mut self.call.text);
        self.call.show_field(text);
    }

    fn tool(&mut self, part: &Part<'_>) {
        let Some(state) = &part.state else { return };
        let failed = state.status.is("error");
        let refused = failed && state.error.raw().is_some_and(|e| REFUSED.iter().any(|r| e.starts_with(r)));
        self.call.tool_start(part.call, part.tool, state.input);
        self.call.tool_end(part.call, failed, refused);
        self.refused |= refused;
        if part.tool.is("task") && !refused {
            // A sub-agent's steps are in a conversation of their own, which is not shown.
            self.call.tally.blind();
        }
    }

    fn step_finish(&mut self, part: &Part<'_>) {
        self.call.turns = self.call.turns.saturating_add(1);
        let reason = reason(part.reason);
        self.last = Last::Step(reason);
        let used = usage(part.tokens);
        self.call.spend(used, part.cost.number().and_then(Micro::from_usd));
        if reason == Reason::Broken {
            self.call.retrying("the model's answer was cut off; the client retries".to_owned());
            if used == Usage::default() {
                // The provider counts what it could not report any more.
                self.call.tally.blind();
            }
        }
    }

    fn error(&mut self, error: Field<'_>) {
        if matches!(self.last, Last::Open) {
            self.call.tally.blind();
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
        let killed = exit.by_us || exit.was_killed();
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
    if event.session.filled().is_none() {
        return false;
    }
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
