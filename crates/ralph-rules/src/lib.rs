//! The rules: pure decisions over a run's records. No clock, file, environment, process, thread or random order
//! (enforced by this crate's `clippy.toml`), so that a run can be replayed from its journal or simulated millions of
//! times.
//!
//! ```text
//!            ┌──────────── record: Seen (a fact) ◄──────────────┐
//!            ▼                                                   │
//!   state.apply(record) ──► next(&state) ──► Decided ──► the engine begins a Step,
//!      (counts)              (decides)      (+ reasons)   interrupts one, waits or exits
//! ```
//!
//! Start with `next.rs`, the table of phases. `verdict.rs` decides after an iteration (gate, guards), `admission.rs`
//! before one, `state.rs` has the counters, `record.rs` the journal's records, `replay.rs` repeats the decisions of a
//! journal, `grounds.rs` has the counts and limits behind a decision. `claim/` reads the agent's final message,
//! `analysis.rs` analyzes responses outside of a run.

pub mod account;
pub mod admission;
pub mod advice;
pub mod analysis;
pub mod breaker;
pub mod claim;
pub mod claim_check;
pub mod completion;
pub mod cost;
pub mod counting;
pub mod criteria;
pub mod ending;
pub mod estimate;
pub mod failure;
pub mod fingerprint;
pub mod gate;
pub mod grade;
pub mod grounds;
pub mod guard;
pub mod ladder;
pub mod loop_results;
mod map;
pub mod metrics;
mod missing_program;
pub mod money;
pub mod next;
pub mod notice;
pub mod objection;
pub mod plan;
pub mod policy;
pub mod prices;
pub mod prompt;
pub mod proof;
pub mod provider;
pub mod record;
pub mod replay;
pub mod report;
pub mod review;
pub mod secret_env;
pub mod state;
pub mod step;
mod stories;
pub mod suite;
pub mod verdict;

/// Version of these rules. A change that alters a decision on a golden journal needs a new number.
pub const RULES: u32 = 6;
