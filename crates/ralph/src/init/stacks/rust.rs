//! Rust: cargo.

use crate::env::Env;
use crate::init::found::{Found, Stack, Use};
use crate::init::look::Look;

/// A crate or a workspace.
pub fn find(look: &Look, env: &Env) -> Option<Found> {
    if !look.has("Cargo.toml") {
        return None;
    }
    let manifest: toml::Table = look.text("Cargo.toml").parse().unwrap_or_default();
    let all = if manifest.contains_key("workspace") { " --workspace" } else { "" };
    let clippy = env.which("cargo-clippy", look.path()).is_some();
    let lint = clippy.then(|| format!("cargo clippy{all} --all-targets -- -D warnings"));
    let found = Found::new(Stack::Rust, "Cargo.toml").check(Use::Test, Some(format!("cargo test{all}")));
    Some(found.check(Use::Lint, lint).check(Use::Build, Some(format!("cargo build{all}"))))
}
