//! Snapshots of a workspace, stored outside it, and restoring from them.
//!
//! [`SnapshotStore::take`] stores the contents that a [`ralph_tree::Index`] names and that are not stored yet (`blobs`, by
//! hash); [`SnapshotStore::sync`] forces them to disk, in one batch. [`MomentLog`] keeps the states themselves, as
//! differences. [`restore`] plans and applies what makes a workspace as an index says it was; [`restore_paths`] does so
//! for a few paths. Nothing is overwritten whose content is not stored first, and no path is followed through a link,
//! because an agent may have put one anywhere.

mod bases;
mod blob_stats;
mod blobs;
mod damage;
mod kept_bytes;
mod leftovers;
mod moment_log;
mod moment_record;
mod needed_moments;
mod open_files;
mod pending;
mod prune;
mod recorded_paths;
mod restore;
mod restore_paths;
mod snapshot_store;
mod synced_list;
mod write_batch;

pub use bases::{Bases, is_shared_base};
pub use blobs::Blobs;
pub use damage::{damaged_contents, wrong_size};
pub use leftovers::{remove_drafts, remove_drafts_in_workspace};
pub use moment_log::{Added, MomentLog};
pub use needed_moments::{RunMoments, stands_for};
pub use pending::{HalfRestored, PendingRestore};
pub use prune::{Pruned, prune, stored_bytes};
pub use recorded_paths::recorded_paths;
pub use restore::{Restore, RestoreAction, RestoreReport, RestoreRequest, differences, restore};
pub use restore_paths::{
    PathRestore, QuarantineCopy, TouchedPaths, copy_to_quarantine, make_readable, restore_paths,
};
pub use snapshot_store::{PathProblem, SnapshotStore, TakeReport};
