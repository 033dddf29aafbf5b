//! The safeguards: one a file, memory and verdict together. Each is told how an iteration closed and asked
//! whether it objects; adding one is a file here and a line in `verdict.rs`.

pub mod alerts;
pub mod budget;
pub mod decline;
pub mod denials;
pub mod repeat;
pub mod saturation;
pub mod stall;
pub mod time;

use crate::fingerprint::Fingerprint;

/// How an iteration closed, as the guards need it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Closed {
    /// The files reached a state not seen before in this run.
    pub progress: bool,
    /// The call itself failed: no guard counts it against the agent.
    pub failed: bool,
    /// Files that changed.
    pub files: u32,
    /// Only test files changed, or nothing did and the agent says it tested.
    pub test_only: bool,
    /// Tools the agent was refused.
    pub denials: Vec<String>,
    /// Length of the final message.
    pub text_bytes: u64,
    /// The error verification ended with.
    pub error: Option<Fingerprint>,
}
