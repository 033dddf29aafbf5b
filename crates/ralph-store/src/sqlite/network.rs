//! Network file systems: SQLite needs locks and shared memory that some of them only pretend to have.
//! Where the kind of file system is doubtful, a throw-away database has to work first.

use super::explain;
use crate::error::StoreError;
use rusqlite::Connection;
use rustix::fs::{FlockOperation, flock};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Refuses a directory on a network file system unless the probe succeeds there.
pub(super) fn refuse_unsafe(dir: &Path) -> Result<(), StoreError> {
    match kind_of(dir) {
        Some(kind) => prove(dir, kind),
        None => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn kind_of(dir: &Path) -> Option<&'static str> {
    rustix::fs::statfs(dir).ok().and_then(|s| doubtful(s.f_type.cast_unsigned()))
}

#[cfg(not(target_os = "linux"))]
fn kind_of(_dir: &Path) -> Option<&'static str> {
    None
}

/// The doubtful ones by the magic number that `statfs` gives.
#[cfg(target_os = "linux")]
fn doubtful(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517b => "SMB",
        0xff53_4d42 => "CIFS",
        0xfe53_4d42 => "SMB2",
        0x6573_5546 => "FUSE",
        0x0102_1997 => "9p",
        0x00c3_6400 => "Ceph",
        0x5346_414f => "AFS",
        0x7375_7245 => "Coda",
        0x0bd0_0bd0 => "Lustre",
        _ => return None,
    })
}

fn prove(dir: &Path, kind: &'static str) -> Result<(), StoreError> {
    let scratch = dir.join(format!(".probe-{}", std::process::id()));
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
        return Err(format!("it offers no write-ahead log (only {mode})"));
    }
    first.execute_batch("create table t(a); begin immediate; insert into t values(1)").map_err(word)?;
    let second = Connection::open(&path).map_err(word)?;
    second.busy_timeout(Duration::ZERO).map_err(word)?;
    match second.execute_batch("begin immediate") {
        Err(e) if explain::is_busy(&e) => {}
        Err(e) => return Err(e.to_string()),
        Ok(()) => return Err("its locks do not hold".to_owned()),
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
        Ok(()) => Err("its file locks do not hold".to_owned()),
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
        let word = prove(Path::new("/proc/self"), "NFS").unwrap_err().to_string();
        assert!(word.contains("NFS") && word.contains("XDG_STATE_HOME"), "{word}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn doubtful_kinds_are_known_and_local_ones_are_not() {
        assert_eq!(doubtful(0x6969), Some("NFS"));
        assert_eq!(doubtful(0xff53_4d42), Some("CIFS"));
        assert_eq!(doubtful(0xef53), None, "ext4");
        assert_eq!(doubtful(0x0102_1994), None, "tmpfs");
    }
}
