//! ralph's state directory, `$XDG_STATE_HOME/ralph/`: outside every workspace, so that an agent's clean-up cannot remove
//! it. The command line reads the environment and passes the path.

use ralph_store::{Database, StoreError};
use std::io;
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

    /// Opens the store and creates it if it does not exist.
    pub fn store(&self) -> Result<Database, StoreError> {
        ralph_store::open(&self.dir)
    }

    /// Opens the store if it exists: commands that only read create nothing.
    pub fn store_if_any(&self) -> Result<Option<Database>, StoreError> {
        ralph_store::open_existing(&self.dir)
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

    /// Quarantined content of protected paths, by run.
    pub fn quarantine(&self) -> PathBuf {
        self.dir.join("quarantine")
    }

    /// Creates a directory that only the owner may read, with those above it.
    pub fn create_private_dir(dir: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
    }
}

/// A file name for a workspace: its path may be too long to be one.
fn name_of(workspace: &Path) -> String {
    let hash = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
    hash.get(..32).unwrap_or_default().to_owned()
}
