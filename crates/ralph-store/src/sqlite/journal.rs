//! Records in SQLite: appended with their link of the chain, and checked against it on every read.

use crate::batch::Put;
use crate::chain::{Chain, Link};
use crate::entry::{Entry, Head, Position, Tail, UncheckedEntry};
use crate::error::{CommitError, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;

/// Columns as [`check`] expects them.
const COLUMNS: &str = "seq, at, ran, v, kind, body, chain, pos, stream";

/// A stream's head while a batch is being appended.
struct Growing<'a> {
    stream: &'a str,
    /// The head that others see.
    was: u64,
    now: Head,
}

/// Appends records whose expected heads hold; the caller rolls back when one does not.
pub(super) fn append(c: &Connection, puts: &[Put]) -> Result<Option<Position>, CommitError> {
    let mut heads: Vec<Growing<'_>> = Vec::new();
    let mut position = None;
    for put in puts {
        let at = match heads.iter().position(|g| g.stream == put.stream) {
            Some(at) => at,
            None => {
                let now = head(c, &put.stream)?.unwrap_or(Head { seq: 0, chain: Chain::start(&put.stream) });
                heads.push(Growing { stream: &put.stream, was: now.seq, now });
                heads.len() - 1
            }
        };
        let Some(grown) = heads.get_mut(at) else { continue };
        if grown.now.seq != put.expect {
            let stream = put.stream.clone();
            return Err(CommitError::Conflict { stream, head: grown.was, expected: put.expect });
        }
        let seq = put.expect + 1;
        let link = Link { seq, at: put.at, ran: put.ran, v: put.v, kind: &put.kind, body: &put.body };
        grown.now = Head { seq, chain: grown.now.chain.link(&link) };
        position = Some(insert(c, put, grown.now)?);
    }
    Ok(position)
}

fn insert(c: &Connection, put: &Put, head: Head) -> Result<Position, StoreError> {
    let mut insert = c.prepare_cached(
        "insert into entry(stream, seq, at, ran, v, kind, body, chain) values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let seq = column(head.seq);
    let pos =
        insert.insert(params![put.stream, seq, put.at, put.ran, put.v, put.kind, put.body, head.chain.0])?;
    Ok(number(pos))
}

/// The newest record of a stream, by the index.
pub(super) fn head(c: &Connection, stream: &str) -> Result<Option<Head>, StoreError> {
    let mut select =
        c.prepare_cached("select seq, chain from entry where stream = ?1 order by seq desc limit 1")?;
    let found = select.query_row([stream], |r| Ok(Head { seq: number(r.get(0)?), chain: Chain(r.get(1)?) }));
    Ok(found.optional()?)
}

/// Reads a stream after `after`; the first record is checked against the link of the one before it.
pub(super) fn read(c: &Connection, stream: &str, after: u64) -> Result<Vec<Entry>, StoreError> {
    let mut entries = Vec::new();
    walk(c, stream, after, |entry| {
        entries.push(entry.checked()?);
        Ok(())
    })?;
    Ok(entries)
}

/// The same without comparing checksums.
pub(super) fn each(
    c: &Connection,
    stream: &str,
    after: u64,
    each: &mut dyn FnMut(UncheckedEntry<'_>),
) -> Result<(), StoreError> {
    walk(c, stream, after, |entry| {
        each(entry);
        Ok(())
    })
    .map(drop)
}

/// Walks a whole stream and returns its head.
pub(super) fn verify(c: &Connection, stream: &str) -> Result<Option<Head>, StoreError> {
    let last = walk(c, stream, 0, |entry| entry.check())?;
    Ok((last.seq > 0).then_some(last))
}

fn walk(
    c: &Connection,
    stream: &str,
    after: u64,
    mut each: impl FnMut(UncheckedEntry<'_>) -> Result<(), StoreError>,
) -> Result<Head, StoreError> {
    // Asked before the walk, so that a record which is appended meanwhile is not missed. A damaged page of the index can
    // end the walk early, without an error: the journal would be short, and nobody would know.
    let newest = head(c, stream)?.map_or(0, |head| head.seq);
    let sql = format!("select {COLUMNS} from entry where stream = ?1 and seq > ?2 order by seq");
    let mut select = c.prepare_cached(&sql)?;
    let mut rows = select.query(params![stream, column(after)])?;
    let mut last = Head { seq: after, chain: Chain::start(stream) };
    let mut first = true;
    while let Some(row) = rows.next()? {
        if std::mem::take(&mut first) {
            last.chain = link_at(c, stream, after)?;
        }
        each(unchecked(stream, &mut last, row)?)?;
    }
    if last.seq < newest {
        return Err(corrupt(stream, last.seq + 1, "it is missing"));
    }
    Ok(last)
}

/// The link of one record; 0 stands for the start of the stream.
fn link_at(c: &Connection, stream: &str, seq: u64) -> Result<Chain, StoreError> {
    if seq == 0 {
        return Ok(Chain::start(stream));
    }
    let mut select = c.prepare_cached("select chain from entry where stream = ?1 and seq = ?2")?;
    let found = select.query_row(params![stream, column(seq)], |r| r.get(0)).optional()?;
    found.map(Chain).ok_or_else(|| corrupt(stream, seq, "it is missing"))
}

/// Turns a row into a record if it continues the chain, and moves `last` on.
fn check(stream: &str, last: &mut Head, row: &Row<'_>) -> Result<Entry, StoreError> {
    unchecked(stream, last, row)?.checked()
}

/// Turns a row into a record if it is the next one, and moves `last` on.
fn unchecked<'r>(
    stream: &'r str,
    last: &mut Head,
    row: &'r Row<'_>,
) -> Result<UncheckedEntry<'r>, StoreError> {
    let seq = last.seq + 1;
    let odd = |e: rusqlite::Error| corrupt(stream, seq, &e.to_string());
    let text = |column| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let found = number(row.get(0).map_err(odd)?);
    if found != seq {
        return Err(corrupt(stream, seq, &format!("record {found} stands in its place")));
    }
    let link = Chain(row.get(6).map_err(odd)?);
    let before = std::mem::replace(last, Head { seq, chain: link }).chain;
    Ok(UncheckedEntry {
        stream,
        seq,
        at: row.get(1).map_err(odd)?,
        ran: row.get(2).map_err(odd)?,
        v: row.get(3).map_err(odd)?,
        kind: text(4).map_err(odd)?,
        body: text(5).map_err(odd)?,
        links: Some((before, link)),
    })
}

fn corrupt(stream: &str, seq: u64, why: &str) -> StoreError {
    StoreError::Corrupt { stream: stream.to_owned(), seq, why: why.to_owned() }
}

/// The newest record's position: the table's last key, found without walking.
pub(super) fn position(c: &Connection) -> Result<Position, StoreError> {
    let top: i64 =
        c.prepare_cached("select coalesce(max(pos), 0) from entry")?.query_row([], |r| r.get(0))?;
    Ok(number(top))
}

/// Records of all streams with a prefix. Writers are one after another, so a position once passed is never filled later.
pub(super) fn since(c: &Connection, prefix: &str, after: Position, limit: usize) -> Result<Tail, StoreError> {
    let top = position(c)?;
    let mut tail = Tail { entries: Vec::new(), next: after.max(top) };
    let mut last: HashMap<String, Head> = HashMap::new();
    let sql = format!("select {COLUMNS} from entry where pos > ?1 and pos <= ?2 order by pos");
    let mut select = c.prepare_cached(&sql)?;
    let mut rows = select.query(params![column(after), column(top)])?;
    while let Some(row) = rows.next()? {
        let stream = row.get_ref(8)?.as_str().map_err(rusqlite::Error::from)?;
        if !stream.starts_with(prefix) {
            continue;
        }
        if tail.entries.len() == limit {
            tail.next = tail.entries.last().map_or(after, |(position, _)| *position);
            break;
        }
        if !last.contains_key(stream) {
            let seq = number(row.get(0)?).saturating_sub(1);
            last.insert(stream.to_owned(), Head { seq, chain: link_at(c, stream, seq)? });
        }
        let Some(head) = last.get_mut(stream) else { continue };
        tail.entries.push((number(row.get(7)?), check(stream, head, row)?));
    }
    Ok(tail)
}

/// Names of streams; the index is walked from one name to the next, not over every record.
pub(super) fn streams(c: &Connection, prefix: &str) -> Result<Vec<String>, StoreError> {
    let mut next = c.prepare_cached("select min(stream) from entry where stream > ?1")?;
    let mut first = c.prepare_cached("select min(stream) from entry where stream >= ?1")?;
    let mut names: Vec<String> = Vec::new();
    let mut found: Option<String> = first.query_row([prefix], |r| r.get(0))?;
    while let Some(name) = found.filter(|name| name.starts_with(prefix)) {
        found = next.query_row([&name], |r| r.get(0))?;
        names.push(name);
    }
    Ok(names)
}

/// Walks the table itself, so that a record which the index has lost is noticed too.
pub(super) fn verify_all(c: &Connection) -> Result<u64, StoreError> {
    let mut last: HashMap<String, Head> = HashMap::new();
    let mut select = c.prepare(&format!("select {COLUMNS} from entry not indexed order by pos"))?;
    let mut rows = select.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let stream: String = row.get(8)?;
        let head =
            last.entry(stream.clone()).or_insert_with(|| Head { seq: 0, chain: Chain::start(&stream) });
        check(&stream, head, row)?;
        count += 1;
    }
    for (stream, seen) in &last {
        if head(c, stream)? != Some(*seen) {
            return Err(corrupt(stream, seen.seq, "it is missing from the index"));
        }
    }
    Ok(count)
}

/// SQLite's integers are signed; ours never come near the edge.
fn column(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn number(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
