//! ralph with the real agent CLIs, which edit files with their own tools. Their model is `tools/model_server`, a script,
//! so that every case goes the same way each time; everything else is real. `cargo xtask test` installs the CLIs and runs
//! the first tier, `cargo xtask long` the second.
//!
//! `cases` says what is tested, once for all; `clis` what is different about each CLI; the tiers pair the two. `place` is
//! where a case runs: a home of its own with the configuration a user would have, dummy keys, and a model server.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "live/cases.rs"]
mod cases;
#[path = "live/cli.rs"]
mod cli;
#[path = "live/clis.rs"]
mod clis;
#[path = "live/contained.rs"]
mod contained;
#[path = "live/first_tier.rs"]
mod first_tier;
#[path = "live/hook.rs"]
mod hook;
#[path = "live/left.rs"]
mod left;
#[path = "live/macros.rs"]
mod macros;
#[path = "live/place.rs"]
mod place;
#[path = "live/run.rs"]
mod run;
#[path = "live/second_tier.rs"]
mod second_tier;
#[path = "live/server.rs"]
mod server;
