//! Helpers for tests only: `scratch` gives a place to work in, `tidy` makes output comparable, `procs` finds what was left
//! running, `built` finds programs of this workspace, `podman` makes containers run on build machines, `older_kernel` stands
//! for systems without namespaces or Landlock, `skip` makes a skipped test visible, `figures` prints what a benchmark found. They panic when the machine is not as
//! expected: a test has nothing better to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod built;
mod figures;
mod older_kernel;
mod podman;
mod procs;
mod scratch;
mod skip;
mod tidy;

pub use built::agent_sim;
pub use figures::{Limit, Table};
pub use older_kernel::{Refused, on_older_kernel};
pub use podman::{PODMAN_SETTINGS, podman_settings, small_image};
pub use procs::procs_with_tag;
pub use scratch::{Scratch, outside_tmp};
pub use skip::{SKIPS_FILE, skip, skip_outside_ci};
pub use tidy::tidy;
