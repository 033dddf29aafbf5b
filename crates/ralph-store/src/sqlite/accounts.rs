//! Accounts of runs in SQLite: the columns to find them by, and a body for others to read.

use super::rows::started_order;
use crate::error::StoreError;
use crate::model::{AccountFilter, AccountRow};
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

/// Writes one account.
pub(super) fn keep(c: &Connection, a: &AccountRow) -> Result<(), StoreError> {
    let mut upsert = c.prepare_cached(
        "insert into account(run, workspace, started, key, body) values(?1, ?2, ?3, ?4, ?5)
         on conflict(run) do update set workspace = excluded.workspace, started = excluded.started,
             key = excluded.key, body = excluded.body",
    )?;
    upsert.execute(params![a.run, a.workspace, a.started, a.key, a.body])?;
    Ok(())
}

/// Accounts, newest first. Conditions are added only where asked for, so that each shape finds its index.
pub(super) fn read(c: &Connection, filter: &AccountFilter) -> Result<Vec<AccountRow>, StoreError> {
    let mut sql = "select run, workspace, started, key, body from account where true".to_owned();
    let mut values: Vec<Value> = Vec::new();
    let texts = [(&filter.run, "run"), (&filter.workspace, "workspace"), (&filter.key, "key")];
    for (value, column) in texts.into_iter().filter_map(|(v, column)| Some((v.as_ref()?, column))) {
        sql.push_str(&format!(" and {column} = ?"));
        values.push(value.clone().into());
    }
    let times = [(filter.from, "started >= ?"), (filter.before, "started < ?")];
    for (time, condition) in times.into_iter().filter_map(|(v, condition)| Some((v?, condition))) {
        sql.push_str(&format!(" and {condition}"));
        values.push(time.into());
    }
    sql.push_str(&format!(" order by {} limit ?", started_order("account.run")));
    values.push(filter.limit.map_or(-1, i64::from).into());
    let mut select = c.prepare_cached(&sql)?;
    let rows = select.query_map(params_from_iter(values), |r| {
        Ok(AccountRow {
            run: r.get(0)?,
            workspace: r.get(1)?,
            started: r.get(2)?,
            key: r.get(3)?,
            body: r.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
