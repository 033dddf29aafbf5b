//! Claude's event stream: kept small, event by event, until the terminal one. `event.rs` has the lines' shapes,
//! `failure.rs` says why a call failed; `output.rs` decides what is an event at all.

use crate::accumulator::Accumulator;
use crate::call_pricing::CallPricing;
use crate::claude::event::{Assistant, Message, ModelUse, RateLimit, Stream, System, Terminal};
use crate::claude::failure::{ApiError, FailureFacts, failure};
use crate::claude::line_prefix::{Introduction, User, read_prefix};
use crate::claude::meter::Meter;
use crate::claude::token_usage::TokenUsage;
use crate::claude::variant::ClaudeVariant;
use crate::dialect::{Dialect, Ended, LineKind};
use crate::json::{Field, first_kind, lenient, read};
use crate::json_reply::status_of;
use crate::output::aborted;
use crate::reply::{Denial, Failure, Reply};
use crate::reset::epoch;
use crate::text::short;
use crate::tools::listed;
use ralph_rules::claim::ReportedStatus;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The start of the events that partial messages bring in numbers and that say nothing new.
const PIECE: &str = r#"{"type":"stream_event","event":{"type":"content_block_"#;

/// The start of the introduction in all versions seen.
const INIT: &str = r#"{"type":"system","subtype":"init","#;

/// What was read so far.
#[derive(Debug, Default)]
pub struct ClaudeReader {
    /// What the events have said.
    pub call: Accumulator,
    variant: ClaudeVariant,
    meter: Meter,
    /// What bears on how it ends.
    facts: FailureFacts,
    /// The terminal event, the last one if there were several.
    end: Option<End>,
}

/// What the terminal event says beside the final message.
#[derive(Debug)]
struct End {
    status: Option<ReportedStatus>,
    failure: Option<Failure>,
    usage: Option<Usage>,
    models: Vec<(String, Usage)>,
    cost: Option<Micro>,
    turns: Option<u32>,
    denials: Option<Vec<Denial>>,
}

impl Dialect for ClaudeReader {
    fn call(&mut self) -> &mut Accumulator {
        &mut self.call
    }

    fn price_with(&mut self, pricing: CallPricing) {
        self.meter.price_with(pricing);
    }

    fn object(&mut self, line: &str) -> LineKind {
        match first_kind(line) {
            Some(kind) => self.event(kind, line),
            None => match read::<Terminal<'_>>(line) {
                None => LineKind::NotAnEvent,
                Some(event) if event.kind.is("result") => self.terminal(&event, line).into(),
                Some(event) => event.kind.text().map_or(LineKind::Unknown, |kind| self.event(&kind, line)),
            },
        }
    }

    /// A line that is no event may be a tool's result that was too long and cut: the tool has ended all the same.
    fn cut_line(&mut self, line: &[u8]) {
        let head = line.get(..line.len().min(512)).unwrap_or(line);
        if head.starts_with(br#"{"type":"user""#) && memchr::memmem::find(head, b"tool_result").is_some() {
            self.call.tool_end_cut();
        }
    }

    /// A reply of older tools: an object without a type whose `result` is the final message.
    fn document(&mut self, document: &str) -> bool {
        let Some(event) = read::<Terminal<'_>>(document) else { return false };
        let plain = event.kind.0.is_none() && event.result.text().is_some();
        plain && self.terminal(&event, document)
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        let usage = self.meter.spent().usage;
        let covers = self.variant.covers(self.meter.resumed());
        let Some(end) = self.end else {
            let failure = unfinished(self.facts).unwrap_or_else(|| aborted(ended.exit));
            return Reply { usage, covers, ..self.call.reply(false, Some(failure)) };
        };
        let mut reply = self.call.reply(true, end.failure);
        reply.denials = end.denials.unwrap_or(reply.denials);
        let (usage, status) = (end.usage.unwrap_or(usage), end.status);
        Reply { status, usage, models: end.models, cost: end.cost, turns: end.turns, covers, ..reply }
    }
}

impl ClaudeReader {
    /// Nothing read yet from a client that prints this variant.
    pub fn with(variant: ClaudeVariant) -> ClaudeReader {
        ClaudeReader { variant, ..ClaudeReader::default() }
    }

    fn event(&mut self, kind: &str, line: &str) -> LineKind {
        let known = match kind {
            "stream_event" if line.starts_with(PIECE) && line.ends_with('}') => Some(true),
            "stream_event" => read(line).map(|event| self.stream(&event)),
            "assistant" => read(line).map(|event| self.assistant(&event)),
            "user" => self.user(line),
            "system" => match introduction(line) {
                Some(event) => Some(self.began(event.session_id, event.model)),
                None => read(line).map(|event| self.system(&event)),
            },
            "rate_limit_event" => read(line).map(|event| self.rate_limit(&event)),
            "result" => read(line).map(|event| self.terminal(&event, line)),
            _ => return LineKind::Unknown,
        };
        known.into()
    }

    fn system(&mut self, event: &System<'_>) -> bool {
        if event.subtype.is("init") {
            self.began(event.session_id, event.model);
        } else if event.subtype.is("api_retry") {
            self.call.retrying(retry_reason(event));
        } else if event.subtype.is("permission_denied") {
            let id = event.tool_use_id.text().unwrap_or_default();
            self.call.tools.denied(&id, &event.tool_name.text().unwrap_or_default());
        }
        event.session_id.0.is_some()
    }

    fn began(&mut self, session: Field<'_>, model: Field<'_>) -> bool {
        self.identify(session, model);
        self.call.began();
        true
    }

    fn identify(&mut self, session: Field<'_>, model: Field<'_>) {
        self.call.set_session(session);
        if self.call.model.is_none() && !model.is("<synthetic>") {
            self.call.set_model(model);
        }
    }

    fn assistant(&mut self, event: &Assistant<'_>) -> bool {
        let Some(message) = &event.message else { return false };
        self.identify(event.session_id, message.model);
        self.spend(message);
        if event.parent_tool_use_id.0.is_none() {
            self.note_stop(message.stop_reason);
        }
        self.facts.api = if event.is_api_error_message.truth() == Some(true) || event.error.0.is_some() {
            api_error(event.api_error_status, event.api_error_type, event.api_error, event.error)
        } else {
            ApiError::default()
        };
        for block in &message.content.0 {
            if block.kind.is("text") {
                self.call.show_field(block.text);
            } else if block.kind.is("tool_use") {
                self.call.tool_start(block.id, block.name, block.input);
            }
        }
        true
    }

    fn user(&mut self, line: &str) -> Option<bool> {
        let message = read_prefix::<User<'_>>(line)?.message?;
        for block in &message.content.0 {
            if block.kind.is("tool_result") {
                let failed = block.is_error.truth() == Some(true);
                let refused = failed && block.content.raw().is_some_and(self.variant.refused);
                self.call.tool_end(block.tool_use_id, failed, refused);
            } else if block.text.raw().is_some_and(|t| t.starts_with("\"[Request interrupted by user")) {
                self.facts.interrupted = true;
            }
        }
        Some(true)
    }

    fn stream(&mut self, event: &Stream<'_>) -> bool {
        let Some(inner) = &event.event else { return false };
        if let Some(message) = &inner.message {
            self.spend(message);
        } else if let Some(used) = self.tokens(inner.usage) {
            let named = event.api_message_id.text();
            let id = named.unwrap_or_else(|| self.meter.latest().to_owned().into());
            let spent = self.meter.turn(&id, self.call.model.as_deref(), used);
            self.call.spent(spent);
        }
        if let Some(delta) = inner.delta.as_ref().filter(|_| event.parent_tool_use_id.0.is_none()) {
            self.note_stop(delta.stop_reason);
        }
        true
    }

    fn spend(&mut self, message: &Message<'_>) {
        if message.model.is("<synthetic>") {
            return;
        }
        if let Some(used) = self.tokens(message.usage) {
            let id = message.id.text().unwrap_or_default();
            let model = message.model.text();
            let spent = self.meter.turn(&id, model.as_deref().or(self.call.model.as_deref()), used);
            self.call.spent(spent);
        }
    }

    fn note_stop(&mut self, reason: Field<'_>) {
        if let Some(reason) = reason.filled() {
            reason.as_ref().clone_into(&mut self.facts.stop_reason);
        }
    }

    fn rate_limit(&mut self, event: &RateLimit<'_>) -> bool {
        let Some(info) = &event.rate_limit_info else { return false };
        let resets = info.resets_at.number().and_then(epoch);
        self.facts.used_up = resets.filter(|_| info.status.is("rejected"));
        true
    }

    /// `written` is the whole event: older tools put status fields into it.
    fn terminal(&mut self, event: &Terminal<'_>, written: &str) -> bool {
        let fields = [event.result, event.subtype, event.is_error, event.errors, event.total_cost_usd];
        if fields.iter().all(|f| f.0.is_none()) {
            return false;
        }
        self.identify(event.session_id, event.model);
        self.identify(event.session_id_too, Field::default());
        if self.call.model.is_none() {
            self.call.model = dearest_model(event.model_usage);
        }
        self.call.replace_text(event.result);
        let cost = [event.total_cost_usd, event.cost_usd].into_iter().find_map(Field::number);
        let end = End {
            status: status_of(written),
            failure: failure(&self.last_facts(event)),
            usage: self.tokens(event.usage),
            models: by_model(event.model_usage, &self.variant),
            cost: self.variant.cost(cost.and_then(Micro::from_usd)),
            turns: event.num_turns.count().and_then(|n| u32::try_from(n).ok()),
            denials: listed(event.permission_denials),
        };
        // What a resumed conversation cost in all is not what this call has cost so far.
        let cost = end.cost.filter(|_| !self.meter.resumed());
        let spent = self.meter.account(cost, end.usage);
        self.call.spent(spent);
        self.call.finish();
        self.end = Some(end);
        true
    }

    /// The facts at the end: the terminal event's own, and where it is silent what was noted on the way.
    fn last_facts(&self, event: &Terminal<'_>) -> FailureFacts {
        let mut facts = self.facts.clone();
        let own = |f: Field<'_>| f.filled().map(Cow::into_owned);
        facts.subtype = own(event.subtype).unwrap_or_default();
        facts.is_error = event.is_error.truth().unwrap_or(false);
        facts.terminal_reason = own(event.terminal_reason).unwrap_or_default();
        if let Some(reason) = own(event.stop_reason) {
            facts.stop_reason = reason;
        }
        let told = api_error(event.api_error_status, event.api_error_type, event.api_error, Field::default());
        if told != ApiError::default() {
            facts.api = ApiError { category: facts.api.category, ..told };
        }
        facts.words = error_words(event);
        (self.variant.explain)(&mut facts);
        facts
    }

    fn tokens(&self, told: TokenUsage) -> Option<Usage> {
        told.0.map(|used| self.variant.tokens(used))
    }
}

/// The failure a stream told of before it stopped without a terminal event.
fn unfinished(mut facts: FailureFacts) -> Option<Failure> {
    facts.is_error = facts.api != ApiError::default();
    facts.stop_reason.clear();
    let told = if facts.is_error { failure(&facts) } else { None };
    told.filter(|failure| failure.class != Class::Unknown)
}

fn introduction(line: &str) -> Option<Introduction<'_>> {
    if line.starts_with(INIT) && line.ends_with('}') { read_prefix(line) } else { None }
}

fn api_error(status: Field<'_>, kind: Field<'_>, code: Field<'_>, category: Field<'_>) -> ApiError {
    let own = |f: Field<'_>| f.head(200).unwrap_or_default().into_owned();
    ApiError { status: status.count(), kind: own(kind), code: own(code), category: own(category) }
}

/// The error's text: `result` where it is one, `errors`, or an `error` with or without a message inside.
fn error_words(event: &Terminal<'_>) -> String {
    lenient! {
        struct Inner<'a> { message }
    }
    const MOST: usize = 4096;
    let whole = |f: Field<'_>| f.head(MOST).filter(|t| !t.is_empty()).map(Cow::into_owned);
    let list: Vec<Field<'_>> = event.errors.read().unwrap_or_default();
    let listed: Vec<String> = list.into_iter().take(10).filter_map(whole).collect();
    whole(event.result)
        .or_else(|| (!listed.is_empty()).then(|| listed.join("; ")))
        .or_else(|| whole(event.error))
        .or_else(|| event.error.read::<Inner<'_>>().and_then(|inner| whole(inner.message)))
        .unwrap_or_default()
}

fn retry_reason(event: &System<'_>) -> String {
    let why = event.error.head(200).unwrap_or_default();
    let status = event.error_status.count().map(|s| format!(" ({s})")).unwrap_or_default();
    let attempt = event.attempt.count().unwrap_or(0);
    let most = event.max_retries.count().map(|m| format!(" of {m}")).unwrap_or_default();
    let delay = event.retry_delay_ms.number().map(|ms| format!(" in {:.1} s", ms / 1e3)).unwrap_or_default();
    short(&format!("{why}{status}, try {attempt}{most}{delay}"), 300)
}

/// The model that cost most, for output that names models only in its account.
pub fn dearest_model(account: Field<'_>) -> Option<String> {
    let models: BTreeMap<Cow<'_, str>, ModelUse<'_>> = account.read()?;
    let cost = |m: &ModelUse<'_>| m.cost.number().unwrap_or(0.0);
    models.iter().max_by(|a, b| cost(a.1).total_cmp(&cost(b.1))).map(|(name, _)| short(name, 200))
}

/// Tokens model by model: side requests go to another one than the work.
fn by_model(account: Field<'_>, variant: &ClaudeVariant) -> Vec<(String, Usage)> {
    let models: BTreeMap<Cow<'_, str>, ModelUse<'_>> = account.read().unwrap_or_default();
    let used = |m: &ModelUse<'_>| variant.tokens(m.tokens());
    models.iter().map(|(name, m)| (short(name, 200), used(m))).filter(|(_, u)| u.total() > 0).collect()
}
