//! Compares the ledger with the journals: every call that closed must be booked at its cost, nothing may be reserved for a
//! call that is not under way, and the meters must be the sums of what was booked to them. `ralph doctor --full` shows it.

use crate::journal;
use crate::ledger::{LedgerAccounts, call_id};
use ralph_rules::money::Micro;
use ralph_rules::record::{Attempt, Fact, Record, RunStarted, Seen};
use ralph_store::{Booked, Database, Store, StoreError, Totals};
use std::collections::BTreeMap;

/// What the comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Runs whose journals were read.
    pub runs: usize,
    /// Calls that are booked for runs with a journal.
    pub calls: usize,
    /// What differs, in sentences.
    pub differences: Vec<String>,
    /// What is booked for runs that have no journal, in sentences. Runs that began after a copy have none once it is
    /// restored, and nothing brings it back.
    pub without_journal: Vec<String>,
}

/// What one journal says about money.
#[derive(Default)]
struct JournalMoney {
    /// Closed calls by the id of their reservation.
    closed: BTreeMap<String, Micro>,
    /// The reservation of a call that was admitted and is not closed.
    open: Option<String>,
    /// Calls found after the database was restored.
    found: Micro,
    /// All of it by the day's meter.
    days: BTreeMap<String, Micro>,
}

/// Compares everything. `is_active` says which runs are being written to.
pub fn audit(store: &Database, is_active: &dyn Fn(&str) -> bool) -> Result<Audit, StoreError> {
    let (booked, meters) = store.books()?;
    let mut audit = Audit { calls: booked.len(), ..Audit::default() };
    let mut by_run: BTreeMap<&str, Vec<&Booked>> = BTreeMap::new();
    for one in &booked {
        by_run.entry(one.id.split_once('/').map_or("", |(run, _)| run)).or_default().push(one);
    }
    let (mut days, mut all_read) = (BTreeMap::<String, Micro>::new(), true);
    for stream in store.streams("run/")? {
        let run = stream.trim_start_matches("run/");
        let booked = by_run.remove(run).unwrap_or_default();
        match journal::read(store, run) {
            Err(error) => {
                all_read = false;
                audit.differences.push(format!("the journal of run {run} is damaged: {error}"));
            }
            Ok(_) if is_active(run) => all_read = false,
            Ok(records) => {
                audit.runs += 1;
                let money = JournalMoney::of(&records);
                compare_calls(run, &money, &booked, &mut audit.differences);
                for (day, cost) in money.days {
                    let sum = days.entry(day).or_default();
                    *sum = sum.plus(cost);
                }
            }
        }
    }
    for (run, booked) in by_run {
        all_read = false;
        audit.calls = audit.calls.saturating_sub(booked.len());
        let sum: Micro = booked.iter().filter_map(|one| one.actual).map(Micro).sum();
        audit.without_journal.push(format!("run {run} has no journal, but {sum} is booked for its calls"));
    }
    compare_meters(&booked, &meters, &mut audit.differences);
    if all_read {
        compare_days(&days, &meters, &mut audit.differences);
    }
    Ok(audit)
}

impl JournalMoney {
    fn of(records: &[Record]) -> JournalMoney {
        let mut money = JournalMoney::default();
        let mut start: Option<&RunStarted> = None;
        let mut day = String::new();
        for record in records {
            let Fact::Seen(seen) = &record.fact else { continue };
            match (seen, start) {
                (Seen::RunStarted(given), _) => start = Some(given),
                (Seen::Admitted(admitted), Some(start)) => {
                    money.open = Some(call_id(&start.run, admitted.id));
                    day.clone_from(&admitted.day);
                }
                (Seen::CallEnded(call), Some(start)) => {
                    money.close(start, (call.id, call.charged), &day, record.at);
                }
                (Seen::CallLost(lost), Some(start)) => {
                    money.close(start, (lost.id, lost.charged), &day, record.at);
                }
                (Seen::CallsFound(found), Some(start)) => {
                    money.found = money.found.plus(found.cost());
                    for (day, cost) in &found.days {
                        money.add(LedgerAccounts::of(start, record.at).on(day).day_meter(), *cost);
                    }
                }
                _ => {}
            }
        }
        money
    }

    fn close(&mut self, start: &RunStarted, (id, charged): (Attempt, Micro), day: &str, at: i64) {
        self.open = None;
        self.closed.insert(call_id(&start.run, id), charged);
        let accounts = LedgerAccounts::of(start, at);
        let accounts = if day.is_empty() { accounts } else { accounts.on(day) };
        self.add(accounts.day_meter(), charged);
    }

    fn add(&mut self, meter: String, cost: Micro) {
        let sum = self.days.entry(meter).or_default();
        *sum = sum.plus(cost);
    }
}

fn compare_calls(run: &str, money: &JournalMoney, booked: &[&Booked], differences: &mut Vec<String>) {
    let by_id: BTreeMap<&str, &Booked> = booked.iter().map(|one| (one.id.as_str(), *one)).collect();
    for (id, charged) in &money.closed {
        match by_id.get(id.as_str()).map(|one| one.actual.map(Micro)) {
            Some(Some(actual)) if actual == *charged => {}
            Some(Some(actual)) => {
                differences.push(format!("call {id} cost {charged} by its journal, {actual} by the ledger"));
            }
            Some(None) => differences.push(format!("call {id} closed at {charged}, but is still reserved")),
            None => differences.push(format!("call {id} cost {charged}, but is not booked")),
        }
    }
    let others = booked.iter().filter(|one| !money.closed.contains_key(&one.id));
    let mut elsewhere = Micro::ZERO;
    for one in others {
        match one.actual {
            Some(actual) => elsewhere = elsewhere.plus(Micro(actual)),
            None if money.open.as_ref() == Some(&one.id) => {}
            None => differences.push(format!(
                "{} is reserved for call {}, which is not under way",
                Micro(one.reserved),
                one.id
            )),
        }
    }
    if elsewhere != money.found {
        differences.push(format!(
            "run {run}: {elsewhere} is booked for calls that its journal does not hold (it knows of {}); \
             `ralph resume {run}` takes them in",
            money.found
        ));
    }
}

/// The meters against what was booked to them.
fn compare_meters(booked: &[Booked], meters: &BTreeMap<String, Totals>, differences: &mut Vec<String>) {
    let mut sums: BTreeMap<&str, Totals> = BTreeMap::new();
    for one in booked {
        for (meter, amount) in &one.meters {
            let sum = sums.entry(meter).or_default();
            let part = if one.actual.is_some() { &mut sum.settled } else { &mut sum.held };
            *part = part.saturating_add(*amount);
        }
    }
    for (meter, is) in meters {
        let sum = sums.remove(meter.as_str()).unwrap_or_default();
        if *is != sum {
            differences.push(format!(
                "meter {meter}: {} settled and {} reserved, but its calls add up to {} and {}",
                Micro(is.settled),
                Micro(is.held),
                Micro(sum.settled),
                Micro(sum.held)
            ));
        }
    }
    for (meter, sum) in sums.into_iter().filter(|(_, sum)| sum.total() != 0) {
        differences.push(format!("meter {meter} is missing, its calls add up to {}", Micro(sum.total())));
    }
}

/// The days against all journals together.
fn compare_days(
    days: &BTreeMap<String, Micro>,
    meters: &BTreeMap<String, Totals>,
    differences: &mut Vec<String>,
) {
    let is_day = |meter: &&String| meter.split('/').rev().nth(1) == Some("day");
    let mut names: Vec<&String> = days.keys().chain(meters.keys().filter(is_day)).collect();
    names.sort();
    names.dedup();
    for name in names {
        let (by_journals, by_ledger) = (
            days.get(name).copied().unwrap_or_default(),
            Micro(meters.get(name).map_or(0, |totals| totals.settled)),
        );
        if by_journals != by_ledger {
            differences.push(format!("{name}: {by_journals} by the journals, {by_ledger} by the ledger"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_that_is_not_the_sum_of_its_calls_is_named_with_both() {
        let call = |id: &str, reserved, actual, amount| Booked {
            id: id.into(),
            reserved,
            actual,
            meters: BTreeMap::from([("run/a".to_owned(), amount)]).into_iter().collect(),
        };
        let booked = [call("a/1", 0, Some(2_000_000), 2_000_000), call("a/2", 500_000, None, 500_000)];
        let found = |settled, held| {
            let meters = BTreeMap::from([("run/a".to_owned(), Totals { settled, held })]);
            let mut differences = Vec::new();
            compare_meters(&booked, &meters, &mut differences);
            differences
        };
        assert!(found(2_000_000, 500_000).is_empty());
        let words = "meter run/a: $3.00 settled and $0.00 reserved, but its calls add up to $2.00 and $0.50";
        assert_eq!(found(3_000_000, 0), [words]);
    }
}
