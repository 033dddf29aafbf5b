//! Where the layers of a workspace are kept: package caches and the agents' state. One process uses them at a time; another
//! one, such as `ralph verify` beside a run, gets layers of its own that are dropped.

use super::Surroundings;
use crate::home::Home;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The layers of one workspace.
#[derive(Debug)]
pub(super) struct KeptLayers {
    /// For package caches.
    pub(super) caches: PathBuf,
    /// For the state of agents.
    pub(super) state: PathBuf,
}

/// The locks that this process holds, by directory: held until it exits, because the steps of a run follow each other.
static HELD: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());

impl KeptLayers {
    /// Those of a workspace; in `dropped` if another process uses them.
    pub(super) fn of(
        surroundings: &Surroundings,
        workspace: &Path,
        dropped: &Path,
    ) -> io::Result<KeptLayers> {
        let kept = surroundings.state.sandbox(workspace);
        Home::create_private_dir(&kept)?;
        let base = if hold(&kept)? { kept.as_path() } else { dropped };
        Ok(KeptLayers { caches: base.join("caches"), state: base.join("state") })
    }
}

/// Whether the directory is this process's from now on.
fn hold(dir: &Path) -> io::Result<bool> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if held.iter().any(|(known, _)| known == dir) {
        return Ok(true);
    }
    let file = File::options().create(true).truncate(false).write(true).open(dir.join("lock"))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            held.push((dir.to_path_buf(), file));
            Ok(true)
        }
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
