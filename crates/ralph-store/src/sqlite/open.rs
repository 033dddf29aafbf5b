//! Opens or creates the database. Refuses a file that is not ralph's, is damaged, or is on an unsafe file system.

use super::ballast::Ballast;
use super::file_identity::FileIdentity;
use super::schema::{self, APPLICATION_ID, Marks};
use super::write_queue::{QUEUE_WAIT, WriteQueue};
use super::{DATABASE, Database, copies, damage, explain, log, network};
use crate::error::StoreError;
use ralph_diagnostics::Discard;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Only after this long does a busy database become an error, unless whoever opens it waits less for reading.
pub(crate) const BUSY_LIMIT: Duration = Duration::from_secs(60);

/// SqlLedger of log at which a commit folds it by itself: a backstop, housekeeping comes long before.
const LOG_BACKSTOP_PAGES: i64 = 8192;

impl Database {
    /// Opens the database in `dir`, making both if they are not there.
    pub(crate) fn open(dir: &Path) -> Result<Database, StoreError> {
        open_with(dir, schema::STEPS)
    }

    /// Opens the database in `dir` for commands that must not make one; `None` when there is none. A database that
    /// somebody else has locked is waited for `busy` long, here and whenever it is read.
    pub(crate) fn open_existing(dir: &Path, busy: Duration) -> Result<Option<Database>, StoreError> {
        let path = dir.join(DATABASE);
        damage::refuse_other_kinds(&path)?;
        damage::refuse_orphaned_log(&path)?;
        damage::refuse_lost_database(&path)?;
        if fs::metadata(&path).map_or(0, |m| m.len()) == 0 {
            return Ok(None);
        }
        let store = unlock(dir, schema::STEPS, busy)?;
        // Such commands mostly read, and a request or two can open its own connection.
        let connection = store.writer.lock().ok().and_then(|mut slot| slot.take());
        if let (Some(connection), Ok(mut reader)) = (connection, store.reader.lock()) {
            connection.pragma_update(None, "query_only", true)?;
            *reader = Some(connection);
        }
        Ok(Some(store))
    }
}

/// `open`, with the schema's steps named so that a test can add one.
pub(super) fn open_with(dir: &Path, steps: &[&str]) -> Result<Database, StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|e| StoreError::file("make", dir, e))?;
    network::refuse_unsafe(dir)?;
    let path = dir.join(DATABASE);
    damage::refuse_other_kinds(&path)?;
    damage::refuse_orphaned_log(&path)?;
    damage::refuse_lost_database(&path)?;
    make_private(&path)?;
    let store = unlock(dir, steps, BUSY_LIMIT)?;
    store.ballast.ensure();
    Ok(store)
}

/// An empty file for SQLite to fill; made by us, so that it and the files beside it are private.
fn make_private(path: &Path) -> Result<(), StoreError> {
    match ralph_os::make_empty(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(StoreError::file("make", path, e)),
        _ => Ok(()),
    }
}

/// Opens an existing file, checks that it is ours, and lifts it to the newest schema.
fn unlock(dir: &Path, steps: &[&str], busy: Duration) -> Result<Database, StoreError> {
    let path = dir.join(DATABASE);
    let queue = WriteQueue::new(dir.join("ralph.gate"));
    let opened = connect(&path, false, busy).and_then(|mut c| {
        let newer = settle_schema(&mut c, &path, &queue, steps)?;
        Ok((c, newer))
    });
    let (connection, newer) =
        opened.map_err(|e| damage::keep_copy_if_damaged(&path, explain::explain(&path, busy, e)))?;
    Ok(Database {
        identity: FileIdentity::note(&path)?,
        ballast: Ballast::new(dir.join("ralph.ballast")),
        writer: Mutex::new(Some(connection)),
        reader: Mutex::new(None),
        busy,
        commits: AtomicU64::new(0),
        queue,
        newer,
        path,
    })
}

/// A connection with everything set that must hold on each one.
pub(super) fn connect(path: &Path, only_reads: bool, busy: Duration) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let c = Connection::open_with_flags(path, flags)?;
    c.busy_timeout(busy)?;
    c.set_prepared_statement_cache_capacity(64);
    // The last one to leave would otherwise fold and delete the log: slow for a command that only reads.
    c.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    c.execute_batch(&format!(
        "pragma synchronous = full; pragma wal_autocheckpoint = {LOG_BACKSTOP_PAGES}; pragma journal_size_limit = {};
         pragma trusted_schema = off; pragma cell_size_check = on; pragma query_only = {only_reads}",
        log::SIZE
    ))?;
    Ok(c)
}

/// Says which newer schema the file has, if it has one; makes or lifts it otherwise.
fn settle_schema(
    c: &mut Connection,
    path: &Path,
    queue: &WriteQueue,
    steps: &[&str],
) -> Result<Option<i64>, StoreError> {
    let marks = schema::marks(c)?;
    let fresh = marks == Marks { application: 0, version: 0, tables: 0 };
    if !fresh && marks.application != APPLICATION_ID {
        let why = format!(
            "its application id is {:#x}, it has {} tables and indexes",
            marks.application, marks.tables
        );
        return Err(StoreError::Foreign { path: path.to_path_buf(), why });
    }
    let known = schema::newest(steps);
    if marks.version > known {
        return Ok(Some(marks.version));
    }
    // A copy has no write-ahead log until it is restored.
    if marks.version == known && mode(c, "pragma journal_mode")? != "wal" {
        let _turn = queue.enter(QUEUE_WAIT);
        mode(c, "pragma journal_mode = wal")?;
    }
    if marks.version < known {
        let _turn = queue.enter(QUEUE_WAIT);
        if !fresh {
            copies::before_migration(c, path, marks.version)?;
        }
        c.query_row("pragma journal_mode = wal", [], |_| Ok(()))?;
        schema::migrate(c, steps)?;
        if fresh {
            finish_making(c, path)?;
        }
    }
    Ok(None)
}

fn mode(c: &Connection, sql: &str) -> Result<String, StoreError> {
    Ok(c.query_row(sql, [], |row| row.get(0))?)
}

/// Brings a new database into its file and its name onto the disk.
fn finish_making(c: &Connection, path: &Path) -> Result<(), StoreError> {
    c.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
    for dir in path.ancestors().skip(1).take(2).filter(|dir| !dir.as_os_str().is_empty()) {
        // Some file systems cannot sync a directory, and the parent may not be ours to open: the data is safe either way.
        fs::File::open(dir).and_then(|dir| dir.sync_all()).discard("sync the state directory");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Put, Store};

    fn put(expect: u64) -> Batch {
        let put =
            Put { stream: "run/a".into(), expect, kind: "seen".into(), body: "{}".into(), ..Put::default() };
        Batch { put: vec![put], ..Batch::default() }
    }

    #[test]
    fn an_older_file_is_copied_and_lifted_while_an_older_program_writes_on() {
        let dir = tempfile::tempdir().unwrap();
        let older = Database::open(dir.path()).unwrap();
        older.commit(&put(0)).unwrap();

        let mut steps = schema::STEPS.to_vec();
        steps.push("alter table run add column note text; create table later(id integer primary key);");
        let newer = open_with(dir.path(), &steps).unwrap();
        assert_eq!(newer.read("run/a", 0).unwrap().len(), 1);
        newer.commit(&put(1)).unwrap();
        older.commit(&put(2)).unwrap();
        assert_eq!(newer.verify().unwrap(), 3);

        let copy = dir.path().join(format!("copies/ralph-schema-{}.db", schema::STEPS.len()));
        let kept = Connection::open(copy).unwrap();
        assert_eq!(schema::marks(&kept).unwrap().version, schema::newest(schema::STEPS));
        let records: i64 = kept.query_row("select count(*) from entry", [], |r| r.get(0)).unwrap();
        assert_eq!(records, 1);
    }

    #[test]
    fn a_newer_file_is_read_and_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut steps = schema::STEPS.to_vec();
        steps.push("create table later(id integer primary key);");
        open_with(dir.path(), &steps).unwrap().commit(&put(0)).unwrap();

        for store in [
            Database::open(dir.path()).unwrap(),
            Database::open_existing(dir.path(), BUSY_LIMIT).unwrap().unwrap(),
        ] {
            assert_eq!(store.read("run/a", 0).unwrap().len(), 1);
            let word = store.commit(&put(1)).unwrap_err().to_string();
            assert!(word.contains("read but not written") && word.contains("Update ralph"), "{word}");
            assert!(matches!(store.ask("a", "{}", 0), Err(StoreError::Newer { .. })));
        }
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        Database::open(dir.path()).unwrap().commit(&put(0)).unwrap();
        let mut steps = schema::STEPS.to_vec();
        steps.push("create table half(id integer primary key); this is no sql;");
        assert!(open_with(dir.path(), &steps).is_err());
        let store = Database::open(dir.path()).unwrap();
        store.commit(&put(1)).unwrap();
        assert_eq!(store.verify().unwrap(), 2);
    }
}
