//! The seam to the operating system: the one place that names a platform (`tests/seam.rs` keeps it so).
//!
//! [`linux`] and [`portable`] offer the same functions; what this crate shows is Linux's on Linux and the fallbacks
//! elsewhere, or where the feature `portable` asks for them. What a fallback cannot do, it says in [`missing`].

#[cfg(target_os = "linux")]
pub mod linux;
mod no_follow;
pub mod portable;
mod process;
mod stat;

#[cfg(all(target_os = "linux", not(feature = "portable")))]
pub use linux::*;
pub use no_follow::{Draft, NoFollowDir, Writable, open_file_beneath};
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
pub use portable::*;
pub use process::Process;
pub use stat::Stat;

/// Something this system cannot do for ralph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What is not done, in a few words.
    pub what: &'static str,
    /// What follows from it, and what is done instead.
    pub so: &'static str,
}
