//! Whole copies of the database in `copies/`: one per day, and one before a schema migration.

use super::DATABASE;
use crate::error::StoreError;
use rusqlite::Connection;
use std::fs::{self, DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Daily copies that are kept.
const KEPT: usize = 7;

/// The memo by which a copy knows itself, with its date. Whoever finds it has a database that was restored: what was spent
/// since then is not in it.
pub const COPY: &str = "copy";

/// The daily copies of the database in `dir`, oldest first.
pub fn copies(dir: &Path) -> Vec<PathBuf> {
    let mut all = dated(&dir.join(DATABASE));
    all.sort();
    all
}

/// Makes today's copy unless it is there, then lets go of all but the newest.
pub(super) fn daily(c: &Connection, database: &Path, date: &str) -> Result<Option<PathBuf>, StoreError> {
    if date.is_empty() || !date.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
        return Err(StoreError::BadDate { name: date.to_owned() });
    }
    let copy = place(database)?.join(format!("ralph-{date}.db"));
    if copy.exists() {
        return Ok(None);
    }
    write(c, &copy, date)?;
    let mut all = dated(database);
    all.sort();
    for old in all.iter().rev().skip(KEPT) {
        fs::remove_file(old).map_err(|e| StoreError::file("remove", old, e))?;
    }
    Ok(Some(copy))
}

/// Keeps the file as it is before its schema changes; an earlier such copy stays.
pub(super) fn before_migration(c: &Connection, database: &Path, version: i64) -> Result<(), StoreError> {
    let copy = place(database)?.join(format!("ralph-schema-{version}.db"));
    if copy.exists() { Ok(()) } else { write(c, &copy, &format!("schema {version}")) }
}

fn place(database: &Path) -> Result<PathBuf, StoreError> {
    let dir = database.with_file_name("copies");
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir)
        .map_err(|e| StoreError::file("make", &dir, e))?;
    Ok(dir)
}

/// Under another name first: a copy that is there is whole.
fn write(c: &Connection, copy: &Path, name: &str) -> Result<(), StoreError> {
    let part = copy.with_extension(format!("part-{}", std::process::id()));
    let _ = fs::remove_file(&part);
    let done = fill(c, &part)
        .and_then(|()| mark(&part, name))
        .and_then(|()| fs::rename(&part, copy).map_err(|e| StoreError::file("rename to", copy, e)));
    if done.is_err() {
        let _ = fs::remove_file(&part);
    }
    done
}

fn fill(c: &Connection, part: &Path) -> Result<(), StoreError> {
    let Some(name) = part.to_str() else {
        let source = std::io::Error::other("its name is not UTF-8");
        return Err(StoreError::file("write a copy to", part, source));
    };
    c.execute("vacuum into ?1", [name])?;
    Ok(())
}

/// Says in the copy that it is one, and brings it onto the disk.
fn mark(part: &Path, name: &str) -> Result<(), StoreError> {
    let copy = Connection::open(part)?;
    copy.execute(
        "insert into memo(key, value) values(?1, ?2) on conflict(key) do update set value = excluded.value",
        [COPY, name],
    )?;
    drop(copy);
    let sync = |file: File| {
        file.set_permissions(Permissions::from_mode(0o600))?;
        file.sync_all()
    };
    File::open(part).and_then(sync).map_err(|e| StoreError::file("sync", part, e))
}

fn dated(database: &Path) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(database.with_file_name("copies")) else { return Vec::new() };
    let is_dated = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str());
        let date = name.and_then(|n| n.strip_prefix("ralph-")).and_then(|n| n.strip_suffix(".db"));
        date.is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
    };
    files.flatten().map(|f| f.path()).filter(is_dated).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Database;

    #[test]
    fn one_a_day_and_seven_in_all() {
        let dir = tempfile::tempdir().unwrap();
        let store = Database::open(dir.path()).unwrap();
        for day in 1..=9 {
            let made = store.daily_copy(&format!("2026110{day}")).unwrap();
            assert!(made.unwrap().exists());
        }
        assert_eq!(store.daily_copy("20261109").unwrap(), None, "already made");
        let mut all = dated(&dir.path().join(DATABASE));
        all.sort();
        assert_eq!(all.len(), KEPT);
        assert!(all[0].ends_with("ralph-20261103.db"));
        assert_eq!(fs::metadata(&all[0]).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_date_cannot_leave_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let store = Database::open(dir.path()).unwrap();
        for bad in ["", "../x", "2026/11/15", "today"] {
            assert!(matches!(store.daily_copy(bad), Err(StoreError::BadDate { .. })), "{bad}");
        }
    }
}
