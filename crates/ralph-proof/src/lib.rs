//! Splits what changed since the baseline into three sets, and prepares the experiments that show whether a passing
//! verification needs the work.
//!
//! - **work**: source files that are neither tests nor run or loaded by a runner or a verify command;
//! - **oracle**: what decides whether the work is right: tests and their data, the configuration of runners, linters and
//!   toolchains, CI, scripts that a verify command runs, modules that shadow the runner's;
//! - **ambiguous**: everything else.
//!
//! Everything here is computed from names and contents; nothing is read, written or started. [`files`] is one side of
//! the comparison, [`classify`] makes the sets, [`change`] is one changed path and what a room shows of it, `parts`
//! takes files apart that hold both, [`layout`] finds changes without a meaning, [`signs`] finds lines that deal with
//! the check instead of the task, [`canary`] makes a test that must fail, [`hunks`] and [`map`] say which part of the
//! change a test notices, [`failed_tests`] reads the names of failing tests.

pub mod canary;
pub mod change;
pub mod classify;
pub mod failed_tests;
pub mod files;
pub mod hunks;
mod language;
pub mod layout;
pub mod map;
pub mod parts;
mod pattern;
pub mod signs;

pub use change::{Change, RoomContent, Sets, Split};
pub use classify::{Classifier, Inputs};
pub use files::{FileFacts, Files, Kind};
