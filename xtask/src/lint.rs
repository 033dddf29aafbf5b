//! Format and lints: one place, no exceptions.

use crate::shell::{Done, cargo, run};

/// rustfmt and clippy, warnings denied.
pub fn lint() -> Done {
    run("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    run("lints", &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // Not among all targets, since a plain `cargo test` does not run it.
    let live = ["clippy", "--package", "ralph", "--test", "live", "--", "-D", "warnings"];
    run("lints of the live tests", &mut cargo(&live))
}
