//! Programs, places, and talk.

use crate::summary::Summary;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What went wrong, in words.
pub type Done = Result<(), String>;

/// Talk, on stderr.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Cargo, in the repository. CI builds once, so that what helps the next build would only take disk and time.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    if std::env::var_os("CI").is_some() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Whether the program can be started.
pub fn is_there(program: impl AsRef<std::ffi::OsStr>) -> bool {
    let mut probe = Command::new(program);
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// The program is there, or is installed from Debian's package of that name.
pub fn need(summary: &mut Summary, program: &str, package: &str) -> Done {
    if is_there(program) {
        return Ok(());
    }
    let install = format!("apt-get install -y {package} || (apt-get update && apt-get install -y {package})");
    summary.run(&format!("install {package}"), Command::new("sh").args(["-c", &install]))
}
