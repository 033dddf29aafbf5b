//! Format, lints and dependencies: one place, no exceptions.

use crate::deny::deny;
use crate::shell::{Done, cargo};
use crate::summary::Summary;

/// rustfmt, clippy with warnings denied, and cargo-deny.
pub fn lint(summary: &mut Summary) -> Done {
    summary.run("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    summary.run("lints", &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // Not among all targets, since a plain `cargo test` does not run it.
    let live = ["clippy", "--package", "ralph", "--test", "live", "--", "-D", "warnings"];
    summary.run("lints of the live tests", &mut cargo(&live))?;
    deny(summary)
}
