//! The ledger's rows in SQLite. The rules are in `ledger.rs`; this only reads and writes.

use crate::error::StoreError;
use crate::ledger::{Booked, Charge, Hold, LedgerStorage, Totals};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// The ledger as one connection (or its open transaction) sees it.
pub(super) struct SqlLedger<'a>(pub &'a Connection);

impl SqlLedger<'_> {
    /// Everything that is booked.
    pub(super) fn all(&self) -> Result<Vec<Booked>, StoreError> {
        let mut select = self.0.prepare(
            "select hold.id, hold.amount, actual, meter, charge.amount
             from hold left join charge on charge.id = hold.id and since is null order by hold.id",
        )?;
        let mut rows = select.query([])?;
        let mut all: Vec<Booked> = Vec::new();
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            if all.last().is_none_or(|last| last.id != id) {
                all.push(Booked { id, reserved: row.get(1)?, actual: row.get(2)?, meters: Vec::new() });
            }
            if let (Some(last), Some(meter)) = (all.last_mut(), row.get(3)?) {
                last.meters.push((meter, row.get(4)?));
            }
        }
        Ok(all)
    }

    /// What every money meter holds.
    pub(super) fn all_totals(&self) -> Result<BTreeMap<String, Totals>, StoreError> {
        let mut select = self.0.prepare("select name, settled, held from meter")?;
        let totals =
            select.query_map([], |r| Ok((r.get(0)?, Totals { settled: r.get(1)?, held: r.get(2)? })))?;
        Ok(totals.collect::<Result<_, _>>()?)
    }
}

impl LedgerStorage for SqlLedger<'_> {
    fn hold(&self, id: &str) -> Result<Option<Hold>, StoreError> {
        let mut select = self.0.prepare_cached("select amount, actual from hold where id = ?1")?;
        let found = select.query_row([id], |r| Ok((r.get(0)?, r.get(1)?))).optional()?;
        let Some((to, actual)) = found else { return Ok(None) };
        let mut select = self.0.prepare_cached("select meter, amount, since from charge where id = ?1")?;
        let charges = select
            .query_map([id], |r| Ok(Charge { meter: r.get(0)?, amount: r.get(1)?, since: r.get(2)? }))?
            .collect::<Result<_, _>>()?;
        Ok(Some(Hold { to, actual, charges }))
    }

    fn put_hold(&mut self, id: &str, hold: &Hold) -> Result<(), StoreError> {
        let mut upsert = self.0.prepare_cached(
            "insert into hold(id, amount, actual) values(?1, ?2, ?3)
             on conflict(id) do update set amount = excluded.amount, actual = excluded.actual",
        )?;
        upsert.execute(params![id, hold.to, hold.actual])?;
        let mut upsert = self.0.prepare_cached(
            "insert into charge(id, meter, slides, amount, since) values(?1, ?2, ?3, ?4, ?5)
             on conflict(id, meter, slides) do update set amount = excluded.amount, since = excluded.since
             where amount <> excluded.amount or since is not excluded.since",
        )?;
        for c in &hold.charges {
            upsert.execute(params![id, c.meter, c.since.is_some(), c.amount, c.since])?;
        }
        Ok(())
    }

    fn totals(&self, meter: &str) -> Result<Totals, StoreError> {
        let mut select = self.0.prepare_cached("select settled, held from meter where name = ?1")?;
        let found =
            select.query_row([meter], |r| Ok(Totals { settled: r.get(0)?, held: r.get(1)? })).optional()?;
        Ok(found.unwrap_or_default())
    }

    fn put_totals(&mut self, meter: &str, totals: Totals) -> Result<(), StoreError> {
        let mut upsert = self.0.prepare_cached(
            "insert into meter(name, settled, held) values(?1, ?2, ?3)
             on conflict(name) do update set settled = excluded.settled, held = excluded.held",
        )?;
        upsert.execute(params![meter, totals.settled, totals.held])?;
        Ok(())
    }

    fn events(&self, meter: &str, after: i64, each: &mut dyn FnMut(i64, i64)) -> Result<(), StoreError> {
        let mut select = self.0.prepare_cached(
            "select since, amount from charge where meter = ?1 and since > ?2 and since is not null order by since",
        )?;
        let mut rows = select.query(params![meter, after])?;
        while let Some(row) = rows.next()? {
            each(row.get(0)?, row.get(1)?);
        }
        Ok(())
    }

    fn pull_back(&mut self, meter: &str, after: i64, now: i64) -> Result<usize, StoreError> {
        let mut update = self.0.prepare_cached(
            "update charge set since = ?3 where meter = ?1 and since > ?2 and since is not null",
        )?;
        Ok(update.execute(params![meter, after, now])?)
    }
}
