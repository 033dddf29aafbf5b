//! ralph's state directory, `$XDG_STATE_HOME/ralph/`. It should be outside every workspace, so that an agent's clean-up
//! cannot remove it; where it is inside one, everything that reads the workspace leaves it out (`within`). The command
//! line reads the environment and passes the path.

use ralph_store::{Database, StoreError};
use ralph_tree::TreePath;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The state directory.
#[derive(Clone, Debug)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// The state directory at this path.
    pub fn at(dir: impl Into<PathBuf>) -> Home {
        Home { dir: dir.into() }
    }

    /// Its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where this directory lies in a workspace, if it does: the workspace is the home directory, say. Links on the way
    /// to either are followed. Nothing of it is work, and a restore must never touch it.
    pub fn within(&self, workspace: &Path) -> Option<TreePath> {
        let (dir, workspace) = (real(&self.dir), real(workspace));
        let below = dir.strip_prefix(workspace).ok()?.as_os_str().as_bytes();
        (!below.is_empty()).then(|| below.into())
    }

    /// Whether a workspace is this very directory.
    pub fn is_at(&self, workspace: &Path) -> bool {
        real(&self.dir) == real(workspace)
    }

    /// Opens the store and creates it if it does not exist.
    pub fn store(&self) -> Result<Database, StoreError> {
        ralph_store::open(&self.dir)
    }

    /// Opens the store if it exists: commands that only read create nothing.
    pub fn store_if_any(&self) -> Result<Option<Database>, StoreError> {
        ralph_store::open_existing(&self.dir)
    }

    /// As [`Home::store_if_any`], for screens: one that another process has locked is an error at once.
    pub fn store_at_once(&self) -> Result<Option<Database>, StoreError> {
        ralph_store::open_existing_at_once(&self.dir)
    }

    /// The state directory, or the nearest one above it that exists: the first run makes the rest in it.
    pub fn nearest_dir(&self) -> PathBuf {
        self.dir.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/")).to_path_buf()
    }

    /// The workspace locks.
    pub fn locks(&self) -> PathBuf {
        self.dir.join("locks")
    }

    /// The files of one run: prompts and transcripts.
    pub fn run(&self, id: &str) -> PathBuf {
        self.dir.join("runs").join(id)
    }

    /// The index of a workspace's files, which makes the next walk incremental.
    pub fn index(&self, workspace: &Path) -> PathBuf {
        self.dir.join("trees").join(name_of(workspace))
    }

    /// The snapshot store of a workspace.
    pub fn snapshots(&self, workspace: &Path) -> PathBuf {
        self.dir.join("keep").join(name_of(workspace))
    }

    /// The directory of a workspace's verification rooms.
    pub fn rooms(&self, workspace: &Path) -> PathBuf {
        self.dir.join("rooms").join(name_of(workspace))
    }

    /// Remembers the contents of a workspace's installed packages.
    pub fn package_cache(&self, workspace: &Path) -> PathBuf {
        self.dir.join("packages").join(name_of(workspace))
    }

    /// What the sandboxes of a workspace keep: package caches and the agents' state.
    pub fn sandbox(&self, workspace: &Path) -> PathBuf {
        self.dir.join("sandbox").join(name_of(workspace))
    }

    /// Quarantined content of protected paths, by run.
    pub fn quarantine(&self) -> PathBuf {
        self.dir.join("quarantine")
    }

    /// The paths of a workspace that a restore is changing, while it does.
    pub fn pending_restore(&self, workspace: &Path) -> PathBuf {
        self.dir.join("restores").join(name_of(workspace))
    }

    /// Creates a directory that only the owner may read, with those above it.
    pub fn create_private_dir(dir: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
    }
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|dir| Some((dir, dir.canonicalize().ok()?)));
    match known.map(|(dir, real)| (path.strip_prefix(dir), real)) {
        Some((Ok(rest), real)) if rest.as_os_str().is_empty() => real,
        Some((Ok(rest), real)) => real.join(rest),
        _ => path.to_owned(),
    }
}

/// A file name for a workspace: its path may be too long to be one.
fn name_of(workspace: &Path) -> String {
    let hash = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
    hash.get(..32).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_state_directory_is_found_in_its_workspace_also_through_links_and_before_it_exists() {
        let temp = tempfile::tempdir().unwrap();
        let work = temp.path().join("work");
        std::fs::create_dir_all(work.join(".local")).unwrap();
        symlink(&work, temp.path().join("to-work")).unwrap();
        symlink(work.join(".local"), temp.path().join("to-state")).unwrap();
        let within = |state: &str, workspace: &str| {
            let home = Home::at(temp.path().join(state));
            home.within(&temp.path().join(workspace)).map(|path| path.to_string())
        };
        let local = Some(".local/state/ralph".to_owned());
        assert_eq!(within("work/.local/state/ralph", "work"), local);
        assert_eq!(within("work/.local/state/ralph", "to-work"), local);
        assert_eq!(within("to-work/.local/state/ralph", "work"), local);
        assert_eq!(within("to-state/state/ralph", "work"), local);
        assert_eq!(within("state/ralph", "work"), None);
        assert_eq!(within("work-not/ralph", "work"), None);
        assert_eq!(within("work", "work/.local"), None);
        assert!(within("work", "work").is_none() && Home::at(&work).is_at(&temp.path().join("to-work")));
    }
}
