//! Helpers for tests only: `scratch` gives a place to work in, `tidy` makes output comparable, `procs` finds
//! what was left running, `built` finds programs of this workspace, `skip` makes a skipped test visible. They
//! panic when the machine is not as expected: a test has nothing better to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod built;
mod procs;
mod scratch;
mod skip;
mod tidy;

pub use built::agent_sim;
pub use procs::procs_with_tag;
pub use scratch::Scratch;
pub use skip::{SKIPS_FILE, skip};
pub use tidy::tidy;
