//! The interface to the operating system: the only crate that names a platform (`tests/seam.rs` checks that).
//!
//! [`linux`] and [`portable`] have the same functions. The crate exports those of Linux on Linux, and the fallbacks
//! elsewhere or with the feature `portable`. [`missing`] lists what the fallbacks cannot do. [`NoFollowDir`] builds on
//! either of them.

mod account;
mod durable;
mod error_words;
#[cfg(target_os = "linux")]
pub mod linux;
mod no_follow;
pub mod portable;
mod process;
mod regular_file;
mod room_layer;
mod stat;
mod terminal;

pub use account::account_home;
pub use durable::{place_durably, write_durably};
pub use error_words::in_words;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
pub use linux::*;
pub use no_follow::{Draft, DraftFile, NoFollowDir, Writable, open_file_beneath};
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
pub use portable::*;
pub use process::Process;
pub use regular_file::{Links, ReadError, open_regular, read_regular, read_start, what_it_is};
pub use room_layer::RoomLayer;
pub use stat::Stat;
pub use terminal::{in_foreground, key_by_key, terminal_size};

/// So many bytes are written to find out whether a disk is full.
const PROBE: usize = 64 * 1024;

/// Something this system cannot do for ralph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What is missing, in a few words.
    pub what: &'static str,
    /// The consequence, and what is done instead.
    pub so: &'static str,
}
