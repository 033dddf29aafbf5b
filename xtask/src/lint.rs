//! Format and lints: one place, no exceptions.

use crate::shell::{Done, cargo, run};

/// rustfmt and clippy, warnings denied.
pub fn lint() -> Done {
    run("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    run("lints", &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}
