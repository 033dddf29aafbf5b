//! Step Extend: raise the running call's reservation. Closes with `Extended`, or `Refused` by the ledger.

use crate::ledger::{self, LedgerAccounts};
use crate::observation::Observation;
use crate::step_context::StepContext;
use ralph_rules::money::Micro;
use ralph_rules::record::{Attempt, Extended, Limits, Seen};
use ralph_rules::state::State;
use std::sync::atomic::Ordering;

/// Raises the reservation.
pub fn extend(ctx: &StepContext, state: &State, id: Attempt, to: Micro, limits: &Limits) -> Observation {
    ctx.tell_spend_from.store(to.0, Ordering::Relaxed);
    let accounts = LedgerAccounts::of_call(state).unwrap_or_else(|| ctx.ledger_accounts());
    let reserve = ledger::extend(&accounts, id, to, limits);
    Observation { reserve: Some(reserve), ..Seen::Extended(Extended { to }).into() }
}
