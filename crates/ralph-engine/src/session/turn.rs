//! Closes a call with what the session did: the same fact as that of a call whose agent ralph started. The session is
//! never ended, and nothing is looked for by the run's tag: the session may carry it.

use super::kept::KeptTurn;
use super::spent::{Spent, since};
use super::{SessionPort, SessionTurn};
use crate::ledger::{self, LedgerAccounts};
use crate::observation::Observation;
use crate::step_context::StepContext;
use crate::transcript::Kept;
use crate::world::call::{Ended, observation};
use crate::world::reply::{call_ended, file_ref};
use ralph_agents::{Client, Exit, Reply};
use ralph_rules::money::Micro;
use ralph_rules::prices::Prices;
use ralph_rules::record::{
    Attempt, CallEnded, CallLost, CallsFound, Ms, PriceFrom, RunStarted, Seen, SessionGiven, SessionMark,
};
use ralph_rules::state::{Phase, State};
use std::collections::BTreeMap;

/// Millionths of a micro-dollar in one.
const PICO: i64 = 1_000_000;

/// Added to the number of what is booked between two calls.
const BETWEEN: u32 = 1_000_000;

/// Which call is closed, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    pub(crate) id: Attempt,
    /// What is reserved for it.
    pub(crate) reserved: Micro,
    /// When it was handed over.
    pub(crate) since: Ms,
    /// How far the transcripts were read for the calls before it.
    pub(crate) mark: SessionMark,
}

/// The closing fact of a call that the session has answered.
pub(crate) fn closed(ctx: &StepContext, call: &OpenCall, turn: &SessionTurn) -> Observation {
    let (client, session) = session_of(ctx);
    ctx.commands_ended();
    let (spent, kept) = read(ctx, call, turn, client, session);
    let priced = spent.spend.priced > 0 && spent.spend.unpriced == 0;
    let (charged, carry) = rounded(call.mark.carry.saturating_add(spent.spend.cost));
    let reply = Reply {
        text_bytes: turn.message.len() as u64,
        text: turn.message.clone(),
        finished: turn.interrupted_by.is_none(),
        session: Some(session.id.clone()),
        model: spent.spend.model.clone().or_else(|| turn.model.clone()),
        usage: spent.spend.usage,
        cost: priced.then_some(charged),
        ..Reply::default()
    };
    let ended = Ended {
        caller: (0, false),
        before: None,
        idle: false,
        reply,
        exit: Exit { by_us: turn.interrupted_by.is_some(), ..Exit::default() },
        interrupted_by: turn.interrupted_by,
        kept,
        spent: None,
        outlived: 0,
        ms: crate::clock::utc().saturating_sub(call.since).max(0),
        records: None,
        sandbox: None,
    };
    let whole = priced && spent.whole && turn.interrupted_by.is_none();
    let mut closed = call_ended(ctx, call.id, call.reserved, ended);
    if priced {
        // Also where an estimate that was charged before covers it, so that nothing is left to charge.
        closed.charged = charged;
    }
    let late = !spent.whole && spent.spend.priced == 0 && spent.spend.unpriced == 0;
    let carry = match (priced, late) {
        (true, _) => carry,
        // The estimate was charged; what the transcript says later replaces it.
        (_, true) => call.mark.carry.saturating_sub(closed.charged.0.saturating_mul(PICO)),
        _ => call.mark.carry,
    };
    let mark = Some(Box::new(SessionMark { carry, ..spent.mark }));
    observation(ctx, told(CallEnded { session_mark: mark, ..closed }, whole))
}

/// What the session used while no call was open: a hook was interrupted or killed before it could hand one over. It is
/// charged at once, because the run may end without another call; the call that the turn closes is charged the rest.
pub(crate) fn worked_between(
    state: &State,
    start: &RunStarted,
    port: &SessionPort,
    prices: &Prices,
    times: usize,
) -> Option<Observation> {
    let turn = port.turn()?;
    let session = start.session.as_ref().filter(|_| state.in_session)?;
    if matches!(state.phase, Phase::Calling { .. } | Phase::Ending | Phase::Recovering | Phase::Lost) {
        return None;
    }
    let mark = &state.session_mark;
    let spend = since(Client::of_agent(&session.client)?, &turn, mark, prices, &mut |_| {}).spend;
    let (charged, _) = rounded(mark.carry.saturating_add(spend.cost));
    if charged == Micro::ZERO {
        return None;
    }
    let accounts = LedgerAccounts::of(start, crate::clock::utc());
    let found = CallsFound {
        last: state.calls.done,
        days: BTreeMap::from([(accounts.day().to_owned(), charged)]),
        unpriced: spend.unpriced.min(1),
        carry: Some(mark.carry.saturating_sub(charged.0.saturating_mul(PICO))),
        ..CallsFound::default()
    };
    // No call of the run has such a number.
    let attempt = u32::try_from(times).unwrap_or(u32::MAX).saturating_add(BETWEEN);
    let id = Attempt { iteration: state.calls.id.iteration, attempt };
    let settle = ledger::settle_found(&accounts, id, charged, 0, false);
    Some(Observation { settle: Some(settle), ..Seen::CallsFound(found).into() })
}

/// The client told of tokens, not of a cost; a message that was not written yet is charged to the next call.
fn told(closed: CallEnded, whole: bool) -> CallEnded {
    match closed.price {
        PriceFrom::Reported => {
            let price = if whole { PriceFrom::Computed } else { PriceFrom::Seen };
            CallEnded { price, computed: closed.reported, reported: None, ..closed }
        }
        _ => closed,
    }
}

/// The closing fact of a call whose session is gone.
pub(crate) fn lost(ctx: &StepContext, call: &OpenCall) -> Observation {
    let (client, session) = session_of(ctx);
    ctx.commands_ended();
    let transcript = session.transcript.as_str().into();
    let turn = SessionTurn { transcript, ..SessionTurn::default() };
    let (spent, kept) = read(ctx, call, &turn, client, session);
    let seen = rounded(call.mark.carry.saturating_add(spent.spend.cost)).0;
    let charged = call.reserved.max(seen);
    let usage = spent.spend.usage;
    let transcript = file_ref(call.id, &kept);
    let lost = CallLost { id: call.id, charged, usage, outlived: 0, transcript };
    let settle = ledger::settle(&ctx.ledger_accounts(), call.id, charged, &usage);
    Observation { settle: Some(settle), ..Seen::CallLost(lost).into() }
}

fn read(
    ctx: &StepContext,
    call: &OpenCall,
    turn: &SessionTurn,
    client: Client,
    session: &SessionGiven,
) -> (Spent, Kept) {
    let mut kept = KeptTurn::open(ctx, call.id, client);
    let spent = since(client, turn, &call.mark, &ctx.deps.prices, &mut |line| {
        if let Ok(kept) = &mut kept {
            kept.line(line);
        }
    });
    let kept = match kept {
        Ok(kept) => kept.close(&session.id, &turn.message, &spent.spend.usage),
        Err(error) => Kept { trouble: Some(error), ..Kept::default() },
    };
    if let Some(error) = &kept.trouble {
        ctx.note_unsaved_output(call.id, error);
    }
    (spent, kept)
}

/// The session of the run, and its client; of a client that this version does not know only the message is used.
fn session_of(ctx: &StepContext) -> (Client, &SessionGiven) {
    static NONE: SessionGiven = SessionGiven::NONE;
    let session = ctx.start.session.as_ref().unwrap_or(&NONE);
    (Client::of_agent(&session.client).unwrap_or(Client::Qwen), session)
}

/// To the nearest micro-dollar, and what is left over.
fn rounded(pico: i64) -> (Micro, i64) {
    let micro = pico.saturating_add(PICO / 2).div_euclid(PICO).max(0);
    (Micro(micro), pico.saturating_sub(micro.saturating_mul(PICO)))
}
