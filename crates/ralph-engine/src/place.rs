//! The place a run works in: whether the workspace is still the directory it was, and whether it can be written.
//!
//! A workspace that was moved, unmounted or deleted looks like one in which everything was deleted, and one that cannot be
//! written like an agent that does nothing. Neither may be judged, and nothing may be written at a path that now belongs
//! to somebody else. `moved.rs` finds a workspace again when its run is resumed.

use crate::observation::Observation;
use ralph_os::{path_in, probe_writable};
use ralph_rules::record::{Check, Seen, Unusable, WorkspaceUnusable};
use ralph_rules::step::Step;
use ralph_tree::WorkspaceLock;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

/// The workspace of a run in this process.
#[derive(Debug)]
pub struct Place {
    workspace: PathBuf,
    /// Held open, so that no other directory can have its number.
    held: File,
    identity: (u64, u64),
    /// Whoever opened the run holds it, until everything of the run is written.
    lock: Weak<WorkspaceLock>,
    lost: OnceLock<String>,
}

impl Place {
    /// The workspace as it is now, locked.
    pub fn open(workspace: &Path, lock: &Arc<WorkspaceLock>) -> io::Result<Place> {
        let held = File::open(workspace)?;
        let identity = identity(&held.metadata()?);
        Ok(Place {
            workspace: workspace.to_path_buf(),
            held,
            identity,
            lock: Arc::downgrade(lock),
            lost: OnceLock::new(),
        })
    }

    /// What happened to the workspace, if it is not there any more. Once lost, it is lost for this process.
    pub fn lost(&self) -> Option<&str> {
        if self.lost.get().is_none()
            && let Some(what) = self.gone()
        {
            tracing::warn!(workspace = %self.workspace.display(), what, "the workspace is lost");
            let _ = self.lost.set(what);
        }
        self.lost.get().map(String::as_str)
    }

    fn gone(&self) -> Option<String> {
        let workspace = self.workspace.display();
        let there = std::fs::metadata(&self.workspace);
        let same = |there: &Metadata| identity(there) == self.identity;
        let what = match &there {
            Ok(there) if same(there) => return None,
            Ok(_) => format!("another directory is at {workspace} now"),
            Err(error) => format!("the workspace {workspace} is gone ({error})"),
        };
        // An open directory can be asked where it is.
        let now = std::fs::canonicalize(path_in(&self.held, OsStr::new("."), &self.workspace)).ok();
        let now = now.filter(|path| std::fs::metadata(path).is_ok_and(|there| same(&there)));
        Some(match now {
            Some(now) => {
                let now = now.display();
                format!("{what}: it was moved to {now}; move it back and resume, or `ralph resume -C {now}`")
            }
            None => format!("{what}; put it back and resume, or `ralph resume -C DIR` where it is now"),
        })
    }

    /// Why nothing can be written in the workspace, and what to do; none if it can be written.
    pub fn unwritable(&self) -> Option<String> {
        let error = probe_writable(&self.workspace).err()?;
        let workspace = self.workspace.display();
        let advice = match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem => "mount it for writing",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space on its disk",
            io::ErrorKind::PermissionDenied => "give yourself permission to write in it",
            _ => "check its disk",
        };
        Some(format!("nothing can be written in the workspace {workspace} ({error}); {advice}, then resume"))
    }

    /// Why a step cannot begin here. A call has to begin before it can be closed, and a review changes nothing.
    pub fn before(&self, step: &Step) -> Option<Observation> {
        match step {
            Step::Call { .. } | Step::Extend { .. } | Step::Recover { .. } => return None,
            _ => {}
        }
        if let Some(what) = self.lost() {
            return Some(unusable(Unusable::Lost, what.to_owned()));
        }
        match step {
            Step::Admit { review: false, .. } => drop(self.lock.upgrade().map(|lock| lock.renew())),
            Step::Verify { check: Check::Baseline, .. } => {}
            _ => return None,
        }
        self.unwritable().map(|what| unusable(Unusable::Unwritable, what))
    }

    /// What a step found, unless the workspace was lost meanwhile, or the agent could not write anything.
    pub fn after(&self, observation: Observation) -> Observation {
        let idle = match &observation.seen {
            Seen::Inspected(inspected) => inspected.files == 0,
            Seen::Admitted(_)
            | Seen::Restored(_)
            | Seen::Compared(_)
            | Seen::Verified(_)
            | Seen::Mapped(_)
            | Seen::Planned(_) => false,
            _ => return observation,
        };
        if let Some(what) = self.lost() {
            return unusable(Unusable::Lost, what.to_owned());
        }
        let full = if idle { self.unwritable() } else { None };
        full.map_or(observation, |what| unusable(Unusable::Unwritable, what))
    }
}

/// Device and inode.
fn identity(of: &Metadata) -> (u64, u64) {
    (of.dev(), of.ino())
}

fn unusable(how: Unusable, what: String) -> Observation {
    Seen::WorkspaceUnusable(WorkspaceUnusable { how, what }).into()
}
