//! What is done about a file that cannot be trusted: a copy is kept, the file is left alone, opening is refused.

use super::copies::copies;
use super::file_identity::beside;
use super::log;
use crate::error::StoreError;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The prompt of a run's first call.
const FIRST_PROMPT: &str = "001.a1.prompt.md";

/// A log without its database holds records that SQLite would delete on opening.
pub(super) fn refuse_orphaned_log(path: &Path) -> Result<(), StoreError> {
    if fs::metadata(path).is_ok_and(|m| m.len() > 0) || !log::holds_records(path) {
        return Ok(());
    }
    let why = "it is missing or empty, but its log (the -wal file beside it) still holds records".to_owned();
    let error = StoreError::Damaged { path: path.to_path_buf(), why, kept: None };
    Err(keep_copy_if_damaged(path, error))
}

/// A pipe, device or directory in the place of the database or its log: reading one might never end.
pub(super) fn refuse_other_kinds(path: &Path) -> Result<(), StoreError> {
    for file in ["", "-wal", "-shm"].map(|suffix| beside(path, suffix)) {
        if fs::metadata(&file).is_ok_and(|meta| !meta.is_file()) {
            return Err(StoreError::Foreign { path: file, why: "it is not a regular file".to_owned() });
        }
    }
    Ok(())
}

/// Runs without a database that knows them: it was removed or emptied, and a new one would forget what they spent.
pub(super) fn refuse_lost_database(path: &Path) -> Result<(), StoreError> {
    if fs::metadata(path).is_ok_and(|m| m.len() > 0) {
        return Ok(());
    }
    let runs = path.with_file_name("runs");
    // A run writes its first prompt after its first record, so a folder without one may never have been in a database.
    let known = |run: &fs::DirEntry| run.path().join(FIRST_PROMPT).exists();
    let known = fs::read_dir(&runs).into_iter().flatten().flatten().filter(known).count();
    if known == 0 {
        return Ok(());
    }
    let newest = path.parent().and_then(|dir| copies(dir).pop());
    Err(StoreError::Lost { path: path.to_path_buf(), runs, known, newest })
}

/// Keeps a copy beside a damaged file and says where. Called with our own connection closed.
pub(super) fn keep_copy_if_damaged(path: &Path, e: StoreError) -> StoreError {
    let StoreError::Damaged { path: place, why, .. } = e else { return e };
    match keep_copy(path) {
        Ok(copy) => StoreError::Damaged { path: place, why, kept: Some(copy) },
        Err(e) => StoreError::Damaged {
            path: place,
            why: format!("{why} (and no copy could be made: {e})"),
            kept: None,
        },
    }
}

/// Copies the file and its log to the first free `.corrupt-<n>`, unless an earlier copy is the same.
fn keep_copy(path: &Path) -> io::Result<PathBuf> {
    let hashes = (hash(path)?, hash(&beside(path, "-wal"))?);
    for n in 1.. {
        let copy = beside(path, &format!(".corrupt-{n}"));
        let log = beside(&copy, "-wal");
        if copy.exists() || log.exists() {
            if (hash(&copy)?, hash(&log)?) == hashes {
                return Ok(copy);
            }
            continue;
        }
        duplicate(&beside(path, "-wal"), &log)?;
        duplicate(path, &copy)?;
        return Ok(copy);
    }
    Err(io::Error::other("no free name"))
}

/// Copies a file that is there and not empty.
fn duplicate(from: &Path, to: &Path) -> io::Result<()> {
    match File::open(from) {
        Ok(from) if from.metadata()?.len() == 0 => Ok(()),
        Ok(mut from) => {
            let mut to = File::create_new(to)?;
            io::copy(&mut from, &mut to)?;
            to.sync_all()
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// Hash of a file's content; of nothing when it is absent.
fn hash(path: &Path) -> io::Result<blake3::Hash> {
    let mut hash = blake3::Hasher::new();
    match File::open(path) {
        Ok(file) => hash.update_reader(file)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => &mut hash,
        Err(e) => return Err(e),
    };
    Ok(hash.finalize())
}
