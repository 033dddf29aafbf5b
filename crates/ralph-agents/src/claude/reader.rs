//! Everything heard in one call's event stream: kept small, event by event, until the terminal one. `event.rs`
//! has the lines' shapes, `verdict.rs` says what the end means; `output.rs` decides what is an event at all.

use crate::claude::accent::Accent;
use crate::claude::event::{Assistant, Message, ModelUse, RateLimit, Stream, System, Terminal};
use crate::claude::meter::Meter;
use crate::claude::opening::{Introduction, User, open};
use crate::claude::tools::{Tools, listed};
use crate::claude::used::Used;
use crate::claude::verdict::{ApiError, Facts, failure};
use crate::dialect::{Dialect, Ended, LineKind};
use crate::json::{Field, first_kind, read};
use crate::output::aborted;
use crate::plain::{KEPT, Tail, short};
use crate::reset::epoch;
use crate::seam::{Activity, Denial, Failure, ReaderEvent, Reply};
use crate::terms::Terms;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How much of what the agent says is shown while it works.
const SAID: usize = 2000;
/// The start of the events that partial messages bring in numbers and that say nothing new.
const PIECE: &str = r#"{"type":"stream_event","event":{"type":"content_block_"#;

/// The start of the introduction in all versions seen.
const INIT: &str = r#"{"type":"system","subtype":"init","#;

/// What was heard so far.
#[derive(Debug, Default)]
pub struct ClaudeReader {
    accent: Accent,
    /// The terminal event, the last one if there were several.
    end: Option<End>,
    /// Conversation id.
    pub session: Option<String>,
    /// The model that works.
    pub model: Option<String>,
    /// What was used so far.
    pub meter: Meter,
    /// What bears on how it ends.
    pub facts: Facts,
    tools: Tools,
}

/// The terminal event.
#[derive(Debug)]
pub struct End {
    /// The final message, bounded.
    pub text: Tail,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// Tokens, as the agent accounts for them.
    pub usage: Option<Usage>,
    /// The same model by model, where it says so.
    models: Vec<(String, Usage)>,
    /// Cost, as the agent accounts for it.
    pub cost: Option<Micro>,
    /// Model turns.
    pub turns: Option<u32>,
    denials: Option<Vec<Denial>>,
}

impl Dialect for ClaudeReader {
    fn on(&mut self, terms: Terms) {
        self.meter.on(terms);
    }

    fn object(&mut self, line: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        match first_kind(line) {
            Some(kind) => self.event(kind, line, out),
            None => match read::<Terminal<'_>>(line) {
                None => LineKind::NotAnEvent,
                Some(event) if event.kind.is("result") => line_kind(self.terminal(&event, out)),
                Some(event) => {
                    event.kind.text().map_or(LineKind::Unknown, |kind| self.event(&kind, line, out))
                }
            },
        }
    }

    /// A line that is no event may be a tool's result that was too long for the hands and cut: the tool has
    /// ended all the same.
    fn cut_short(&mut self, line: &[u8], out: &mut Vec<ReaderEvent>) {
        let head = line.get(..line.len().min(512)).unwrap_or(line);
        if head.starts_with(br#"{"type":"user""#) && memchr::memmem::find(head, b"tool_result").is_some() {
            out.push(ReaderEvent::Activity(self.tools.end("", false, false)));
        }
    }

    /// A reply of older tools: an object without a type whose `result` is the final message.
    fn envelope(&mut self, document: &str, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(event) = read::<Terminal<'_>>(document) else { return false };
        let plain = event.kind.0.is_none() && event.result.text().is_some();
        plain && self.terminal(&event, out)
    }

    fn reply(mut self, ended: &Ended<'_>) -> Reply {
        let denials = self.take_denials();
        let spent = self.meter.spent();
        let covers = self.accent.covers(self.meter.resumed());
        let reply = Reply { session: self.session, model: self.model, denials, covers, ..Reply::default() };
        match self.end {
            Some(end) => Reply {
                text_bytes: end.text.length(),
                text: end.text.text().into_owned(),
                finished: true,
                failure: end.failure,
                usage: end.usage.unwrap_or(spent.usage),
                models: end.models,
                cost: end.cost,
                turns: end.turns,
                ..reply
            },
            None => {
                let failure = unfinished(self.facts).unwrap_or_else(|| aborted(ended.exit));
                Reply { failure: Some(failure), usage: spent.usage, ..reply }
            }
        }
    }
}

impl ClaudeReader {
    /// Nothing heard yet from a client with this accent.
    pub fn with(accent: Accent) -> ClaudeReader {
        ClaudeReader { accent, ..ClaudeReader::default() }
    }

    fn event(&mut self, kind: &str, line: &str, out: &mut Vec<ReaderEvent>) -> LineKind {
        let known = match kind {
            "stream_event" if line.starts_with(PIECE) && line.ends_with('}') => Some(true),
            "stream_event" => read(line).map(|event| self.stream(&event, out)),
            "assistant" => read(line).map(|event| self.assistant(&event, out)),
            "user" => self.user(line, out),
            "system" => match introduction(line) {
                Some(event) => Some(self.began(event.session_id, event.model, out)),
                None => read(line).map(|event| self.system(&event, out)),
            },
            "rate_limit_event" => read(line).map(|event| self.rate_limit(&event)),
            "result" => read(line).map(|event| self.terminal(&event, out)),
            _ => return LineKind::Unknown,
        };
        known.map_or(LineKind::NotAnEvent, line_kind)
    }

    /// The refusals: as the end lists them, else as they were seen.
    fn take_denials(&mut self) -> Vec<Denial> {
        let seen = std::mem::take(&mut self.tools).into_refused();
        self.end.as_mut().and_then(|end| end.denials.take()).unwrap_or(seen)
    }

    fn system(&mut self, event: &System<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        if event.subtype.is("init") {
            self.began(event.session_id, event.model, out);
        } else if event.subtype.is("api_retry") {
            out.push(ReaderEvent::Activity(Activity::Retrying { why: retry_reason(event) }));
        } else if event.subtype.is("permission_denied") {
            let id = event.tool_use_id.text().unwrap_or_default();
            self.tools.denied(&id, &event.tool_name.text().unwrap_or_default());
        }
        event.session_id.0.is_some()
    }

    fn began(&mut self, session: Field<'_>, model: Field<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        self.meet(session, model);
        let began = Activity::Began { session: self.session.clone(), model: self.model.clone() };
        out.push(ReaderEvent::Activity(began));
        true
    }

    fn meet(&mut self, session: Field<'_>, model: Field<'_>) {
        if let Some(session) = session.filled().filter(|s| self.session.as_deref() != Some(s)) {
            self.session = Some(short(&session, 200));
        }
        if self.model.is_none() {
            let model = model.filled().filter(|m| *m != "<synthetic>");
            self.model = model.map(|m| short(&m, 200));
        }
    }

    fn assistant(&mut self, event: &Assistant<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(message) = &event.message else { return false };
        self.meet(event.session_id, message.model);
        self.spend(message, out);
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
                let text = block.text.head(SAID * 2).unwrap_or_default();
                if !text.trim().is_empty() {
                    out.push(ReaderEvent::Activity(Activity::Said { text: short(&text, SAID) }));
                }
            } else if block.kind.is("tool_use") {
                let (id, name) = (block.id.text().unwrap_or_default(), block.name.text().unwrap_or_default());
                out.push(ReaderEvent::Activity(self.tools.start(&id, &name, block.input)));
            }
        }
        true
    }

    fn user(&mut self, line: &str, out: &mut Vec<ReaderEvent>) -> Option<bool> {
        let message = open::<User<'_>>(line)?.message?;
        for block in &message.content.0 {
            if block.kind.is("tool_result") {
                let failed = block.is_error.truth() == Some(true);
                let refused = failed && block.content.raw().is_some_and(self.accent.refused);
                let id = block.tool_use_id.text().unwrap_or_default();
                out.push(ReaderEvent::Activity(self.tools.end(&id, failed, refused)));
            } else if block.text.raw().is_some_and(|t| t.starts_with("\"[Request interrupted by user")) {
                self.facts.interrupted = true;
            }
        }
        Some(true)
    }

    fn stream(&mut self, event: &Stream<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let Some(inner) = &event.event else { return false };
        if let Some(message) = &inner.message {
            self.spend(message, out);
        } else if let Some(used) = self.tokens(inner.usage) {
            let named = event.api_message_id.text();
            let id = named.unwrap_or_else(|| self.meter.latest().to_owned().into());
            let spent = self.meter.turn(&id, self.model.as_deref(), used);
            out.extend(spent.map(ReaderEvent::Spent));
        }
        if let Some(delta) = inner.delta.as_ref().filter(|_| event.parent_tool_use_id.0.is_none()) {
            self.note_stop(delta.stop_reason);
        }
        true
    }

    fn spend(&mut self, message: &Message<'_>, out: &mut Vec<ReaderEvent>) {
        let model = message.model.text();
        if model.as_deref() == Some("<synthetic>") {
            return;
        }
        if let Some(used) = self.tokens(message.usage) {
            let id = message.id.text().unwrap_or_default();
            let model = model.as_deref().or(self.model.as_deref());
            out.extend(self.meter.turn(&id, model, used).map(ReaderEvent::Spent));
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

    fn terminal(&mut self, event: &Terminal<'_>, out: &mut Vec<ReaderEvent>) -> bool {
        let fields = [event.result, event.subtype, event.is_error, event.errors, event.total_cost_usd];
        if fields.iter().all(|f| f.0.is_none()) {
            return false;
        }
        self.meet(event.session_id, event.model);
        self.meet(event.session_id_too, Field::default());
        if self.model.is_none() {
            self.model = dearest_model(event.model_usage);
        }
        let mut text = Tail::new(KEPT);
        event.result.pour(&mut text);
        let cost = [event.total_cost_usd, event.cost_usd].into_iter().find_map(Field::number);
        let end = End {
            text,
            failure: failure(&self.last_facts(event)),
            usage: self.tokens(event.usage),
            models: by_model(event.model_usage, &self.accent),
            cost: self.accent.cost(cost.and_then(Micro::from_usd)),
            turns: event.num_turns.count().and_then(|n| u32::try_from(n).ok()),
            denials: listed(event.permission_denials),
        };
        // What a resumed conversation cost in all is not what this call has cost so far.
        let cost = end.cost.filter(|_| !self.meter.resumed());
        out.extend(self.meter.account(cost, end.usage).map(ReaderEvent::Spent));
        out.push(ReaderEvent::Final);
        self.end = Some(end);
        true
    }

    /// The facts at the end: the terminal event's own, and where it is silent what was noted on the way.
    fn last_facts(&self, event: &Terminal<'_>) -> Facts {
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
        (self.accent.explain)(&mut facts);
        facts
    }

    fn tokens(&self, told: Used) -> Option<Usage> {
        told.0.map(|used| self.accent.tokens(used))
    }
}

/// The failure a stream told of before it stopped without a terminal event.
fn unfinished(mut facts: Facts) -> Option<Failure> {
    facts.is_error = facts.api != ApiError::default();
    facts.stop_reason.clear();
    let told = if facts.is_error { failure(&facts) } else { None };
    told.filter(|failure| failure.class != Class::Unknown)
}

fn introduction(line: &str) -> Option<Introduction<'_>> {
    if line.starts_with(INIT) && line.ends_with('}') { open(line) } else { None }
}

fn line_kind(known: bool) -> LineKind {
    if known { LineKind::Event } else { LineKind::Unknown }
}

fn api_error(status: Field<'_>, kind: Field<'_>, code: Field<'_>, category: Field<'_>) -> ApiError {
    let own = |f: Field<'_>| f.head(200).unwrap_or_default().into_owned();
    ApiError { status: status.count(), kind: own(kind), code: own(code), category: own(category) }
}

/// The error's text: `result` where it is one, `errors`, or an `error` with or without a message inside.
fn error_words(event: &Terminal<'_>) -> String {
    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(borrow, default)]
        message: Field<'a>,
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
fn by_model(account: Field<'_>, accent: &Accent) -> Vec<(String, Usage)> {
    let models: BTreeMap<Cow<'_, str>, ModelUse<'_>> = account.read().unwrap_or_default();
    let used = |m: &ModelUse<'_>| accent.tokens(m.tokens());
    models.iter().map(|(name, m)| (short(name, 200), used(m))).filter(|(_, u)| u.total() > 0).collect()
}
