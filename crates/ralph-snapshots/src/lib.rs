//! Snapshots of a workspace, stored outside it, and restoring from them.
//!
//! [`SnapshotStore::take`] stores the contents that a [`ralph_tree::Index`] names and that are not stored yet (`blobs`, by
//! hash). [`restore`] plans and applies what makes a workspace as an index says it was; [`restore_paths`] does so for a
//! few paths. Nothing is overwritten whose content is not stored first, and no path is followed through a link, because
//! an agent may have put one anywhere.

mod blobs;
mod prune;
mod restore;
mod restore_paths;
mod snapshot_store;

pub use blobs::Blobs;
pub use prune::{Pruned, prune};
pub use restore::{Restore, RestoreAction, RestoreReport, RestoreRequest, restore};
pub use restore_paths::{
    PathRestore, QuarantineCopy, TouchedPaths, copy_to_quarantine, make_readable, restore_paths,
};
pub use snapshot_store::{PathProblem, SnapshotStore, TakeReport};
