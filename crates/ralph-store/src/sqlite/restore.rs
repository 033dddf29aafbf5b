//! Puts a copy in the database's place. What is there now, with its log, is set aside: a log that stays behind would be
//! applied to the copy and destroy it.

use super::copies::copies;
use super::file_identity::beside;
use super::{DATABASE, open};
use crate::error::StoreError;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The copy that is the database now.
    pub from: PathBuf,
    /// Where the earlier database was moved; none if there was none.
    pub set_aside: Option<PathBuf>,
}

/// Restores the newest copy that can be read; `None` if there is none.
pub fn restore(dir: &Path) -> Result<Option<Restored>, StoreError> {
    let path = dir.join(DATABASE);
    let Some(from) = copies(dir).into_iter().rev().find(|copy| is_whole(copy)) else { return Ok(None) };
    let part = beside(&path, &format!(".part-{}", std::process::id()));
    duplicate(&from, &part).map_err(|e| StoreError::file("write", &part, e))?;
    let set_aside = set_aside(&path)?;
    fs::rename(&part, &path).map_err(|e| StoreError::file("rename to", &path, e))?;
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| StoreError::file("sync", dir, e))?;
    Ok(Some(Restored { from, set_aside }))
}

/// A copy that SQLite finds nothing wrong with. An empty file is a whole database to SQLite, but no copy of one.
fn is_whole(copy: &Path) -> bool {
    if copy.metadata().is_ok_and(|meta| meta.len() == 0) {
        return false;
    }
    let checked = open::connect(copy, true, open::BUSY_LIMIT).and_then(|c| {
        let word: String = c.query_row("pragma integrity_check(1)", [], |row| row.get(0))?;
        Ok(word)
    });
    checked.is_ok_and(|word| word == "ok")
}

fn duplicate(from: &Path, to: &Path) -> io::Result<()> {
    let mut into = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(to)?;
    io::copy(&mut File::open(from)?, &mut into)?;
    into.sync_all()
}

/// Moves the database and the files beside it to the first free `.replaced-<n>`.
fn set_aside(path: &Path) -> Result<Option<PathBuf>, StoreError> {
    let files = ["", "-wal", "-shm"];
    let free = |n: &u32| files.iter().all(|f| !beside(&beside(path, &format!(".replaced-{n}")), f).exists());
    let Some(n) = (1..).find(free) else { return Ok(None) };
    let aside = beside(path, &format!(".replaced-{n}"));
    let mut moved = None;
    // The log first: without its database it is refused, with a copy it would do harm.
    for suffix in files.iter().rev() {
        let (from, to) = (beside(path, suffix), beside(&aside, suffix));
        match fs::rename(&from, &to) {
            Ok(()) => moved = Some(aside.clone()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::file("move away", &from, e)),
        }
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, COPY, Database, Put, Store};

    fn put(expect: u64) -> Batch {
        let put = Put { stream: "run/a".into(), expect, body: "{}".into(), ..Put::default() };
        Batch { put: vec![put], ..Batch::default() }
    }

    #[test]
    fn the_newest_whole_copy_takes_the_place_and_says_that_it_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = Database::open(dir.path()).unwrap();
        store.commit(&put(0)).unwrap();
        store.daily_copy("20261114").unwrap();
        store.commit(&put(1)).unwrap();
        store.daily_copy("20261115").unwrap();
        fs::write(dir.path().join("copies/ralph-20261116.db"), "cut short").unwrap();
        fs::write(dir.path().join("copies/ralph-20261117.db"), "").unwrap();
        store.commit(&put(2)).unwrap();
        drop(store);

        let restored = restore(dir.path()).unwrap().unwrap();
        assert!(restored.from.ends_with("copies/ralph-20261115.db"));
        assert!(restored.set_aside.unwrap().exists());
        let store = Database::open(dir.path()).unwrap();
        assert_eq!(store.verify().unwrap(), 2);
        assert_eq!(store.memo(COPY).unwrap().as_deref(), Some("20261115"));
        store.commit(&put(2)).unwrap();
        assert!(dir.path().join("ralph.db-wal").exists(), "it has a write-ahead log like any other");
    }

    #[test]
    fn without_a_copy_nothing_is_moved() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(DATABASE), "damaged").unwrap();
        assert_eq!(restore(dir.path()).unwrap(), None);
        assert_eq!(fs::read_to_string(dir.path().join(DATABASE)).unwrap(), "damaged");
    }
}
