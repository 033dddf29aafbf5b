//! Finds a run's workspace again when the run is resumed: where it was, if it is the same directory or came back with the
//! same files, or where it was moved to. What ralph keeps under the workspace's path follows it.

mod relocation;

use self::relocation::Relocation;
use crate::home::Home;
use crate::open::tree_of;
use crate::protection::{BEFORE, Repositories, SEEN};
use crate::quarantine;
use crate::snapshots::Snapshots;
use ralph_diagnostics::Discard;
use ralph_rules::record::RunStarted;
use ralph_snapshots::PendingRestore;
use ralph_store::{RunFilter, Store};
use ralph_tree::{Index, Kind};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the directory's identity, in the run's folder.
const IDENTITY: &str = "workspace.json";

/// What tells a directory from every other.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Identity {
    dev: u64,
    ino: u64,
    /// When it was made, in nanoseconds; 0 where the file system does not tell.
    born: i64,
}

impl Identity {
    fn of(dir: &Path) -> io::Result<Identity> {
        let held = File::open(dir)?;
        let (dev, ino) = ralph_os::identity(held.as_fd())?;
        Ok(Identity { dev, ino, born: ralph_os::born_at(held.as_fd(), c".").unwrap_or(0) })
    }

    /// Devices are numbered anew when a machine starts; where the birth is known it says more.
    fn is(&self, other: &Identity) -> bool {
        let device = self.dev == other.dev || (self.born != 0 && other.born != 0);
        device && (self.ino, self.born) == (other.ino, other.born)
    }
}

/// What is at the path of a run's workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The directory the run worked in, as far as that is known.
    Same,
    /// Another directory.
    Other,
    /// Nothing.
    Gone,
}

/// Remembers which directory a run works in.
pub fn remember(folder: &Path, workspace: &Path) {
    let text = Identity::of(workspace).and_then(|it| Ok(serde_json::to_vec(&it)?));
    text.and_then(|text| fs::write(folder.join(IDENTITY), text)).discard("remember the workspace's identity");
}

/// What is at this path, for a run.
pub fn standing(home: &Home, run: &str, path: &Path) -> Standing {
    let Ok(now) = Identity::of(path) else { return Standing::Gone };
    match known(home, run) {
        Some(known) if !known.is(&now) => Standing::Other,
        // Runs of older versions do not know more.
        _ => Standing::Same,
    }
}

fn known(home: &Home, run: &str) -> Option<Identity> {
    let text = fs::read(home.run(run).join(IDENTITY)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// How many of a run's files make a directory its workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesNeeded {
    /// At least half of them: the directory was only found, and many projects have a file or two in common. In the very
    /// directory that the run worked in, one is enough: its agent may have changed the others.
    Half,
    /// At least one: somebody named the run.
    One,
}

/// Whether a directory has the files of the run's workspace as ralph saw it last, or enough of them. An empty one has
/// not: whoever resumed in it would take everything for deleted.
pub fn has_its_files(home: &Home, start: &RunStarted, dir: &Path, needed: FilesNeeded) -> bool {
    let old = Path::new(&start.workspace);
    let left = Snapshots::of(home, old, &start.run).last().or_else(|| Index::load(&home.index(old)));
    let Some(left) = left else { return false };
    let files = || left.entries().filter(|e| e.kind == Kind::File && e.counts && e.size > 0);
    let is_itself =
        known(home, &start.run).zip(Identity::of(dir).ok()).is_some_and(|(was, now)| was.is(&now));
    let needed = match (files().count(), needed) {
        // There was nothing in it yet, so only the directory itself can be recognised.
        (0, _) => return is_itself,
        (all, FilesNeeded::Half) if !is_itself => all.div_ceil(2),
        _ => 1,
    };
    let Ok(tree) = tree_of(home, dir, start) else { return false };
    let Ok(now) = tree.walk(Some(&left)) else { return false };
    let same = files().filter(|file| now.get(file.path).is_some_and(|there| there.hash == file.hash));
    same.take(needed).count() == needed
}

/// The workspace came back as another directory with the same files: its repositories are taken for those that the run
/// recorded before the step that was under way. What git obeys in them is compared all the same.
pub fn adopt(home: &Home, workspace: &Path, run: &str, now: &Index) {
    let snapshots = Snapshots::of(home, workspace, run);
    for name in [BEFORE, SEEN] {
        if let Some(index) = Snapshots::recorded(&home.run(run), name) {
            let adopted = snapshots.record(name, &Arc::new(index.with_repositories_of(now)));
            adopted.discard("take over the repositories of a workspace that came back");
        }
    }
}

/// Brings what is kept under the workspace's old path to its new one: the contents of snapshots, the index, a
/// restore that was cut short, and the paths in what the run recorded. All of it is on disk when this returns: the journal may then say that the run moved.
/// Safe to repeat. Rooms and caches are made anew.
pub fn follow(home: &Home, run: &str, old: &Path, new: &Path) -> io::Result<()> {
    let relocation = Relocation::between(old, new);
    let (from, to) = (Snapshots::of(home, old, run), Snapshots::of(home, new, run));
    let contents = to.store().blobs().dir();
    let mut written = link_all(from.store().blobs().dir(), contents)?;
    written.extend(
        contents.ancestors().skip(1).take_while(|dir| dir.starts_with(home.dir())).map(Path::to_owned),
    );
    for name in [BEFORE, SEEN] {
        let folder = home.run(run).join(format!("{name}.git"));
        if let Some(repositories) = Repositories::load(&folder) {
            relocation.repositories(repositories).save(&folder)?;
        }
    }
    quarantine::moved(&home.quarantine().join(run), new, |dir| relocation.dir(dir))?;
    let mut pending = PendingRestore::load(&home.pending_restore(new));
    pending.take_over(&home.pending_restore(old), |dir| relocation.dir(dir))?;
    if let Some(index) = Index::load(&home.index(old)).filter(|_| !home.index(new).exists()) {
        index.save_durably(&home.index(new))?;
    }
    written.retain(|path| path.exists());
    ralph_os::sync_batch(&written)
}

/// Removes what is kept under a workspace's old path, if no run is left there. Only once the move is recorded: until then
/// the run may be resumed at the old path.
pub fn forget(home: &Home, store: &dyn Store, old: &Path) {
    let filter = RunFilter { workspace: Some(old.to_string_lossy().into_owned()), ..RunFilter::default() };
    let others = store.runs(&filter).map_or(true, |runs| !runs.is_empty());
    let pending = home.pending_restore(old);
    // A directory that took the workspace's place may have one of its own.
    if pending.exists() && !(others && old.exists()) {
        fs::remove_file(pending).discard("remove the list of a restore that went on elsewhere");
    }
    // The new names of the contents must be on disk before the old ones go.
    if others || !ralph_os::sync_file_system(home.dir()).unwrap_or(false) {
        return;
    }
    for kept in [home.snapshots(old), home.rooms(old), home.package_cache(old)] {
        if kept.exists() {
            fs::remove_dir_all(&kept).discard("remove what was kept of the old path");
        }
    }
}

/// Gives every file of a directory a second name below another one. Contents are never changed in place. Returns what is
/// to be synced, also of an earlier attempt: the files, then their directory.
fn link_all(from: &Path, to: &Path) -> io::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    if !from.is_dir() {
        return Ok(written);
    }
    Home::create_private_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            written.extend(link_all(&entry.path(), &target)?);
            continue;
        }
        if let Err(error) = fs::hard_link(entry.path(), &target)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            fs::copy(entry.path(), &target)?;
        }
        written.push(target);
    }
    written.push(to.to_path_buf());
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_name_is_synced_with_its_directory_also_by_a_repetition() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path);
        fs::create_dir_all(at("old/ab")).unwrap();
        fs::write(at("old/ab/1"), "one").unwrap();
        fs::write(at("old/2"), "two").unwrap();
        for _ in 0..2 {
            let mut written = link_all(&at("old"), &at("keep/new")).unwrap();
            let last = written.last().cloned();
            written.sort();
            assert_eq!(written, ["keep/new", "keep/new/2", "keep/new/ab", "keep/new/ab/1"].map(at));
            assert_eq!(last, Some(at("keep/new")), "a directory after what is in it");
        }
        assert_eq!(link_all(&at("nothing"), &at("none")).unwrap(), Vec::<PathBuf>::new());
    }
}
