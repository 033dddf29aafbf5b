//! The guards: one per file, with its counters and its verdict. Each gets every closed iteration and says whether the run
//! should stop; a new guard is a file here, a field in `state.rs` and a line in `verdict.rs`.

pub mod alerts;
pub mod budget;
pub mod decline;
pub mod denials;
pub mod repeat;
pub mod saturation;
pub mod stall;
pub mod time;

use crate::fingerprint::{ErrorCount, Fingerprint};

/// How an iteration closed, as the guards need it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Closed {
    /// Its number.
    pub iteration: u32,
    /// The files reached a state not seen before in this run.
    pub progress: bool,
    /// The call itself failed: only the guard against the same error counts it.
    pub failed: bool,
    /// It was cut short while it changed files, or lost: no guard counts it.
    pub cut_short: bool,
    /// Files that changed.
    pub files: u32,
    /// Only test files changed, or none did and the agent reports testing.
    pub test_only: bool,
    /// Tools the agent was denied.
    pub denials: Vec<String>,
    /// Length of the final message.
    pub text_bytes: u64,
    /// The error verification ended with.
    pub error: Option<Fingerprint>,
    /// How much was wrong.
    pub error_count: ErrorCount,
    /// The error of the call, otherwise those that the final message reports.
    pub agent_error: Option<Fingerprint>,
    /// How much of it.
    pub agent_error_count: ErrorCount,
}
