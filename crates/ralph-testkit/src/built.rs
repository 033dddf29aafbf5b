//! Programs of this workspace that belong to another crate: cargo tells a test only of its own crate's.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The `ralph-agent-sim` program, built if it is not up to date.
pub fn agent_sim() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build("ralph-sim", "ralph-agent-sim")).clone()
}

/// Builds in the profile this test was built in; tests lie in `target/<profile>/deps`.
fn build(package: &str, bin: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test's own path");
    let profile = test.ancestors().nth(2).expect("target/<profile>");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--offline", "--package", package, "--bin", bin]);
    cargo.arg("--target-dir").arg(profile.parent().expect("target"));
    match profile.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => {}
        Some(name) => {
            cargo.args(["--profile", name]);
        }
    }
    let status = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo runs");
    assert!(status.success(), "cargo could not build {bin}");
    profile.join(bin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripted_agent_can_be_started() {
        let output = Command::new(agent_sim()).arg("--version").output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains("Claude Code"));
    }
}
