//! THE AGENTS. One small adapter per coding agent: a command line out, bytes in. Pure: no clock, file,
//! environment, process (kept so by this crate's `clippy.toml`), so each is tested and fuzzed on recorded output.
//!
//! Start with `seam.rs` (what every adapter promises); `claude.rs` is the fullest example and `command.rs`
//! runs any program. The hands (`ralph-engine`) start what `launch` describes and feed the `Reader`;
//! `detect.rs` reads an output that is already there. What the readers share is in `events.rs` (the reader), `output.rs`
//! (finding events) and `dialect.rs` (what an adapter adds).

pub mod aider;
mod args;
pub mod claude;
pub mod codex;
pub mod command;
pub mod copilot;
pub mod detect;
mod dialect;
mod error_phrases;
mod events;
pub mod gemini;
pub mod goose;
pub mod grok;
mod json;
pub mod kimi;
mod litellm;
pub mod mini;
pub mod opencode;
mod output;
pub mod permits;
pub mod pi;
mod plain;
pub mod qwen;
pub mod registry;
mod reset;
pub mod roster;
pub mod seam;
pub mod sim;
mod tally;
mod terms;

pub use seam::*;
