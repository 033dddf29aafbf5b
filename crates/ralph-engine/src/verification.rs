//! Running verification commands, for a run's steps (`world/verify.rs`, `world/proof.rs`) and for `ralph verify`
//! (`standalone.rs`).
//!
//! [`Runner`] runs a list of commands one after another in a [`Room`] and reports each result; it can be interrupted
//! at any time. A room is the directory the commands see: the workspace itself, or the workspace with some files
//! replaced, as an overlay at its own path or, where the system refuses overlays, as a copy.

pub(crate) mod analyzers;
mod kept_room;
mod missing_program;
mod outcome;
mod output;
mod place;
mod replacements;
mod runner;
pub mod standalone;
pub mod tree_copy;

pub use missing_program::ProgramSearch;
pub use outcome::not_run;
pub(crate) use place::BYTECODE;
pub use place::{Place, Room};
pub use replacements::{Replacement, Replacements};
pub use runner::{Runner, VerifyCommand};
