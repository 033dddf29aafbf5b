//! The inbox: requests are rows, not records, because an append from another process would be a conflict for the run.

use crate::batch::{Request, RequestId};
use crate::error::StoreError;
use rusqlite::{Connection, params};

pub(super) fn ask(c: &Connection, run: &str, body: &str, at: i64) -> Result<RequestId, StoreError> {
    let mut insert = c.prepare_cached("insert into request(run, at, body) values(?1, ?2, ?3)")?;
    Ok(RequestId(insert.insert(params![run, at, body])?))
}

pub(super) fn pending(c: &Connection, run: &str) -> Result<Vec<Request>, StoreError> {
    let mut select = c.prepare_cached("select id, run, at, body from request where run = ?1 order by id")?;
    let rows = select.query_map([run], |r| {
        Ok(Request { id: RequestId(r.get(0)?), run: r.get(1)?, at: r.get(2)?, body: r.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Answered requests go; what was asked stands in the journal.
pub(super) fn done(c: &Connection, ids: &[RequestId]) -> Result<(), StoreError> {
    for id in ids {
        c.prepare_cached("delete from request where id = ?1")?.execute([id.0])?;
    }
    Ok(())
}
