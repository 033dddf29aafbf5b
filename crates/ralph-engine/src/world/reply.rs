//! An agent's reply in the rules' words: whose fault a failure is, what is booked and how the price is known, when a
//! limit resets. Unknown cost is booked at the reservation, never at zero.

use super::call::Ended;
use super::turned_away::turned_away;
use crate::bench::Bench;
use crate::clock::utc;
use crate::reset::resolve;
use crate::transcript::Kept;
use ralph_agents::Reply;
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage, price_of};
use ralph_rules::next::Why;
use ralph_rules::prompt::{head, tail};
use ralph_rules::record::{AgentChoice, Attempt, CallEnded, Failure, FileRef, PriceFrom};

/// What the journal keeps of a final message.
const TEXT: usize = 64 * 1024;
/// Tokens that no single call can use.
const TOKENS: u64 = 1_000_000_000_000;
/// What it keeps of an agent's error.
const MESSAGE: usize = 500;

/// The closing fact.
pub(super) fn call_ended(bench: &Bench, id: Attempt, reserved: Micro, ended: Ended) -> CallEnded {
    let Ended { rung, reply, exit, told, kept, spent, work, outlived, ms } = ended;
    let live = spent.unwrap_or_default();
    let usage = if reply.usage == Usage::default() { live.usage } else { reply.usage };
    // More than any call can use is no figure; counted, it would fill a window for an hour.
    let usage = if usage.total() > TOKENS { Usage::default() } else { usage };
    let (charged, price) = if exit.not_started {
        (Micro::ZERO, PriceFrom::Reported)
    } else if reply.cost.is_none() && turned_away(&reply, &usage, &work) {
        (Micro::ZERO, PriceFrom::Computed)
    } else {
        price_call(bench.start.rung(rung), &reply, &usage, reserved.max(live.total))
    };
    let failure = failure(bench, &reply, told);
    CallEnded {
        id,
        text_bytes: reply.text_bytes,
        text: tail(&reply.text, TEXT).to_string(),
        ended_by: told.filter(|_| !reply.finished),
        failure,
        charged: charged.max(live.total),
        price,
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
    }
}

/// The agent's own figure, else tokens × the price table, else the reservation.
fn price_call(agent: &AgentChoice, reply: &Reply, usage: &Usage, reserved: Micro) -> (Micro, PriceFrom) {
    if let Some(cost) = reply.cost {
        return (cost, PriceFrom::Reported);
    }
    let model = reply.model.as_deref().or(agent.model.as_deref());
    match model.and_then(price_of) {
        Some(price) if reply.finished && usage.total() > 0 && !price.of(usage).is_absurd() => {
            (price.of(usage), PriceFrom::Computed)
        }
        _ => (reserved, PriceFrom::Unpriced),
    }
}

/// A result that came in time counts, also when ralph ended the program afterwards.
fn failure(bench: &Bench, reply: &Reply, told: Option<Why>) -> Option<Failure> {
    if let Some(why) = told.filter(|_| !reply.finished) {
        let (class, message) = match why {
            Why::Budget => (Class::Budget, "ended by ralph: the money is used up"),
            Why::Deadline => (Class::Aborted, "ended by ralph: the call passed its time limit"),
            Why::Time => (Class::Aborted, "ended by ralph: the run passed its time limit"),
            Why::Silence => (Class::Aborted, "ended by ralph: no output and no running tool"),
            Why::Person => (Class::Aborted, "ended by ralph: a person asked to stop"),
        };
        return Some(Failure { class, message: message.into(), reset_at: None });
    }
    let failure = reply.failure.as_ref()?;
    Some(Failure {
        class: failure.class,
        message: head(failure.message.trim(), MESSAGE),
        reset_at: failure.reset.as_ref().and_then(|r| resolve(r, utc(), &bench.start.zone)),
    })
}

/// A reply of a program that never ran.
pub(super) fn never_ran(why: &str) -> Reply {
    Reply {
        failure: Some(ralph_agents::Failure { class: Class::BadRequest, message: why.into(), reset: None }),
        ..Reply::default()
    }
}

/// The kept transcript, as the journal names it.
pub(super) fn file_ref(id: Attempt, kept: &Kept) -> FileRef {
    FileRef {
        file: format!("{id}.out.jsonl"),
        bytes: kept.bytes_kept,
        hash: kept.blake3.clone(),
        cut: kept.cut,
    }
}
