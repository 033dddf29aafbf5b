//! A run's spending in the store's ledger: names of meters, reservations, settlements, refusals. A reservation may be
//! refused, a settlement never.

use crate::provider::TRY;
use crate::reset_time::day_of;
use ralph_rules::account::SCRIPTED_AGENT;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::record::{Attempt, DaySpend, HOUR, Limits, Ms, Refused, Refuser, RunStarted};
use ralph_rules::state::{Phase, State};
use ralph_store::{Limit, Refusal, Reserve, Settle, Store, StoreError, Used, WindowUse};

/// The accounts that a run's spending is booked to, on one day. A scripted agent spends no real money and has accounts
/// of its own, so that a demo never uses up a day's budget.
pub struct LedgerAccounts {
    run: String,
    prefix: &'static str,
    day: String,
}

impl LedgerAccounts {
    /// The accounts of this run at this time.
    pub fn of(start: &RunStarted, at: Ms) -> LedgerAccounts {
        // A single agent that spends real money makes it a real run.
        let reviewer = start.review.as_ref().map(|review| &review.agent);
        let mut agents = std::iter::once(&start.agent).chain(&start.ladder).chain(reviewer);
        let scripted = agents.all(|agent| agent.name == SCRIPTED_AGENT);
        let prefix = if scripted { "scripted/" } else { "" };
        LedgerAccounts { prefix, ..LedgerAccounts::new(&start.run, &day_of(at, &start.zone)) }
    }

    /// The accounts of the current call: it is booked to the day it was admitted on, however long it lasts.
    pub fn of_call(state: &State) -> Option<LedgerAccounts> {
        let start = state.start.as_deref()?;
        let accounts = LedgerAccounts::of(start, state.at);
        Some(if state.calls.day.is_empty() {
            accounts
        } else {
            LedgerAccounts { day: state.calls.day.clone(), ..accounts }
        })
    }

    /// The accounts of real money.
    pub fn new(run: &str, day: &str) -> LedgerAccounts {
        LedgerAccounts { run: run.into(), prefix: "", day: day.into() }
    }

    /// The same accounts on this day.
    pub fn on(self, day: &str) -> LedgerAccounts {
        LedgerAccounts { day: day.into(), ..self }
    }

    /// The calendar day.
    pub fn day(&self) -> &str {
        &self.day
    }

    /// The meter of that day.
    pub fn day_meter(&self) -> String {
        self.meter(&format!("day/{}", self.day))
    }

    /// What is left of the day's budget for all runs; `None` if nothing is, or it is unknown.
    pub fn rest(&self, store: &dyn Store, limits: &Limits) -> Option<Micro> {
        let used = store.meter(&self.day_meter()).ok()?.total();
        Some(limits.day.minus(Micro(used))).filter(|rest| *rest > Micro::ZERO)
    }

    /// What all runs have spent that day, counting the charge of an ending call instead of its reservation.
    pub fn spend(&self, store: &dyn Store, held: Micro, charged: Micro) -> Option<DaySpend> {
        let used = Micro(store.meter(&self.day_meter()).ok()?.total());
        Some(DaySpend { date: self.day.clone(), spent: used.minus(held).max(Micro::ZERO).plus(charged) })
    }

    fn id(&self, id: Attempt) -> String {
        call_id(&self.run, id)
    }

    fn meter(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// Calls and tokens of all runs in the hour before `now`.
pub fn hour(store: &dyn Store, start: &RunStarted, now: Ms) -> Result<(WindowUse, WindowUse), StoreError> {
    let accounts = LedgerAccounts::of(start, now);
    let calls = store.window(&accounts.meter(CALLS), HOUR, now)?;
    Ok((calls, store.window(&accounts.meter(TOKENS), HOUR, now)?))
}

/// The meter of real money of the day that this moment belongs to.
pub fn day_meter(at: Ms, zone: &str) -> String {
    LedgerAccounts::new("", &day_of(at, zone)).day_meter()
}

/// Calls of all runs that spend real money, in the last hour.
pub fn calls_last_hour(store: &dyn Store, now: Ms) -> Result<WindowUse, StoreError> {
    store.window(CALLS, HOUR, now)
}

/// Calls of all runs.
const CALLS: &str = "calls";
/// Tokens of all runs.
const TOKENS: &str = "tokens";

/// The id of a call's reservation.
pub fn call_id(run: &str, id: Attempt) -> String {
    format!("{run}/{id}")
}

/// The meter of one run.
pub fn run_meter(run: &str) -> String {
    format!("run/{run}")
}

/// Reserves money and a slot for a call.
pub fn reserve(accounts: &LedgerAccounts, id: Attempt, amount: Micro, limits: &Limits) -> Reserve {
    let mut reserve = extend(accounts, id, amount, limits);
    reserve.against.push(Limit::Window {
        meter: accounts.meter(CALLS),
        span: HOUR,
        cap: limits.calls_per_hour.map(i64::from),
        add: 1,
    });
    reserve.against.push(Limit::Window {
        meter: accounts.meter(TOKENS),
        span: HOUR,
        cap: limits.tokens_per_hour.map(|t| i64::try_from(t).unwrap_or(i64::MAX)),
        // How many tokens a call takes is known when it ends; until then it only needs a window that is not full.
        add: 1,
    });
    reserve
}

/// Raises the reservation of a call.
pub fn extend(accounts: &LedgerAccounts, id: Attempt, to: Micro, limits: &Limits) -> Reserve {
    Reserve {
        id: accounts.id(id),
        to: to.0,
        against: vec![
            Limit::Total { meter: run_meter(&accounts.run), cap: Some(limits.run.0) },
            Limit::Total { meter: accounts.day_meter(), cap: Some(limits.day.0) },
        ],
    }
}

/// Books what a call really used.
pub fn settle(accounts: &LedgerAccounts, id: Attempt, charged: Micro, usage: &Usage) -> Settle {
    let tokens = i64::try_from(usage.total()).unwrap_or(i64::MAX);
    Settle {
        id: accounts.id(id),
        actual: charged.0,
        meters: Vec::new(),
        used: vec![Used { meter: accounts.meter(TOKENS), amount: tokens }],
    }
}

/// Books a call of which only the transcript was found; its tokens count if it was `recent`.
pub fn settle_found(
    accounts: &LedgerAccounts,
    id: Attempt,
    charged: Micro,
    tokens: u64,
    recent: bool,
) -> Settle {
    let tokens = Used { meter: accounts.meter(TOKENS), amount: i64::try_from(tokens).unwrap_or(i64::MAX) };
    Settle {
        id: accounts.id(id),
        actual: charged.0,
        meters: vec![run_meter(&accounts.run), accounts.day_meter()],
        used: recent.then_some(tokens).into_iter().collect(),
    }
}

/// Releases the reservation of a call that was admitted but never started.
pub fn unused(state: &State) -> Option<Settle> {
    let start = state.start.as_ref()?;
    let accounts = LedgerAccounts::of(start, state.at);
    (state.phase == Phase::Admitted)
        .then(|| settle(&accounts, state.calls.id, Micro::ZERO, &Usage::default()))
}

/// A refusal of the store as the rules know it.
pub fn refused(refusal: &Refusal) -> Refused {
    let name = refusal.meter.strip_prefix("scripted/").unwrap_or(&refusal.meter);
    let by = match name {
        CALLS => Refuser::CallsPerHour,
        TOKENS => Refuser::TokensPerHour,
        meter if meter.starts_with("day/") => Refuser::DayCap,
        meter if meter.starts_with(TRY) => Refuser::Provider,
        _ => Refuser::RunCap,
    };
    Refused {
        by,
        total: refusal.total,
        cap: refusal.cap,
        until: refusal.free_at,
        what: String::new(),
        class: None,
    }
}
