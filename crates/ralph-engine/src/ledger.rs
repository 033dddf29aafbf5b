//! How a run's money meets the store's meters: names, reservations, settlements, refusals. Reserve may be refused,
//! settle never.

use ralph_rules::money::{Micro, Usage};
use ralph_rules::record::{Attempt, HOUR, Limits, Refused, Refuser};
use ralph_rules::state::{Phase, State};
use ralph_store::{Limit, Refusal, Reserve, Settle, Used};

/// Calls of all runs.
const CALLS: &str = "calls";
/// Tokens of all runs.
const TOKENS: &str = "tokens";

/// The meter of one run.
pub fn run_meter(run: &str) -> String {
    format!("run/{run}")
}

/// The meter of one calendar day, such as `day/2026-11-15`.
pub fn day_meter(day: &str) -> String {
    format!("day/{day}")
}

fn id_of(run: &str, id: Attempt) -> String {
    format!("{run}/{id}")
}

/// Asks for money and a slot for a call.
pub fn reserve(run: &str, id: Attempt, amount: Micro, limits: &Limits, day: &str) -> Reserve {
    let mut reserve = extend(run, id, amount, limits, day);
    reserve.against.push(Limit::Window {
        meter: CALLS.into(),
        span: HOUR,
        cap: limits.calls_per_hour.map(i64::from),
        add: 1,
    });
    reserve.against.push(Limit::Window {
        meter: TOKENS.into(),
        span: HOUR,
        cap: limits.tokens_per_hour.map(|t| i64::try_from(t).unwrap_or(i64::MAX)),
        add: 0,
    });
    reserve
}

/// Asks for more money under the same id.
pub fn extend(run: &str, id: Attempt, to: Micro, limits: &Limits, day: &str) -> Reserve {
    Reserve {
        id: id_of(run, id),
        to: to.0,
        against: vec![
            Limit::Total { meter: run_meter(run), cap: Some(limits.run.0) },
            Limit::Total { meter: day_meter(day), cap: Some(limits.day.0) },
        ],
    }
}

/// Books what a call really took.
pub fn settle(run: &str, id: Attempt, charged: Micro, usage: &Usage) -> Settle {
    let tokens = i64::try_from(usage.total()).unwrap_or(i64::MAX);
    Settle {
        id: id_of(run, id),
        actual: charged.0,
        meters: Vec::new(),
        used: vec![Used { meter: TOKENS.into(), amount: tokens }],
    }
}

/// A run that is left between grant and call gives the money back.
pub fn unused(state: &State) -> Option<Settle> {
    let start = state.start.as_ref()?;
    (state.phase == Phase::Admitted)
        .then(|| settle(&start.run, state.calls.id, Micro::ZERO, &Usage::default()))
}

/// A refusal in the rules' words.
pub fn refused(refusal: &Refusal) -> Refused {
    let by = match refusal.meter.as_str() {
        CALLS => Refuser::CallsPerHour,
        TOKENS => Refuser::TokensPerHour,
        meter if meter.starts_with("day/") => Refuser::DayCap,
        _ => Refuser::RunCap,
    };
    Refused { by, total: refusal.total, cap: refusal.cap, until: refusal.free_at, what: String::new() }
}
