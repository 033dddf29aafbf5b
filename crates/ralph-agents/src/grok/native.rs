//! Grok's own formats: `streaming-json` (pieces of text, tools, an end) and `json` (the end alone, as one document). Only a
//! user asks for them; they tell no cost while the call runs and no refusals.

use crate::accumulator::Accumulator;
use crate::call_pricing::CallPricing;
use crate::claude::failure::{FailureFacts, failure};
use crate::claude::line_prefix::read_prefix;
use crate::claude::meter::Meter;
use crate::claude::reader::dearest_model;
use crate::dialect::{Ended, LineKind};
use crate::error_phrases::{class_of, worded};
use crate::grok::event::{Ending, Failed, Piece, ToolCall, Update};
use crate::grok::failure::{explain, is_wrapped};
use crate::grok::reader::refused;
use crate::json::{Field, read};
use crate::output::aborted;
use crate::reply::{Failure, Reply};
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};

/// What was read so far, beside what the accumulator keeps; its text is the message that is being given, and a tool's
/// start begins another.
#[derive(Debug, Default)]
pub struct Native {
    has_events: bool,
    distinctive: bool,
    unshown: bool,
    meter: Meter,
    out_of_turns: bool,
    end: Option<End>,
}

#[derive(Debug, Default)]
struct End {
    failure: Option<Failure>,
    usage: Option<Usage>,
    cost: Option<Micro>,
    turns: Option<u32>,
}

impl Native {
    /// Sets how usage is priced.
    pub fn price_with(&mut self, pricing: CallPricing) {
        self.meter.price_with(pricing);
    }

    /// Whether an event of one of these formats was read.
    pub fn has_events(&self) -> bool {
        self.has_events
    }

    /// Whether no other agent prints what was read.
    pub fn is_distinctive(&self) -> bool {
        self.distinctive
    }

    /// One event; `None` where its kind is not one of these.
    pub fn event(&mut self, kind: &str, line: &str, call: &mut Accumulator) -> Option<LineKind> {
        let known = match kind {
            "text" => read(line).map(|piece: Piece<'_>| self.piece(piece.data, call)),
            "thought" => read(line).map(|piece: Piece<'_>| piece.data.text().is_some()),
            "tool_call" => read(line).map(|tool: ToolCall<'_>| self.tool(&tool, call)),
            "tool_call_update" => read_prefix(line).map(|update: Update<'_>| updated(&update, line, call)),
            "usage" => read(line).map(|event: Ending<'_>| self.used(&event, call)),
            "end" => read(line).map(|event: Ending<'_>| self.ended(&event, call)),
            "error" => read(line).map(|event: Ending<'_>| self.error(&event, call)),
            "available_commands" => Some(line.ends_with('}') && line.contains(r#","commands":["#)),
            "max_turns_reached" => {
                self.out_of_turns = true;
                Some(true)
            }
            _ => return None,
        };
        let kind = LineKind::from(known);
        self.has_events |= kind == LineKind::Event;
        Some(kind)
    }

    /// The whole output as one document. Says whether it was.
    pub fn document(&mut self, document: &str, call: &mut Accumulator) -> bool {
        let Some(event) = read::<Ending<'_>>(document) else { return false };
        if event.text.text().is_none() || event.session_id.text().is_none() {
            return false;
        }
        event.text.pour(&mut call.text);
        self.has_events = self.ended(&event, call);
        self.has_events
    }

    fn piece(&mut self, data: Field<'_>, call: &mut Accumulator) -> bool {
        if data.text().is_none() {
            return false;
        }
        data.pour(&mut call.text);
        self.unshown = true;
        true
    }

    fn show(&mut self, call: &mut Accumulator) {
        if std::mem::take(&mut self.unshown) {
            call.show_gathered();
        }
    }

    fn tool(&mut self, tool: &ToolCall<'_>, call: &mut Accumulator) -> bool {
        if tool.id.text().is_none() {
            return false;
        }
        self.show(call);
        call.text.clear();
        let name = if tool.name.filled().is_some() { tool.name } else { tool.title };
        call.tool_start(tool.id, name, tool.input);
        true
    }

    fn used(&mut self, event: &Ending<'_>, call: &mut Accumulator) -> bool {
        let Some(used) = event.usage.0 else { return false };
        self.show(call);
        call.spent(self.meter.turn("", None, used));
        true
    }

    fn ended(&mut self, event: &Ending<'_>, call: &mut Accumulator) -> bool {
        let Some(reason) = event.stop_reason.text() else { return false };
        let failure = self.reason(&reason);
        self.close(event, failure, call);
        true
    }

    fn error(&mut self, event: &Ending<'_>, call: &mut Accumulator) -> bool {
        let Some(words) = event.message.head(4096) else { return false };
        self.distinctive |= is_wrapped(&words);
        let mut facts = FailureFacts { is_error: true, words: words.into_owned(), ..FailureFacts::default() };
        explain(&mut facts);
        call.text.clear();
        self.close(event, failure(&facts), call);
        true
    }

    fn reason(&self, reason: &str) -> Option<Failure> {
        let class = match reason {
            "max_tokens" => Class::Truncated,
            "max_turn_requests" => Class::MaxTurns,
            "refusal" => Class::Refusal,
            "cancelled" if self.out_of_turns => Class::MaxTurns,
            "cancelled" => Class::Aborted,
            _ => return None,
        };
        Some(worded(class, &format!("{} ({reason})", class.words())))
    }

    fn close(&mut self, event: &Ending<'_>, failure: Option<Failure>, call: &mut Accumulator) {
        self.show(call);
        call.finish();
        let earlier = self.end.take();
        let end = End {
            failure: earlier.and_then(|end| end.failure).or(failure),
            usage: event.usage.0,
            cost: event.cost.number().and_then(Micro::from_usd).filter(|cost| *cost > Micro::ZERO),
            turns: event.turns.count().and_then(|n| u32::try_from(n).ok()),
        };
        call.session = None;
        call.set_session(event.session_id);
        call.model = dearest_model(event.model_usage);
        call.spent(self.meter.account(end.cost, end.usage));
        self.end = Some(end);
    }

    /// The result of the call.
    pub fn reply(self, call: Accumulator, ended: &Ended<'_>) -> Reply {
        let usage = self.meter.spent().usage;
        let Some(end) = self.end else {
            return Reply { usage, ..call.reply(false, Some(aborted(ended.exit))) };
        };
        // The document does not say why it was cancelled; the last words on stderr do.
        let cancelled = end.failure.as_ref().is_some_and(|f| f.class == Class::Aborted);
        let turns = cancelled && class_of(ended.stderr) == Some(Class::MaxTurns);
        let failure = if turns { Some(worded(Class::MaxTurns, ended.stderr)) } else { end.failure };
        let usage = end.usage.unwrap_or(usage);
        Reply { usage, cost: end.cost, turns: end.turns, ..call.reply(true, failure) }
    }
}

/// Each update repeats the output so far, so it is only read where the tool failed.
fn updated(update: &Update<'_>, line: &str, call: &mut Accumulator) -> bool {
    let failed = update.status.is("failed");
    if failed || update.status.is("completed") {
        let content = read::<Failed<'_>>(line).filter(|_| failed).and_then(|f| f.content.raw());
        call.tool_end(update.id, failed, content.is_some_and(refused));
    }
    update.id.0.is_some()
}
