//! The ledger's pages in memory, with an undo list so that a refused batch leaves no trace.

use crate::error::StoreError;
use crate::ledger::{Hold, LedgerStorage, Totals};
use std::collections::{BTreeMap, HashMap};

/// Events of one window: when and whose, then how much.
type Events = BTreeMap<(i64, String), i64>;

#[derive(Debug, Default)]
pub(super) struct MemoryLedger {
    holds: HashMap<String, Hold>,
    totals: HashMap<String, Totals>,
    windows: HashMap<String, Events>,
    undo: Vec<Before>,
}

/// How something was before it was written.
#[derive(Debug)]
enum Before {
    Hold(String, Option<Hold>),
    Totals(String, Option<Totals>),
}

impl MemoryLedger {
    /// From here on every write can be taken back.
    pub(super) fn begin(&mut self) {
        self.undo.clear();
    }

    /// Takes back everything since `begin`, newest first.
    pub(super) fn undo(&mut self) {
        while let Some(before) = self.undo.pop() {
            match before {
                Before::Totals(meter, Some(totals)) => drop(self.totals.insert(meter, totals)),
                Before::Totals(meter, None) => drop(self.totals.remove(&meter)),
                Before::Hold(id, hold) => self.swap_hold(&id, hold),
            }
        }
    }

    fn swap_hold(&mut self, id: &str, new: Option<Hold>) {
        let sliding = |hold: &Hold| hold.charges.iter().any(|c| c.since.is_some());
        if let Some(old) = self.holds.remove(id).filter(sliding) {
            for charge in old.charges {
                let events = self.windows.get_mut(&charge.meter);
                if let (Some(since), Some(events)) = (charge.since, events) {
                    events.remove(&(since, id.to_owned()));
                }
            }
        }
        let Some(new) = new else { return };
        for charge in &new.charges {
            if let Some(since) = charge.since {
                let events = self.windows.entry(charge.meter.clone()).or_default();
                events.insert((since, id.to_owned()), charge.amount);
            }
        }
        self.holds.insert(id.to_owned(), new);
    }
}

impl LedgerStorage for MemoryLedger {
    fn hold(&self, id: &str) -> Result<Option<Hold>, StoreError> {
        Ok(self.holds.get(id).cloned())
    }

    fn put_hold(&mut self, id: &str, hold: &Hold) -> Result<(), StoreError> {
        self.undo.push(Before::Hold(id.to_owned(), self.holds.get(id).cloned()));
        self.swap_hold(id, Some(hold.clone()));
        Ok(())
    }

    fn totals(&self, meter: &str) -> Result<Totals, StoreError> {
        Ok(self.totals.get(meter).copied().unwrap_or_default())
    }

    fn put_totals(&mut self, meter: &str, totals: Totals) -> Result<(), StoreError> {
        let before = match self.totals.get_mut(meter) {
            Some(slot) => Some(std::mem::replace(slot, totals)),
            None => self.totals.insert(meter.to_owned(), totals),
        };
        self.undo.push(Before::Totals(meter.to_owned(), before));
        Ok(())
    }

    fn events(&self, meter: &str, after: i64, each: &mut dyn FnMut(i64, i64)) -> Result<(), StoreError> {
        let Some(first) = after.checked_add(1) else { return Ok(()) };
        if let Some(events) = self.windows.get(meter) {
            events.range((first, String::new())..).for_each(|((since, _), amount)| each(*since, *amount));
        }
        Ok(())
    }

    fn pull_back(&mut self, meter: &str, after: i64, now: i64) -> Result<usize, StoreError> {
        let (Some(first), Some(events)) = (after.checked_add(1), self.windows.get_mut(meter)) else {
            return Ok(0);
        };
        // Nearly always there is nothing to do, and splitting a tree counts all of it.
        if events.last_key_value().is_none_or(|((since, _), _)| *since < first) {
            return Ok(0);
        }
        let late = events.split_off(&(first, String::new()));
        let count = late.len();
        for ((_, id), amount) in late {
            let charges = self.holds.get_mut(&id).map(|h| h.charges.iter_mut());
            for charge in charges.into_iter().flatten().filter(|c| c.since.is_some() && c.meter == meter) {
                charge.since = Some(now);
            }
            events.insert((now, id), amount);
        }
        Ok(count)
    }
}
