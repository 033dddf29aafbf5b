//! Grok's own formats: `streaming-json` (pieces of text, tools, an end) and `json` (the end alone, as one
//! document). Nobody asks for them but a user; they tell no cost while the call runs and no refusals.

use crate::claude::meter::Meter;
use crate::claude::opening::open;
use crate::claude::reader::dearest_model;
use crate::claude::tools::Tools;
use crate::claude::verdict::{Facts, failure};
use crate::dialect::{Ended, LineKind};
use crate::error_phrases::{class_of, worded};
use crate::grok::event::{Ending, Failed, Piece, ToolCall, Update};
use crate::grok::fault;
use crate::grok::reader::refused;
use crate::json::{Field, read};
use crate::output::aborted;
use crate::plain::{KEPT, Tail, short};
use crate::seam::{Activity, Failure, ReaderEvent, Reply};
use crate::terms::Terms;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;

/// What was heard so far.
#[derive(Debug)]
pub struct Native {
    heard: bool,
    marked: bool,
    /// The message that is being given; a tool's start begins another.
    text: Tail,
    unsaid: bool,
    meter: Meter,
    tools: Tools,
    out_of_turns: bool,
    end: Option<End>,
}

#[derive(Debug, Default)]
struct End {
    failure: Option<Failure>,
    usage: Option<Usage>,
    cost: Option<Micro>,
    turns: Option<u32>,
    session: Option<String>,
    model: Option<String>,
}

impl Default for Native {
    fn default() -> Native {
        Native {
            heard: false,
            marked: false,
            text: Tail::new(KEPT),
            unsaid: false,
            meter: Meter::default(),
            tools: Tools::default(),
            out_of_turns: false,
            end: None,
        }
    }
}

impl Native {
    /// How the call is accounted for.
    pub fn on(&mut self, terms: Terms) {
        self.meter.on(terms);
    }

    /// Whether anything was heard in one of these formats.
    pub fn heard(&self) -> bool {
        self.heard
    }

    /// Whether nobody else prints what was heard.
    pub fn marked(&self) -> bool {
        self.marked
    }

    /// One event; `None` where its kind is not one of these.
    pub fn event(&mut self, kind: &str, line: &str, out: &mut Vec<ReaderEvent>) -> Option<LineKind> {
        let known = match kind {
            "text" => read(line).map(|piece: Piece<'_>| self.piece(piece.data)),
            "thought" => read(line).map(|piece: Piece<'_>| piece.data.text().is_some()),
            "tool_call" => read(line).map(|call: ToolCall<'_>| self.tool(&call, out)),
            "tool_call_update" => open(line).map(|update: Update<'_>| self.update(&update, line, out)),
            "usage" => read(line).map(|event: Ending<'_>| self.used(&event, out)),
            "end" => read(line).map(|event: Ending<'_>| self.ended(&event, out)),
            "error" => read(line).map(|event: Ending<'_>| self.error(&event, out)),
            "available_commands" => Some(line.ends_with('}') && line.contains(r#","commands":["#)),
            "max_turns_reached" => {
                self.out_of_turns = true;
                Some(true)
            }
            _ => return None,
        };
        let heed = known
            .map_or(LineKind::NotAnEvent, |known| if known { LineKind::Event } else { LineKind::Unknown });
        self.heard |= heed == LineKind::Event;
        Some(heed)
    }

    /// The whole output as one document. Says whether it was.
    pub fn document(&mut self, document: &str, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(event) = read::<Ending<'_>>(document) else { return false };
        if event.text.text().is_none() || event.session_id.text().is_none() {
            return false;
        }
        event.text.pour(&mut self.text);
        self.heard = self.ended(&event, out);
        self.heard
    }

    fn piece(&mut self, data: Field<'_>) -> bool {
        if data.text().is_none() {
            return false;
        }
        data.pour(&mut self.text);
        self.unsaid = true;
        true
    }

    fn say(&mut self, out: &mut Vec<ReaderEvent>) {
        if std::mem::take(&mut self.unsaid) {
            out.push(ReaderEvent::Activity(Activity::Said { text: short(&self.text.text(), SAID) }));
        }
    }

    fn tool(&mut self, call: &ToolCall<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(id) = call.id.text() else { return false };
        self.say(out);
        self.text.clear();
        let name = call.name.filled().or_else(|| call.title.filled()).unwrap_or_default();
        out.push(ReaderEvent::Activity(self.tools.start(&id, &name, call.input)));
        true
    }

    /// Each update repeats the output so far, so it is only read where the tool failed.
    fn update(&mut self, update: &Update<'_>, line: &str, out: &mut Vec<ReaderEvent>) -> bool {
        let failed = update.status.is("failed");
        if failed || update.status.is("completed") {
            let content = read::<Failed<'_>>(line).filter(|_| failed).and_then(|f| f.content.raw());
            let id = update.id.text().unwrap_or_default();
            out.push(ReaderEvent::Activity(self.tools.end(&id, failed, content.is_some_and(refused))));
        }
        update.id.0.is_some()
    }

    fn used(&mut self, event: &Ending<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(used) = event.usage.0 else { return false };
        self.say(out);
        out.extend(self.meter.turn("", None, used).map(ReaderEvent::Spent));
        true
    }

    fn ended(&mut self, event: &Ending<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(reason) = event.stop_reason.text() else { return false };
        let failure = self.reason(&reason);
        self.close(event, failure, out);
        true
    }

    fn error(&mut self, event: &Ending<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(words) = event.message.head(4096) else { return false };
        self.marked |= fault::is_wrapped(&words);
        let mut facts = Facts { is_error: true, words: words.into_owned(), ..Facts::default() };
        fault::explain(&mut facts);
        self.text.clear();
        self.close(event, failure(&facts), out);
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

    fn close(&mut self, event: &Ending<'_>, failure: Option<Failure>, out: &mut Vec<ReaderEvent>) {
        self.say(out);
        let earlier = self.end.take();
        if earlier.is_none() {
            out.push(ReaderEvent::Final);
        }
        let cost = event.cost.number().and_then(Micro::from_usd).filter(|cost| *cost > Micro::ZERO);
        let end = End {
            failure: earlier.and_then(|end| end.failure).or(failure),
            usage: event.usage.0,
            cost,
            turns: event.turns.count().and_then(|n| u32::try_from(n).ok()),
            session: event.session_id.filled().map(|s| short(&s, 200)),
            model: dearest_model(event.model_usage),
        };
        out.extend(self.meter.account(end.cost, end.usage).map(ReaderEvent::Spent));
        self.end = Some(end);
    }

    /// What it all came to.
    pub fn reply(self, ended: &Ended<'_>) -> Reply {
        let spent = self.meter.spent();
        let denials = self.tools.into_refused();
        let Some(end) = self.end else {
            return Reply {
                failure: Some(aborted(ended.exit)),
                usage: spent.usage,
                denials,
                ..Reply::default()
            };
        };
        // The document does not say why it was cancelled; the last words on stderr do.
        let cancelled = end.failure.as_ref().is_some_and(|f| f.class == Class::Aborted);
        let turns = cancelled && class_of(ended.stderr) == Some(Class::MaxTurns);
        let failure = if turns { Some(worded(Class::MaxTurns, ended.stderr)) } else { end.failure };
        Reply {
            text_bytes: self.text.length(),
            text: self.text.text().into_owned(),
            finished: true,
            failure,
            session: end.session,
            model: end.model,
            usage: end.usage.unwrap_or(spent.usage),
            cost: end.cost,
            turns: end.turns,
            denials,
            ..Reply::default()
        }
    }
}
