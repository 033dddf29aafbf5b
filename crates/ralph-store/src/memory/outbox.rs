//! The outbox in memory; same semantics as `sqlite/outbox.rs`.

use crate::outbox::{Delivery, Lease, OutboxEntry, OutboxFilter, OutboxRow, OutboxState};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct MemoryOutbox {
    rows: BTreeMap<String, OutboxEntry>,
}

impl MemoryOutbox {
    pub(super) fn add(&mut self, row: &OutboxRow) {
        let new = || OutboxEntry { row: row.clone(), ..OutboxEntry::default() };
        self.rows.entry(row.id.clone()).or_insert_with(new);
    }

    pub(super) fn lease(&mut self, lease: &Lease<'_>) -> Vec<OutboxEntry> {
        let free = |e: &&OutboxEntry| {
            e.row.target == lease.target && e.can_be_leased(lease.now, lease.not_tried_since)
        };
        let order = |e: &&OutboxEntry| (e.row.due, e.row.at, e.row.id.clone());
        let Some(first) = self.rows.values().filter(free).min_by_key(order).cloned() else {
            return Vec::new();
        };
        let mut entries: Vec<OutboxEntry> = match &first.row.digest {
            Some(digest) => {
                let same = |e: &&OutboxEntry| e.row.digest.as_ref() == Some(digest);
                self.rows.values().filter(free).filter(same).cloned().collect()
            }
            None => vec![first],
        };
        entries.sort_by_key(|e| (e.row.at, e.row.id.clone()));
        for entry in &mut entries {
            entry.owner = Some(lease.owner.to_owned());
            entry.leased_until = Some(lease.until);
            self.rows.insert(entry.row.id.clone(), entry.clone());
        }
        entries
    }

    pub(super) fn settle(
        &mut self,
        (ids, owner, at): (&[String], &str, i64),
        delivery: &Delivery,
        answer: &str,
    ) -> usize {
        let mut changed = 0;
        for id in ids {
            let Some(entry) = self.rows.get_mut(id).filter(|e| e.owner.as_deref() == Some(owner)) else {
                continue;
            };
            if let Delivery::Retry(due) = delivery {
                entry.row.due = *due;
            }
            entry.state = delivery.state();
            entry.attempts += u32::from(delivery.is_failure());
            entry.tried = Some(at);
            entry.answer = Some(answer.to_owned());
            entry.leased_until = None;
            changed += 1;
        }
        changed
    }

    pub(super) fn keep_until(&mut self, now: i64, ends: Option<i64>) -> usize {
        let kept = |e: &&mut OutboxEntry| {
            e.waits_for_quiet_hours() && e.row.due > now && Some(e.row.due) != ends && !e.is_leased(now)
        };
        let due = ends.unwrap_or(now);
        let mut changed = 0;
        for entry in self.rows.values_mut().filter(kept) {
            (entry.row.due, entry.row.digest) = (due, Some(due.to_string()));
            changed += 1;
        }
        changed
    }

    pub(super) fn prune(&mut self, before: i64) -> usize {
        let all = self.rows.len();
        self.rows.retain(|_, entry| entry.closed().is_none_or(|at| at >= before));
        all - self.rows.len()
    }

    pub(super) fn list(&self, filter: &OutboxFilter) -> Vec<OutboxEntry> {
        let wanted = |e: &&OutboxEntry| {
            filter.state.is_none_or(|state| state == e.state)
                && filter.target.as_ref().is_none_or(|target| *target == e.row.target)
                && filter.run.as_ref().is_none_or(|run| *run == e.row.run)
        };
        let mut entries: Vec<OutboxEntry> = self.rows.values().filter(wanted).cloned().collect();
        entries.sort_by_key(|e| {
            let pending = e.state == OutboxState::Pending;
            (if pending { e.row.due } else { e.row.at.saturating_neg() }, e.row.id.clone())
        });
        entries.truncate(filter.limit.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX)));
        entries
    }
}
