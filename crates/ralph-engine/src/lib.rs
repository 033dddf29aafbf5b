//! The engine: carries out what the rules decide and records what happened. Threads and channels, no async runtime.
//!
//! Start with `drive.rs`: the loop, on one screen. `run.rs` keeps state and journal in step, `event_source.rs` delivers
//! observations, `live_world.rs` starts steps (one file per step in `world/`), `verification.rs` runs verify commands,
//! `open.rs` starts and resumes runs, `watch.rs` feeds the screens.

pub mod audit;
pub mod bound_files;
pub mod call_directory;
pub mod circuit;
pub mod cleaning;
pub mod clock;
pub mod drive;
pub mod event_source;
pub mod file_size;
pub mod git_checkout;
pub mod hidden_views;
pub mod history;
pub mod home;
pub mod inbox;
pub mod journal;
pub mod ledger;
pub mod leftovers;
pub mod live_world;
pub mod metrics;
pub mod moved;
pub mod notes;
pub mod observation;
pub mod open;
pub mod outcome;
pub mod place;
pub mod proof;
pub mod protection;
pub mod provider;
pub mod quarantine;
pub mod rebuild;
pub mod receipt;
pub mod recount;
pub mod redact;
pub mod reset_time;
pub mod room;
pub mod rows;
pub mod run;
pub mod run_deps;
pub mod run_spec;
pub mod run_state;
pub mod sandbox;
pub mod session;
mod session_log;
pub mod signals;
pub mod snapshots;
pub mod step_context;
mod story_plan;
pub mod transcript;
pub mod under_way;
pub mod verification;
pub mod watch;
pub mod workspace_files;
pub mod world;
