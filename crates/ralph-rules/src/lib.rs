//! THE RULES. Pure: no clock, file, environment, process, thread or random order (kept so by this crate's
//! `clippy.toml`), so that a whole run can be decided again from its journal, or simulated millions of times.
//!
//! ```text
//!            ┌──────────── record: Seen (a fact) ◄──────────────┐
//!            ▼                                                   │
//!   state.apply(record) ──► next(&state) ──► Decided ──► the hands begin a Step,
//!      (it counts)           (it judges)    (+ because)   tell it to End, Keep, or Leave
//! ```
//!
//! Start with `next.rs`, the table of phases. `verdict.rs` judges a closed iteration (gate, guards),
//! `admission.rs` says whether another begins, `state.rs` lists what is remembered, `record.rs` what is written
//! down, `replay.rs` decides a journal again, `grounds.rs` says what stood behind a judgement. `claim/` reads what an
//! agent says of itself, `analysis.rs` weighs responses outside of a run.

pub mod account;
pub mod admission;
pub mod analysis;
pub mod breaker;
pub mod claim;
pub mod cost;
pub mod ending;
pub mod errors;
pub mod estimate;
pub mod failure;
pub mod fingerprint;
pub mod gate;
pub mod grounds;
pub mod guard;
pub mod ladder;
pub mod metrics;
pub mod money;
pub mod next;
pub mod objection;
pub mod plan;
pub mod policy;
pub mod prices;
pub mod prompt;
pub mod provider;
pub mod record;
pub mod replay;
pub mod report;
pub mod state;
pub mod step;
pub mod suite;
pub mod verdict;

/// Names these rules. A change that alters a decision on a golden journal needs a new number.
pub const RULES: u32 = 3;
