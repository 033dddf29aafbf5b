//! Translates an agent's reply for the rules: the class of a failure, the cost and where it comes from, when a limit
//! resets. An unknown cost is booked as the reservation, never as zero; a call that ralph ended, as what was seen of it.

use super::call::Ended;
use crate::clock::utc;
use crate::reset_time::resolve;
use crate::session_log;
use crate::step_context::StepContext;
use crate::transcript::Kept;
use ralph_agents::Reply;
use ralph_rules::claim::ReportedStatus;
use ralph_rules::cost::{Account, Cost, cost};
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::Why;
use ralph_rules::prompt::{head, tail};
use ralph_rules::record::{Attempt, CallEnded, Failure, FileRef, PriceFrom};

/// Most bytes of a final message in the journal.
const TEXT: usize = 64 * 1024;
/// Most bytes of one status field of a JSON reply in the journal.
const VALUE: usize = 300;
/// Most bytes of an agent's error in the journal.
const MESSAGE: usize = 500;

/// The closing fact.
pub(crate) fn call_ended(ctx: &StepContext, id: Attempt, reserved: Micro, mut ended: Ended) -> CallEnded {
    ended.reply.model = ended.reply.model.take().or_else(|| recorded_model(ctx, &ended));
    let Cost { charged, price, reported, computed, usage, told: conversation } =
        price_call(ctx, reserved, &ended);
    let Ended { mut reply, exit, interrupted_by, kept, outlived, ms, sandbox, .. } = ended;
    let failure = failure(ctx, &reply, interrupted_by);
    for text in reply.status.iter_mut().flat_map(ReportedStatus::texts) {
        // Redacted before it is cut, as below.
        *text = head(&ctx.deps.redactor.redact(text), VALUE);
    }
    CallEnded {
        id,
        text_bytes: reply.text_bytes,
        // Redacted before it is cut: half a secret would not be recognised.
        text: tail(&ctx.deps.redactor.redact(&reply.text), TEXT).to_string(),
        status: reply.status,
        ended_by: interrupted_by.filter(|_| !reply.finished),
        failure,
        charged,
        price,
        reported,
        computed,
        told: conversation,
        usage,
        session: reply.session,
        model: reply.model,
        denials: reply.denials.into_iter().map(|d| d.tool).collect(),
        exit: exit.code,
        signal: exit.signal,
        outlived,
        ms,
        transcript: file_ref(id, &kept),
        recovered: false,
        day: None,
        session_mark: None,
        sandbox,
    }
}

/// The model that the agent recorded, if it reported none.
fn recorded_model(ctx: &StepContext, ended: &Ended) -> Option<String> {
    let binding = ctx.deps.caller(ended.caller.0, ended.caller.1);
    let log = binding.agent.model.session_log?;
    session_log::model(ended.records.as_deref()?, log, ended.reply.session.as_deref()?)
}

/// The cost of the call.
fn price_call(ctx: &StepContext, reserved: Micro, ended: &Ended) -> Cost {
    let Ended { reply, exit, spent, before, idle, interrupted_by, .. } = ended;
    let agent = ctx.start.caller(ended.caller.0, ended.caller.1);
    let configured = ctx.deps.caller(ended.caller.0, ended.caller.1).configured_model.as_deref();
    let live = spent.unwrap_or_default();
    if exit.not_started {
        let (charged, usage) = (Micro::ZERO, Usage::default());
        return Cost {
            charged,
            price: PriceFrom::Reported,
            reported: None,
            computed: None,
            usage,
            told: None,
        };
    }
    let session = reply.session.as_deref().unwrap_or_default();
    let account = Account {
        reported: reply.cost,
        usage: if reply.usage == Usage::default() { live.usage } else { reply.usage },
        models: &reply.models,
        model: reply.model.as_deref().or(agent.model.as_deref()).or(configured),
        finished: reply.finished,
        refused: *idle && reply.failure.as_ref().is_some_and(|f| !f.class.is_iteration()),
        sums_cost: reply.covers.cost,
        sums_usage: reply.covers.usage,
        before: before.as_ref().filter(|(id, _)| id == session).map(|(_, totals)| *totals),
        live: live.total,
        guessed: live.guessed,
        reserved,
        // At the budget's limit the turn under way must be counted, too: the reservation is ahead of it.
        at_limit: *interrupted_by == Some(Why::Budget),
        cut_short: interrupted_by.is_some(),
    };
    cost(&account, &ctx.deps.prices)
}

/// A result that arrived in time counts, even if ralph ended the program afterwards.
fn failure(ctx: &StepContext, reply: &Reply, interrupted_by: Option<Why>) -> Option<Failure> {
    if let Some(why) = interrupted_by.filter(|_| !reply.finished) {
        let (class, message) = match why {
            Why::Budget => (Class::Budget, "ended by ralph: the budget is used up"),
            Why::Deadline => (Class::Aborted, "ended by ralph: the call exceeded its timeout"),
            Why::Time => (Class::Aborted, "ended by ralph: the run passed its time limit"),
            Why::Silence => (Class::Aborted, "ended by ralph: no output and no running tool"),
            Why::Person => (Class::Aborted, "ended by ralph: a person asked to stop"),
        };
        return Some(Failure { class, message: message.into(), reset_at: None });
    }
    let failure = reply.failure.as_ref()?;
    Some(Failure {
        class: failure.class,
        message: head(ctx.deps.redactor.redact(failure.message.trim()).as_ref(), MESSAGE),
        reset_at: failure.reset.as_ref().and_then(|r| resolve(r, utc(), &ctx.start.zone)),
    })
}

/// The reply of a program that could not be started.
pub(super) fn never_ran(why: &str) -> Reply {
    Reply {
        failure: Some(ralph_agents::Failure { class: Class::BadRequest, message: why.into(), reset: None }),
        ..Reply::default()
    }
}

/// The kept transcript, as the journal names it.
pub(crate) fn file_ref(id: Attempt, kept: &Kept) -> FileRef {
    FileRef {
        file: format!("{id}.out.jsonl"),
        bytes: kept.bytes_kept,
        hash: kept.blake3.clone(),
        cut: kept.cut,
    }
}
