//! The keep: contents of a workspace, put aside outside it before anything may change them, and put back.
//!
//! [`SnapshotStore::take`] puts aside whatever an [`ralph_tree::Index`] names and is not there yet (`blobs`, by content);
//! [`back`] says what it would take to make a workspace as it was, and does it; [`mend`] does so for a few paths only. Nothing is ever overwritten whose
//! content is not in the keep first. No path is followed through a link: an agent may have put one anywhere.

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
