//! THE AGENTS. One small adapter per coding agent: a command line out, bytes in. Pure: no clock, file,
//! environment, process (kept so by this crate's `clippy.toml`), so each is tested and fuzzed on recorded output.
//!
//! Start with `seam.rs` (what every adapter promises); `claude.rs` is the fullest example and `command.rs`
//! runs any program. The hands (`ralph-engine`) start what `launch` describes and feed the `Reader`;
//! `detect.rs` reads an output that is already there.

pub mod claude;
pub mod command;
pub mod detect;
mod json;
mod output;
mod plain;
pub mod registry;
mod reset;
pub mod seam;
pub mod sim;
mod words;

pub use seam::*;
