//! The agents: one small adapter per coding agent CLI. An adapter turns a call into a command line and the program's
//! output into events and a reply. Pure: no clock, file, environment or process (this crate's `clippy.toml` enforces
//! it), so each is tested and fuzzed on recorded output.
//!
//! `agent_info.rs` is what every agent declares and `registry.rs` lists them; `claude.rs` is the fullest example and
//! `command.rs` runs any program. `ralph-engine` starts what `launch` describes and feeds the `Reader`; `detect.rs`
//! reads an output that exists already. Shared by the adapters: `launch.rs` (command lines), `dialect.rs` (what an
//! adapter adds), `accumulator.rs` (what a call's events have said), `output.rs` (finding events), `event_reader.rs`.

mod accumulator;
mod agent_info;
pub mod aider;
mod call;
mod call_pricing;
pub mod claude;
mod client;
pub mod codex;
pub mod command;
mod configured_model;
mod contained;
pub mod copilot;
pub mod detect;
mod dialect;
mod error_phrases;
mod event_reader;
pub mod gemini;
pub mod goose;
pub mod grok;
mod json;
mod json_reply;
pub mod kimi;
mod launch;
mod litellm;
mod loose_json;
pub mod mini;
mod moved_paths;
pub mod opencode;
mod output;
pub mod pi;
mod provider_settings;
pub mod qwen;
mod reader;
pub mod registry;
mod reply;
mod reset;
pub mod session_hook;
pub mod session_transcript;
pub mod sim;
mod tally;
mod text;
mod tools;

pub use agent_info::*;
pub use call::*;
pub use client::Client;
pub use configured_model::{ModelSources, SessionLog, configured_model};
pub use contained::{AS_OUTSIDE, Contained, PassedEnv};
pub use launch::LaunchBuilder;
pub use provider_settings::{NamedProviders, ProviderFile};
pub use reader::*;
pub use reply::*;
