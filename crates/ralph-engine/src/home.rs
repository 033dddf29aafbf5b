//! Where ralph keeps the truth: `$XDG_STATE_HOME/ralph/`, outside every workspace, where an agent's clean-ups do not
//! reach. Only the face knows the environment; it hands the path over.

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
    /// This directory.
    pub fn at(dir: impl Into<PathBuf>) -> Home {
        Home { dir: dir.into() }
    }

    /// Its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The store, created where it is not there yet.
    pub fn store(&self) -> Result<Database, StoreError> {
        ralph_store::open(&self.dir)
    }

    /// The store, only if it is there: reading commands create nothing.
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

    /// The contents of a workspace's files, put aside before agents change them.
    pub fn snapshots(&self, workspace: &Path) -> PathBuf {
        self.dir.join("keep").join(name_of(workspace))
    }

    /// What was found at protected paths, by run.
    pub fn quarantine(&self) -> PathBuf {
        self.dir.join("quarantine")
    }

    /// Creates a directory of ours that nobody else may read.
    pub fn create_private_dir(dir: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
    }
}

/// A name for a workspace's own files: its path may be longer than a name can be.
fn name_of(workspace: &Path) -> String {
    let hash = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
    hash.get(..32).unwrap_or_default().to_owned()
}
