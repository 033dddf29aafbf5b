//! Network file systems: SQLite needs locks and shared memory that some of them only pretend to have.
//! If the kind of file system is doubtful, a throwaway database has to work first.

use super::explain;
use crate::error::StoreError;
use rusqlite::Connection;
use rustix::fs::{FlockOperation, flock};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Refuses a directory on a network file system unless the probe succeeds there.
pub(super) fn refuse_unsafe(dir: &Path) -> Result<(), StoreError> {
    match ralph_os::doubtful_file_system(dir) {
        Some(kind) => prove(dir, kind),
        None => Ok(()),
    }
}

fn prove(dir: &Path, kind: &'static str) -> Result<(), StoreError> {
    // Several threads may open the store at once.
    static PROBES: AtomicU32 = AtomicU32::new(0);
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let scratch = dir.join(format!(".probe-{}-{number}", std::process::id()));
    let answer = fs::create_dir_all(&scratch).map_err(|e| e.to_string()).and_then(|()| probe(&scratch));
    let _ = fs::remove_dir_all(&scratch);
    answer.map_err(|why| StoreError::Network { path: dir.to_path_buf(), kind, why })
}

/// A log, a lock that a second connection meets, and a record that it then sees.
fn probe(scratch: &Path) -> Result<(), String> {
    let word = |e: rusqlite::Error| e.to_string();
    queue_works(scratch)?;
    let path = scratch.join("probe.db");
    let first = Connection::open(&path).map_err(word)?;
    let mode: String = first.query_row("pragma journal_mode = wal", [], |r| r.get(0)).map_err(word)?;
    if mode != "wal" {
        return Err(format!("it does not support a write-ahead log (only {mode})"));
    }
    first.execute_batch("create table t(a); begin immediate; insert into t values(1)").map_err(word)?;
    let second = Connection::open(&path).map_err(word)?;
    second.busy_timeout(Duration::ZERO).map_err(word)?;
    match second.execute_batch("begin immediate") {
        Err(e) if explain::is_busy(&e) => {}
        Err(e) => return Err(e.to_string()),
        Ok(()) => return Err("database locks do not work on it".to_owned()),
    }
    first.execute_batch("commit").map_err(word)?;
    let seen: i64 = second.query_row("select count(*) from t", [], |r| r.get(0)).map_err(word)?;
    if seen == 1 { Ok(()) } else { Err("one connection does not see what another has written".to_owned()) }
}

fn queue_works(scratch: &Path) -> Result<(), String> {
    let path = scratch.join("lock");
    let open = || fs::OpenOptions::new().create(true).append(true).open(&path).map_err(|e| e.to_string());
    let (first, second) = (open()?, open()?);
    flock(&first, FlockOperation::NonBlockingLockExclusive).map_err(|e| e.to_string())?;
    match flock(&second, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Err("file locks do not work on it".to_owned()),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_passes_on_a_good_disk_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        prove(dir.path(), "NFS").unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_failed_probe_names_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a file");
        fs::write(&file, "").unwrap();
        let word = prove(&file, "NFS").unwrap_err().to_string();
        assert!(word.contains("NFS") && word.contains("XDG_STATE_HOME"), "{word}");
    }
}
