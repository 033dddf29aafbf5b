//! The read model and the memos in SQLite.

use super::accounts;
use crate::batch::Row;
use crate::error::StoreError;
use crate::model::{IterationRow, RunFilter, RunRow};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row as Found, params, params_from_iter};

const RUN: &str = "id, workspace, task, agent, started, updated, status, reason, exit_code, iterations, cost_micro, \
                   cost_complete, verified, head, pid, resumable, proof, model, max_iterations, max_cost_micro, max_ms, \
                   until, breaker, live_micro, why, failing_before";

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
             cost_complete, verified, head, pid, resumable, proof, model, max_iterations, max_cost_micro, max_ms, until,
             breaker, live_micro, why, failing_before)
         values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
             ?24, ?25, ?26)
         on conflict(id) do update set workspace = excluded.workspace, task = excluded.task, agent = excluded.agent,
             started = excluded.started, updated = excluded.updated, status = excluded.status, reason = excluded.reason,
             exit_code = excluded.exit_code, iterations = excluded.iterations, cost_micro = excluded.cost_micro,
             cost_complete = excluded.cost_complete, verified = excluded.verified, head = excluded.head,
             pid = excluded.pid, resumable = excluded.resumable, proof = excluded.proof, model = excluded.model,
             max_iterations = excluded.max_iterations, max_cost_micro = excluded.max_cost_micro,
             max_ms = excluded.max_ms, until = excluded.until, breaker = excluded.breaker,
             live_micro = excluded.live_micro, why = excluded.why, failing_before = excluded.failing_before",
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
        r.proof,
        r.model,
        r.max_iterations,
        r.max_cost_micro,
        r.max_ms,
        r.until,
        r.breaker,
        r.live_micro,
        r.why,
        r.failing_before
    ])?;
    Ok(())
}

fn keep_iteration(c: &Connection, i: &IterationRow) -> Result<(), StoreError> {
    let mut upsert = c.prepare_cached(
        "insert into iteration(run, n, attempt, at, dur_ms, cost_micro, files, verified, decision, failure, progress,
             failing, rung, error, cost_unknown)
         values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
         on conflict(run, n, attempt) do update set at = excluded.at, dur_ms = excluded.dur_ms,
             cost_micro = excluded.cost_micro, files = excluded.files, verified = excluded.verified,
             decision = excluded.decision, failure = excluded.failure, progress = excluded.progress,
             failing = excluded.failing, rung = excluded.rung, error = excluded.error,
             cost_unknown = excluded.cost_unknown",
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
        i.failure,
        i.progress,
        i.failing,
        i.rung,
        i.error,
        i.cost_unknown
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
        model: r.get(17)?,
        max_iterations: r.get(18)?,
        max_cost_micro: r.get(19)?,
        max_ms: r.get(20)?,
        until: r.get(21)?,
        breaker: r.get(22)?,
        live_micro: r.get(23)?,
        why: r.get(24)?,
        failing_before: r.get(25)?,
    })
}

/// Where a run stands among all: the position of its first record. Ids and start times follow the clock, which may have
/// been set back.
fn start_position(run: &str) -> String {
    format!("(select pos from entry where stream = 'run/' || {run} and seq = 1)")
}

/// The order in which runs were started, newest first.
pub(super) fn started_order(run: &str) -> String {
    format!("{} desc, {run} desc", start_position(run))
}

/// Runs, newest first. Conditions are added only where asked for, so that each shape finds its index.
pub(super) fn runs(c: &Connection, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
    let (conditions, mut values) = conditions(filter);
    let sql =
        format!("select {RUN} from run where true{conditions} order by {} limit ?", started_order("run.id"));
    values.push(filter.limit.map_or(-1, i64::from).into());
    let mut select = c.prepare_cached(&sql)?;
    let rows = select.query_map(params_from_iter(values), run_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What a filter asks for, in SQL; [`RunFilter::admits`] says the same of one row.
fn conditions(filter: &RunFilter) -> (String, Vec<Value>) {
    let (mut sql, mut values) = (String::new(), Vec::<Value>::new());
    let mut add = |condition: &str, with: Vec<Value>| {
        sql.push_str(" and ");
        sql.push_str(condition);
        values.extend(with);
    };
    if let Some(workspace) = &filter.workspace {
        add("workspace = ?", vec![workspace.clone().into()]);
    }
    if let Some(prefix) = &filter.prefix {
        add("id >= ? and substr(id, 1, length(?)) = ?", vec![prefix.clone().into(); 3]);
    }
    if let Some(resumable) = filter.resumable {
        add("resumable = ?", vec![resumable.into()]);
    }
    if let Some(open) = filter.open {
        add(if open { "exit_code is null" } else { "exit_code is not null" }, Vec::new());
    }
    if !filter.states.is_empty() {
        let marks = vec!["?"; filter.states.len()].join(", ");
        let states = || filter.states.iter().cloned().map(Value::from);
        add(&format!("(status in ({marks}) or reason in ({marks}))"), states().chain(states()).collect());
    }
    if let Some(agent) = &filter.agent {
        add("agent = ?", vec![agent.clone().into()]);
    }
    if let Some(text) = &filter.text {
        let within = "instr(lower(id), ?1x) or instr(lower(task), ?1x) or instr(lower(workspace), ?1x) \
                      or instr(lower(agent), ?1x) or instr(lower(coalesce(model, '')), ?1x)";
        let text = text.to_ascii_lowercase();
        add(&format!("({})", within.replace("?1x", "?")), vec![text.into(); 5]);
    }
    if let Some(before) = &filter.before {
        let earlier = format!("{} < {}", start_position("run.id"), start_position("?"));
        add(&earlier, vec![before.clone().into()]);
    }
    (sql, values)
}

pub(super) fn run(c: &Connection, id: &str) -> Result<Option<RunRow>, StoreError> {
    let mut select = c.prepare_cached(&format!("select {RUN} from run where id = ?1"))?;
    Ok(select.query_row([id], run_row).optional()?)
}

const ITERATION: &str = "select run, n, attempt, at, dur_ms, cost_micro, files, verified, decision, failure, progress, \
                         failing, rung, error, cost_unknown from iteration";

pub(super) fn iterations(c: &Connection, run: &str) -> Result<Vec<IterationRow>, StoreError> {
    let mut select = c.prepare_cached(&format!("{ITERATION} where run = ?1 order by n, attempt"))?;
    let rows = select.query_map([run], iteration_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn latest_iterations(
    c: &Connection,
    run: &str,
    most: u32,
) -> Result<Vec<IterationRow>, StoreError> {
    let first = "(select max(n) from iteration where run = ?1) - ?2";
    let mut select =
        c.prepare_cached(&format!("{ITERATION} where run = ?1 and n > {first} order by n, attempt"))?;
    let rows = select.query_map(params![run, most], iteration_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn iterations_with_error(
    c: &Connection,
    workspace: &str,
    error: &str,
    before: &str,
    most: u32,
) -> Result<Vec<IterationRow>, StoreError> {
    let here = "error = ?1 and run in (select id from run where workspace = ?2)";
    let earlier = format!("{} < {}", start_position("run"), start_position("?3"));
    let order = started_order("run");
    let sql =
        format!("{ITERATION} where {here} and {earlier} order by {order}, n desc, attempt desc limit ?4");
    let mut select = c.prepare_cached(&sql)?;
    let rows = select.query_map(params![error, workspace, before, most], iteration_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
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
        progress: r.get(10)?,
        failing: r.get(11)?,
        rung: r.get(12)?,
        error: r.get(13)?,
        cost_unknown: r.get(14)?,
    })
}

pub(super) fn memo(c: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    let mut select = c.prepare_cached("select value from memo where key = ?1")?;
    Ok(select.query_row([key], |r| r.get(0)).optional()?)
}

/// Memos whose keys begin so, by key.
pub(super) fn memos(c: &Connection, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
    let mut select = c.prepare_cached(
        "select key, value from memo where key >= ?1 and substr(key, 1, length(?1)) = ?1 order by key",
    )?;
    let rows = select.query_map([prefix], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
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
