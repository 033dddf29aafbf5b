//! The tables, as a list of migrations. A migration only adds: an older ralph may still write to the same file.

use crate::error::StoreError;
use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as ours ("rlph").
pub(super) const APPLICATION_ID: i64 = 0x726c_7068;

/// Step n lifts schema n to n + 1; the number of steps is the schema this program knows.
pub(super) const STEPS: &[&str] = &[FIRST, ACCOUNTS, PROOF, SEEN, OUTBOX, COSTS];

// Positions are rowids: whoever prunes one day must leave the newest entry, so that none is given twice.
const FIRST: &str = "
create table entry(
    pos integer primary key, stream text not null, seq integer not null, at integer not null, ran integer not null,
    v integer not null, kind text not null, body text not null, chain blob not null);
create unique index entry_stream on entry(stream, seq);

create table hold(id text primary key, amount integer not null, actual integer) without rowid;
create table charge(
    id text not null, meter text not null, slides integer not null, amount integer not null, since integer,
    primary key(id, meter, slides)) without rowid;
create index charge_window on charge(meter, since, amount) where since is not null;
create table meter(name text primary key, settled integer not null, held integer not null) without rowid;

create table request(
    id integer primary key autoincrement, run text not null, at integer not null, body text not null);
create index request_run on request(run, id);

create table run(
    id text primary key, workspace text not null, task text not null, agent text not null, started integer not null,
    updated integer not null, status text not null, reason text, exit_code integer, iterations integer not null,
    cost_micro integer not null, cost_complete integer not null, verified integer, head integer not null, pid integer,
    resumable integer not null) without rowid;
create index run_workspace on run(workspace, id);
create table iteration(
    run text not null, n integer not null, attempt integer not null, at integer not null, dur_ms integer not null,
    cost_micro integer not null, files integer not null, verified integer, decision text not null, failure text,
    primary key(run, n, attempt)) without rowid;

create table memo(key text primary key, value text not null) without rowid;
";

const ACCOUNTS: &str = "
create table account(
    run text primary key, workspace text not null, started integer not null, key text not null, body text not null)
    without rowid;
create index account_key on account(workspace, key, run);
create index account_started on account(started, workspace);
";

const PROOF: &str = "alter table run add column proof text;";

// What screens show of a run without folding its journal.
const SEEN: &str = "
alter table run add column model text;
alter table run add column max_iterations integer not null default 0;
alter table run add column max_cost_micro integer not null default 0;
alter table run add column max_ms integer;
alter table run add column until integer;
alter table run add column breaker text;
alter table run add column live_micro integer not null default 0;
alter table run add column why text;
alter table run add column failing_before integer;
create index run_open on run(id) where exit_code is null;

alter table iteration add column progress integer;
alter table iteration add column failing integer;
alter table iteration add column rung integer not null default 0;
alter table iteration add column error text;
create index iteration_error on iteration(error, run, n) where error is not null;
";

const OUTBOX: &str = "
create table outbox(
    id text primary key, run text not null, seq integer not null, event text not null, target text not null,
    at integer not null, due integer not null, digest text, body text not null, state text not null,
    attempts integer not null, tried integer, answer text, owner text, leased_until integer) without rowid;
create index outbox_pending on outbox(target, due) where state = 'pending';
create index outbox_run on outbox(run);
";

const COSTS: &str = "alter table iteration add column cost_unknown integer not null default 0;";

/// What a file says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    pub application: i64,
    pub version: i64,
    pub tables: i64,
}

/// Reads the marks; also makes SQLite read its header and schema, so that obvious damage shows here.
pub(super) fn marks(c: &Connection) -> Result<Marks, StoreError> {
    let one = |sql: &str| c.query_row(sql, [], |r| r.get::<_, i64>(0));
    Ok(Marks {
        application: one("pragma application_id")?,
        version: one("pragma user_version")?,
        tables: one("select count(*) from sqlite_schema")?,
    })
}

/// The schema a list of steps leads to.
pub(super) fn newest(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

/// Takes the steps that the file has not yet taken, all in one transaction.
pub(super) fn migrate(c: &mut Connection, steps: &[&str]) -> Result<(), StoreError> {
    let tx = c.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again inside the lock: another process may have lifted it meanwhile.
    let have = usize::try_from(marks(&tx)?.version).unwrap_or(0);
    for step in steps.iter().skip(have) {
        tx.execute_batch(step)?;
    }
    if have < steps.len() {
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", newest(steps))?;
    }
    Ok(tx.commit()?)
}
