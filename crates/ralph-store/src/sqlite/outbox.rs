//! The outbox in SQLite. A lease is one writing transaction, so that two processes never take the same row.

use crate::error::StoreError;
use crate::outbox::{
    Delivery, LONGEST_AHEAD, LONGEST_DELAY, LONGEST_LEASE, Lease, OutboxEntry, OutboxFilter, OutboxRow,
    OutboxState,
};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row as Found, params, params_from_iter};

const COLUMNS: &str =
    "id, run, seq, event, target, at, due, digest, body, state, attempts, tried, answer, owner, leased_until";

/// Writes rows; one that is there already stays as it is.
pub(super) fn add(c: &Connection, rows: &[OutboxRow]) -> Result<(), StoreError> {
    for row in rows {
        c.prepare_cached(
            "insert or ignore into outbox(id, run, seq, event, target, at, due, digest, body, state, attempts)
             values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'pending', 0)",
        )?
        .execute(params![
            row.id,
            row.run,
            i64::try_from(row.seq).unwrap_or(i64::MAX),
            row.event,
            row.target,
            row.at,
            row.due,
            row.digest,
            row.body
        ])?;
    }
    Ok(())
}

/// Rows of a target that may be leased.
const FREE: &str =
    "state = 'pending' and target = ?1 and (due <= ?2 or due > ?2 + ?4 or attempts > 0 and tried < ?3
        or ?3 is not null and attempts = 0 and digest is not null
        or attempts = 0 and digest is null and at > ?2 + ?6)
    and (leased_until is null or leased_until <= ?2 or leased_until > ?2 + ?5)";

/// Whether there is any row to lease.
pub(super) fn is_any_free(c: &Connection, lease: &Lease<'_>) -> Result<bool, StoreError> {
    let given =
        params![lease.target, lease.now, lease.not_tried_since, LONGEST_DELAY, LONGEST_LEASE, LONGEST_AHEAD];
    Ok(c.prepare_cached(&format!("select 1 from outbox where {FREE} limit 1"))?.exists(given)?)
}

/// Takes the next row of a target, and those that are delivered with it.
pub(super) fn lease(c: &Connection, lease: &Lease<'_>) -> Result<Vec<OutboxEntry>, StoreError> {
    let given =
        params![lease.target, lease.now, lease.not_tried_since, LONGEST_DELAY, LONGEST_LEASE, LONGEST_AHEAD];
    let sql = format!("select {COLUMNS} from outbox where {FREE} order by due, at, id limit 1");
    let Some(first) = c.prepare_cached(&sql)?.query_row(given, entry).optional()? else {
        return Ok(Vec::new());
    };
    let mut entries = vec![first];
    if let Some(digest) = entries.first().and_then(|first| first.row.digest.clone()) {
        let sql = format!("select {COLUMNS} from outbox where {FREE} and digest = ?7 order by at, id");
        let given = params![
            lease.target,
            lease.now,
            lease.not_tried_since,
            LONGEST_DELAY,
            LONGEST_LEASE,
            LONGEST_AHEAD,
            digest
        ];
        entries = c.prepare_cached(&sql)?.query_map(given, entry)?.collect::<Result<_, _>>()?;
    }
    for entry in &mut entries {
        c.prepare_cached("update outbox set owner = ?2, leased_until = ?3 where id = ?1")?
            .execute(params![entry.row.id, lease.owner, lease.until])?;
        entry.owner = Some(lease.owner.to_owned());
        entry.leased_until = Some(lease.until);
    }
    Ok(entries)
}

/// Says what became of rows; those that somebody else has leased meanwhile stay as they are. How many were changed.
pub(super) fn settle(
    c: &Connection,
    (ids, owner, at): (&[String], &str, i64),
    delivery: &Delivery,
    answer: &str,
) -> Result<usize, StoreError> {
    let due = match delivery {
        Delivery::Retry(due) => Some(*due),
        _ => None,
    };
    let mut changed = 0;
    for id in ids {
        changed += c
            .prepare_cached(
                "update outbox set state = ?3, attempts = attempts + ?4, tried = ?5, answer = ?6,
                     due = coalesce(?7, due), leased_until = null where id = ?1 and owner = ?2",
            )?
            .execute(params![id, owner, delivery.state().name(), delivery.is_failure(), at, answer, due])?;
    }
    Ok(changed)
}

/// Rows that nobody delivers and that are kept for the end of quiet hours, but for another end.
const KEPT_OTHERWISE: &str =
    "state = 'pending' and attempts = 0 and digest is not null and due > ?1 and due is not ?2
    and (leased_until is null or leased_until <= ?1 or leased_until > ?1 + ?3)";

/// Whether there is any row that [`keep_until`] changes.
pub(super) fn is_any_kept_otherwise(c: &Connection, now: i64, ends: Option<i64>) -> Result<bool, StoreError> {
    let sql = format!("select 1 from outbox where {KEPT_OTHERWISE} limit 1");
    Ok(c.prepare_cached(&sql)?.exists(params![now, ends, LONGEST_LEASE])?)
}

/// Keeps rows until quiet hours end, or no longer. How many were changed.
pub(super) fn keep_until(c: &Connection, now: i64, ends: Option<i64>) -> Result<usize, StoreError> {
    let due = ends.unwrap_or(now);
    let sql = format!("update outbox set due = ?4, digest = ?5 where {KEPT_OTHERWISE}");
    Ok(c.prepare_cached(&sql)?.execute(params![now, ends, LONGEST_LEASE, due, due.to_string()])?)
}

/// Rows that were closed before a moment. A state that this version does not know may be one to be delivered.
const OLDER: &str = "state in ('sent', 'failed', 'dropped') and coalesce(tried, at) < ?1";

/// Whether there is any row that [`prune`] deletes.
pub(super) fn is_any_older(c: &Connection, before: i64) -> Result<bool, StoreError> {
    Ok(c.prepare_cached(&format!("select 1 from outbox where {OLDER} limit 1"))?.exists([before])?)
}

/// Deletes rows that were closed before a moment. How many.
pub(super) fn prune(c: &Connection, before: i64) -> Result<usize, StoreError> {
    Ok(c.prepare_cached(&format!("delete from outbox where {OLDER}"))?.execute([before])?)
}

/// Rows, those to be delivered in the order in which they are due, the others newest first.
pub(super) fn list(c: &Connection, filter: &OutboxFilter) -> Result<Vec<OutboxEntry>, StoreError> {
    let mut sql = format!("select {COLUMNS} from outbox where true");
    let mut values: Vec<Value> = Vec::new();
    if let Some(state) = filter.state {
        sql.push_str(" and state = ?");
        values.push(state.name().to_owned().into());
    }
    let texts = [(&filter.target, "target"), (&filter.run, "run")];
    for (value, column) in texts.into_iter().filter_map(|(v, column)| Some((v.as_ref()?, column))) {
        sql.push_str(&format!(" and {column} = ?"));
        values.push(value.clone().into());
    }
    sql.push_str(" order by case state when 'pending' then due else -at end, id limit ?");
    values.push(filter.limit.map_or(-1, i64::from).into());
    let mut select = c.prepare_cached(&sql)?;
    let rows = select.query_map(params_from_iter(values), entry)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn entry(r: &Found<'_>) -> rusqlite::Result<OutboxEntry> {
    let state: String = r.get(9)?;
    Ok(OutboxEntry {
        row: OutboxRow {
            id: r.get(0)?,
            run: r.get(1)?,
            seq: u64::try_from(r.get::<_, i64>(2)?).unwrap_or(0),
            event: r.get(3)?,
            target: r.get(4)?,
            at: r.get(5)?,
            due: r.get(6)?,
            digest: r.get(7)?,
            body: r.get(8)?,
        },
        state: OutboxState::named(&state),
        attempts: r.get(10)?,
        tried: r.get(11)?,
        answer: r.get(12)?,
        owner: r.get(13)?,
        leased_until: r.get(14)?,
    })
}
