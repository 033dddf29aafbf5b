//! Running programs and saying so.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

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

/// Cargo, in the repository.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Runs a command to its end; it must succeed.
pub fn run(what: &str, command: &mut Command) -> Done {
    say(&format!("\n── {what}\n"));
    let begun = Instant::now();
    let status = command.status().map_err(|e| format!("{what}: cannot start {command:?}: {e}"))?;
    say(&format!(
        "── {what}: {} in {:.1} s\n",
        if status.success() { "ok" } else { "FAILED" },
        begun.elapsed().as_secs_f64()
    ));
    if status.success() { Ok(()) } else { Err(format!("{what} failed ({status})")) }
}

/// The program is there, or is installed from Debian's package of that name.
pub fn need(program: &str, package: &str) -> Done {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|s| s.success()) {
        return Ok(());
    }
    let install = format!("apt-get install -y {package} || (apt-get update && apt-get install -y {package})");
    run(&format!("install {package}"), Command::new("sh").args(["-c", &install]))
}
