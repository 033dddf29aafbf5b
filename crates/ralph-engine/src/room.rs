//! The room that decisive verifications run in: a directory of ralph's own that is kept between proofs and holds exactly
//! the files of a chosen tree, besides what builds left in it.
//!
//! [`RoomFolder`] is the directory. A file whose content changes gets a new modification time and everything else keeps
//! its old one, so that incremental builds are both right and warm, and nothing that the agent built or dated is in it.
//! `verification/place.rs` runs commands in it, at the workspace's own path where the system permits mounts.

mod built;
mod bytes;
pub mod dependencies;
mod filling;
pub mod folder;
pub mod ignored;
mod loose;
mod manifest;
pub mod outside;
mod seed;
mod writer;

pub use dependencies::DependencyFolder;
pub use folder::{RoomFile, RoomFolder, Source};
pub use ignored::{IgnoredFiles, Seeded};
pub use outside::{OutsideFiles, OutsidePlaces};
