//! The read model and the memos in SQLite.

use super::accounts;
use crate::batch::Row;
use crate::error::StoreError;
use crate::model::{IterationRow, RunFilter, RunRow};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row as Found, params, params_from_iter};

const RUN: &str = "id, workspace, task, agent, started, updated, status, reason, exit_code, iterations, cost_micro, \
                   cost_complete, verified, head, pid, resumable, proof";

/// Writes rows of the read model.
pub(super) fn keep(c: &Connection, rows: &[Row]) -> Result<(), StoreError> {
    for row in rows {
        match row {
            Row::Run(run) => keep_run(c, run)?,
            Row::Iteration(it) => keep_iteration(c, it)?,
            Row::Account(account) => accounts::keep(c, account)?,
        }
    }
    Ok(())
}

fn keep_run(c: &Connection, r: &RunRow) -> Result<(), StoreError> {
    // An upsert leaves columns alone that a newer ralph has added and this one does not know.
    let mut upsert = c.prepare_cached(
        "insert into run(id, workspace, task, agent, started, updated, status, reason, exit_code, iterations, cost_micro,
             cost_complete, verified, head, pid, resumable, proof)
         values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
         on conflict(id) do update set workspace = excluded.workspace, task = excluded.task, agent = excluded.agent,
             started = excluded.started, updated = excluded.updated, status = excluded.status, reason = excluded.reason,
             exit_code = excluded.exit_code, iterations = excluded.iterations, cost_micro = excluded.cost_micro,
             cost_complete = excluded.cost_complete, verified = excluded.verified, head = excluded.head,
             pid = excluded.pid, resumable = excluded.resumable, proof = excluded.proof",
    )?;
    let head = i64::try_from(r.head).unwrap_or(i64::MAX);
    upsert.execute(params![
        r.id,
        r.workspace,
        r.task,
        r.agent,
        r.started,
        r.updated,
        r.status,
        r.reason,
        r.exit_code,
        r.iterations,
        r.cost_micro,
        r.cost_complete,
        r.verified,
        head,
        r.pid,
        r.resumable,
        r.proof
    ])?;
    Ok(())
}

fn keep_iteration(c: &Connection, i: &IterationRow) -> Result<(), StoreError> {
    let mut upsert = c.prepare_cached(
        "insert into iteration(run, n, attempt, at, dur_ms, cost_micro, files, verified, decision, failure)
         values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         on conflict(run, n, attempt) do update set at = excluded.at, dur_ms = excluded.dur_ms,
             cost_micro = excluded.cost_micro, files = excluded.files, verified = excluded.verified,
             decision = excluded.decision, failure = excluded.failure",
    )?;
    upsert.execute(params![
        i.run,
        i.n,
        i.attempt,
        i.at,
        i.dur_ms,
        i.cost_micro,
        i.files,
        i.verified,
        i.decision,
        i.failure
    ])?;
    Ok(())
}

fn run_row(r: &Found<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: r.get(0)?,
        workspace: r.get(1)?,
        task: r.get(2)?,
        agent: r.get(3)?,
        started: r.get(4)?,
        updated: r.get(5)?,
        status: r.get(6)?,
        reason: r.get(7)?,
        exit_code: r.get(8)?,
        iterations: r.get(9)?,
        cost_micro: r.get(10)?,
        cost_complete: r.get(11)?,
        verified: r.get(12)?,
        head: u64::try_from(r.get::<_, i64>(13)?).unwrap_or(0),
        pid: r.get(14)?,
        resumable: r.get(15)?,
        proof: r.get(16)?,
    })
}

/// The order in which runs were started: that of their first records. Ids and start times follow the clock, which may have
/// been set back.
pub(super) fn started_order(run: &str) -> String {
    format!("(select pos from entry where stream = 'run/' || {run} and seq = 1) desc, {run} desc")
}

/// Runs, newest first. Conditions are added only where asked for, so that each shape finds its index.
pub(super) fn runs(c: &Connection, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
    let mut sql = format!("select {RUN} from run where true");
    let mut values: Vec<Value> = Vec::new();
    if let Some(workspace) = &filter.workspace {
        sql.push_str(" and workspace = ?");
        values.push(workspace.clone().into());
    }
    if let Some(prefix) = &filter.prefix {
        sql.push_str(" and id >= ? and substr(id, 1, length(?)) = ?");
        values.extend([prefix.clone().into(), prefix.clone().into(), prefix.clone().into()]);
    }
    if let Some(resumable) = filter.resumable {
        sql.push_str(" and resumable = ?");
        values.push(resumable.into());
    }
    sql.push_str(&format!(" order by {} limit ?", started_order("run.id")));
    values.push(filter.limit.map_or(-1, i64::from).into());
    let mut select = c.prepare_cached(&sql)?;
    let rows = select.query_map(params_from_iter(values), run_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn run(c: &Connection, id: &str) -> Result<Option<RunRow>, StoreError> {
    let mut select = c.prepare_cached(&format!("select {RUN} from run where id = ?1"))?;
    Ok(select.query_row([id], run_row).optional()?)
}

const ITERATION: &str = "select run, n, attempt, at, dur_ms, cost_micro, files, verified, decision, failure \
                         from iteration where run = ?1 order by";

pub(super) fn iterations(c: &Connection, run: &str) -> Result<Vec<IterationRow>, StoreError> {
    let mut select = c.prepare_cached(&format!("{ITERATION} n, attempt"))?;
    let rows = select.query_map([run], iteration_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn latest_iteration(c: &Connection, run: &str) -> Result<Option<IterationRow>, StoreError> {
    let mut select = c.prepare_cached(&format!("{ITERATION} n desc, attempt desc limit 1"))?;
    Ok(select.query_row([run], iteration_row).optional()?)
}

fn iteration_row(r: &Found<'_>) -> rusqlite::Result<IterationRow> {
    Ok(IterationRow {
        run: r.get(0)?,
        n: r.get(1)?,
        attempt: r.get(2)?,
        at: r.get(3)?,
        dur_ms: r.get(4)?,
        cost_micro: r.get(5)?,
        files: r.get(6)?,
        verified: r.get(7)?,
        decision: r.get(8)?,
        failure: r.get(9)?,
    })
}

pub(super) fn memo(c: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    let mut select = c.prepare_cached("select value from memo where key = ?1")?;
    Ok(select.query_row([key], |r| r.get(0)).optional()?)
}

/// Writes or forgets memos.
pub(super) fn remember(c: &Connection, memos: &[(String, Option<String>)]) -> Result<(), StoreError> {
    for (key, value) in memos {
        match value {
            Some(value) => c
                .prepare_cached(
                    "insert into memo(key, value) values(?1, ?2) on conflict(key) do update set value = excluded.value",
                )?
                .execute([key, value])?,
            None => c.prepare_cached("delete from memo where key = ?1")?.execute([key])?,
        };
    }
    Ok(())
}
