//! Dependencies: licences, sources, double versions and known vulnerabilities, checked by cargo-deny against `deny.toml`.
//! A cargo-deny on the path serves; otherwise one is built into the target directory, once.

use crate::shell::{Done, cargo, is_there, root, target};
use crate::summary::Summary;
use std::path::PathBuf;
use std::process::Command;

const VERSION: &str = "0.20.2";

/// Checks what can be checked; what cannot for lack of a network is skipped and counted.
pub fn deny(summary: &mut Summary) -> Done {
    let Some(program) = program(summary) else {
        summary.skip("dependency checks", "cargo-deny is not installed and could not be built");
        return Ok(());
    };
    let deny = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.args(args).current_dir(root());
        command
    };
    // A build downloads what this system needs; licences are read of what the others need, too.
    if !succeeds(&mut cargo(&["fetch", "--quiet"])) {
        summary.skip("dependency checks", "not every dependency could be downloaded");
        return Ok(());
    }
    summary.run("dependencies", &mut deny(&["--offline", "check", "bans", "licenses", "sources"]))?;
    if !succeeds(&mut deny(&["fetch", "db"])) {
        summary.skip("dependency advisories", "the advisory database could not be fetched");
        return Ok(());
    }
    summary.run("dependency advisories", &mut deny(&["check", "advisories"]))
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// A program that can be started, installed if need be. Unoptimised: it builds in less than half the time, and what it has
/// to do takes seconds.
fn program(summary: &mut Summary) -> Option<PathBuf> {
    let ours = target().join("tools/bin/cargo-deny");
    let there = [PathBuf::from("cargo-deny"), ours.clone()].into_iter().find(|program| is_there(program));
    if there.is_some() {
        return there;
    }
    let mut install =
        cargo(&["install", "cargo-deny", "--version", VERSION, "--locked", "--debug", "--quiet"]);
    install.arg("--root").arg(target().join("tools"));
    let installed = summary.attempt("install cargo-deny", &mut install);
    installed.is_ok().then_some(ours)
}
