//! The files of runs that are over: how much they take, and how they are deleted. A run's folder is emptied, then contents
//! that no other run names are deleted, then the folder: if that is cut short, the folder is still there for the next time.

use ralph_diagnostics::Discard;
use ralph_engine::home::Home;
use ralph_engine::open::PRUNE;
use ralph_engine::snapshots::Snapshots;
use ralph_snapshots::is_shared_base;
use ralph_store::{RunFilter, RunRow, Store};
use ralph_tree::{LockError, WorkspaceLock};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::Metadata;
use std::path::Path;

/// Deletes the files of these runs where their workspace is free, and returns the ids of those that are gone and the
/// bytes that this freed. What cannot be deleted is left for the next time.
pub fn delete(runs: &[&RunRow], store: &dyn Store, home: &Home) -> (Vec<String>, u64) {
    let mut of_workspace: BTreeMap<&str, Vec<&RunRow>> = BTreeMap::new();
    for run in runs {
        of_workspace.entry(&run.workspace).or_default().push(run);
    }
    let (mut gone, mut freed) = (Vec::new(), 0_u64);
    for (workspace, runs) in of_workspace {
        // Where a run is active, nobody else may delete contents. Its own end looks again.
        let Some(_lock) = locked(Path::new(workspace), home) else { continue };
        freed = freed.saturating_add(delete_in(workspace, &runs, store, home, &mut gone));
    }
    (gone, freed)
}

/// Keeps runs from starting in a workspace until the answer is dropped; none where that is impossible now. A workspace
/// that is gone has no lock, but could be back at any time: while no run is active anywhere, none can start.
fn locked(workspace: &Path, home: &Home) -> Option<Box<dyn Debug>> {
    let who = format!("{PRUNE} {}", std::process::id());
    match WorkspaceLock::take(&home.locks(), workspace, &who) {
        Ok(lock) => Some(Box::new(lock)),
        Err(LockError::Io { .. }) if !workspace.exists() => {
            Some(Box::new(WorkspaceLock::nobody(&home.locks()).ok()?))
        }
        Err(_) => None,
    }
}

/// Deletes in one workspace, whose lock the caller holds.
fn delete_in(
    workspace: &str,
    runs: &[&RunRow],
    store: &dyn Store,
    home: &Home,
    gone: &mut Vec<String>,
) -> u64 {
    // Read under the lock: a run may have begun and ended since the list was made.
    let filter = RunFilter { workspace: Some(workspace.into()), ..RunFilter::default() };
    let Ok(all) = store.runs(&filter) else { return 0 };
    let left: Vec<&RunRow> = all.iter().rev().filter(|row| runs.iter().all(|run| run.id != row.id)).collect();
    let mut freed = 0;
    for run in runs {
        freed += empty(&home.run(&run.id));
    }
    let pruned = Snapshots::of(home, Path::new(workspace), "none").prune(home, &left);
    let Ok(bytes) = pruned else {
        pruned.discard("delete contents that no run names");
        return freed;
    };
    for run in runs {
        if std::fs::remove_dir(home.run(&run.id)).is_ok() {
            gone.push(run.id.clone());
        }
    }
    freed.saturating_add(bytes)
}

/// Empties a folder, and returns the bytes that this freed.
fn empty(folder: &Path) -> u64 {
    let mut freed = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(meta) = entry.metadata() else { continue };
        let bytes = if meta.is_dir() { size_of_run(&path) } else { meta.len() };
        let removed =
            if meta.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        freed += if removed.is_ok() { bytes } else { 0 };
    }
    freed
}

/// The bytes of all files below a directory; links are not followed.
pub fn size_of(dir: &Path) -> u64 {
    size_where(dir, |_, _| true)
}

/// The bytes of a run's files. An index that it shares with other runs belongs to none of them.
pub fn size_of_run(dir: &Path) -> u64 {
    size_where(dir, |path, meta| !is_shared_base(path, meta))
}

fn size_where(dir: &Path, counts: impl Fn(&Path, &Metadata) -> bool) -> u64 {
    let (mut bytes, mut dirs) = (0_u64, vec![dir.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => dirs.push(entry.path()),
                Ok(meta) if counts(&entry.path(), &meta) => bytes = bytes.saturating_add(meta.len()),
                _ => {}
            }
        }
    }
    bytes
}
