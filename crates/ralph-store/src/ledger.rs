//! The accounting rules, written once for all stores: a reservation may be refused, a settlement never, the same id counts
//! once, windows slide. [`LedgerStorage`] is what a store must provide for them.

use crate::batch::{Batch, Grant, Limit, Reserve, Settle};
use crate::error::{CommitError, Refusal, StoreError};

/// An event this much ahead of the caller's clock means the clock was set back, not that two clocks were read in turn.
const CLOCK_SLACK_MS: i64 = 60_000;

/// What a money meter holds, in micro-dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Really spent.
    pub settled: i64,
    /// Reserved and not yet settled.
    pub held: i64,
}

impl Totals {
    /// Both together: what counts against a cap.
    pub fn total(&self) -> i64 {
        self.settled.saturating_add(self.held)
    }
}

/// What a sliding window holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowUse {
    /// Sum of the events in the window.
    pub used: i64,
    /// When the oldest of it leaves, UTC milliseconds.
    pub leaves: Option<i64>,
}

/// What is booked for one call, in micro-dollars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booked {
    /// The reservation and call it is.
    pub id: String,
    /// Reserved.
    pub reserved: i64,
    /// Really spent, once that is known.
    pub actual: Option<i64>,
    /// What each money meter was charged.
    pub meters: Vec<(String, i64)>,
}

impl Booked {
    pub(crate) fn of(id: &str, hold: Hold) -> Booked {
        let money = hold.charges.into_iter().filter(|charge| charge.since.is_none());
        let meters = money.map(|charge| (charge.meter, charge.amount)).collect();
        Booked { id: id.to_owned(), reserved: hold.to, actual: hold.actual, meters }
    }
}

/// A reservation and everything it is charged to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hold {
    pub to: i64,
    pub actual: Option<i64>,
    pub charges: Vec<Charge>,
}

/// A reservation's part on one meter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Charge {
    pub meter: String,
    pub amount: i64,
    /// Set on sliding windows: the moment from which it counts.
    pub since: Option<i64>,
}

/// What the rules below need from a store, inside one transaction.
pub(crate) trait LedgerStorage {
    fn hold(&self, id: &str) -> Result<Option<Hold>, StoreError>;
    fn put_hold(&mut self, id: &str, hold: &Hold) -> Result<(), StoreError>;
    fn totals(&self, meter: &str) -> Result<Totals, StoreError>;
    fn put_totals(&mut self, meter: &str, totals: Totals) -> Result<(), StoreError>;
    /// Calls `each(since, amount)` for the events of a window later than `after`, oldest first.
    fn events(&self, meter: &str, after: i64, each: &mut dyn FnMut(i64, i64)) -> Result<(), StoreError>;
    /// Sets every event of a window later than `after` to `now`; says how many.
    fn pull_back(&mut self, meter: &str, after: i64, now: i64) -> Result<usize, StoreError>;
}

impl Hold {
    fn charge(&self, meter: &str, slides: bool) -> Option<&Charge> {
        self.charges.iter().find(|c| c.since.is_some() == slides && c.meter == meter)
    }

    fn set(&mut self, meter: &str, amount: i64, since: Option<i64>) {
        match self.charges.iter_mut().find(|c| c.since.is_some() == since.is_some() && c.meter == meter) {
            Some(charge) => charge.amount = amount,
            None => self.charges.push(Charge { meter: meter.to_owned(), amount, since }),
        }
    }
}

/// Events from a clock that was since set back count as now, once; else they would block a window for as long as the jump was.
pub(crate) fn note_clock_change(books: &mut impl LedgerStorage, batch: &Batch) -> Result<usize, StoreError> {
    let mut moved = 0;
    for limit in batch.reserve.iter().flat_map(|r| &r.against) {
        if let Limit::Window { meter, .. } = limit {
            moved += books.pull_back(meter, batch.now.saturating_add(CLOCK_SLACK_MS), batch.now)?;
        }
    }
    Ok(moved)
}

/// Books the settlements of a batch, then its reservation.
pub(crate) fn apply(books: &mut impl LedgerStorage, batch: &Batch) -> Result<Option<Grant>, CommitError> {
    for settle in &batch.settle {
        book(books, settle, batch.now)?;
    }
    batch.reserve.as_ref().map(|r| reserve(books, r, batch.now)).transpose()
}

fn reserve(books: &mut impl LedgerStorage, r: &Reserve, now: i64) -> Result<Grant, CommitError> {
    let mut hold = books.hold(&r.id)?.unwrap_or_default();
    if hold.actual.is_some() {
        return Ok(Grant { to: hold.to, settled: true });
    }
    for limit in &r.against {
        if let Some(refusal) = refuse(books, &hold, limit, r.to, now)? {
            return Err(CommitError::Refused(Box::new(refusal)));
        }
    }
    for limit in &r.against {
        match limit {
            Limit::Total { meter, .. } => {
                let had = hold.charge(meter, false).map_or(0, |c| c.amount);
                let want = had.max(r.to);
                let totals = books.totals(meter)?;
                let held = totals.held.saturating_add(want.saturating_sub(had));
                books.put_totals(meter, Totals { held, ..totals })?;
                hold.set(meter, want, None);
            }
            Limit::Window { meter, add, .. } => {
                let had = hold.charge(meter, true).map_or(0, |c| c.amount);
                hold.set(meter, had.max(*add), Some(now));
            }
        }
    }
    hold.to = hold.to.max(r.to);
    books.put_hold(&r.id, &hold)?;
    Ok(Grant { to: hold.to, settled: false })
}

/// Only the difference to what is already held is checked, so that asking again can never be refused.
fn refuse(
    books: &impl LedgerStorage,
    hold: &Hold,
    limit: &Limit,
    to: i64,
    now: i64,
) -> Result<Option<Refusal>, StoreError> {
    let (meter, cap, want, slides) = match limit {
        Limit::Total { meter, cap } => (meter, cap, to, false),
        Limit::Window { meter, cap, add, .. } => (meter, cap, *add, true),
    };
    let Some(cap) = *cap else { return Ok(None) };
    let had = hold.charge(meter, slides);
    let wanted = want.max(0).saturating_sub(had.map_or(0, |c| c.amount));
    if had.is_some() && wanted <= 0 {
        return Ok(None);
    }
    let total = match limit {
        Limit::Total { .. } => books.totals(meter)?.total(),
        Limit::Window { span, .. } => window(books, meter, *span, now)?.used,
    };
    if total.saturating_add(wanted) <= cap {
        return Ok(None);
    }
    let free_at = match limit {
        Limit::Total { .. } => None,
        Limit::Window { span, .. } => frees(books, meter, *span, now, cap.saturating_sub(wanted))?,
    };
    Ok(Some(Refusal { meter: meter.clone(), total, wanted, cap, free_at }))
}

/// What a window holds at `now`; an event from the future counts as now.
pub(crate) fn window(
    books: &impl LedgerStorage,
    meter: &str,
    span: i64,
    now: i64,
) -> Result<WindowUse, StoreError> {
    let mut seen = WindowUse::default();
    books.events(meter, now.saturating_sub(span), &mut |since, amount| {
        seen.used = seen.used.saturating_add(amount);
        seen.leaves.get_or_insert(since.min(now).saturating_add(span));
    })?;
    Ok(seen)
}

/// When so much has left the window that at most `room` is in it.
fn frees(
    books: &impl LedgerStorage,
    meter: &str,
    span: i64,
    now: i64,
    room: i64,
) -> Result<Option<i64>, StoreError> {
    if room < 0 {
        return Ok(None);
    }
    let mut left = window(books, meter, span, now)?.used;
    let mut when = None;
    books.events(meter, now.saturating_sub(span), &mut |since, amount| {
        if left > room {
            left = left.saturating_sub(amount);
            when = Some(since.min(now).saturating_add(span));
        }
    })?;
    Ok(when)
}

fn book(books: &mut impl LedgerStorage, s: &Settle, now: i64) -> Result<(), StoreError> {
    let mut hold = books.hold(&s.id)?.unwrap_or_default();
    if hold.actual.is_some() {
        return Ok(());
    }
    let actual = s.actual.max(0);
    for meter in &s.meters {
        if hold.charge(meter, false).is_none() {
            hold.set(meter, 0, None);
        }
    }
    for charge in hold.charges.iter_mut().filter(|c| c.since.is_none()) {
        let totals = books.totals(&charge.meter)?;
        let settled = totals.settled.saturating_add(actual);
        let held = totals.held.saturating_sub(charge.amount);
        books.put_totals(&charge.meter, Totals { settled, held })?;
        charge.amount = actual;
    }
    for used in &s.used {
        hold.set(&used.meter, used.amount.max(0), Some(now));
    }
    hold.actual = Some(actual);
    books.put_hold(&s.id, &hold)
}
