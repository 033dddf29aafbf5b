//! Everything CI checks, and the long campaigns.

use crate::agents::Tier;
use crate::lint::lint;
use crate::live;
use crate::shell::{Done, cargo, root, run};
use std::process::Command;

/// Format, lints, tests, the simulation, the kill matrix on the release binary, the real agents, and the demo as a
/// newcomer types it.
pub fn test() -> Done {
    lint()?;
    run("release build", &mut cargo(&["build", "--release", "--package", "ralph"]))?;
    run("tests", with_binary(&mut cargo(&["test", "--workspace", "--no-fail-fast"])))?;
    run("simulation", &mut simulation())?;
    live::live(Tier::First)?;
    run("demo", Command::new(root().join("target/release/ralph")).arg("demo"))
}

/// Hours, not minutes: run before a release.
pub fn long() -> Done {
    run("release build", &mut cargo(&["build", "--release", "--package", "ralph"]))?;
    run("simulation, 100 million steps", simulation().env("RALPH_SIM_STEPS", "100000000"))?;
    run(
        "kill matrix, every point",
        with_binary(
            cargo(&["test", "--package", "ralph", "--test", "kill_matrix", "--", "--nocapture"])
                .env("RALPH_KILL_MATRIX", "full"),
        ),
    )?;
    live::all()
}

/// The simulation, optimised: its steps are what it is for.
fn simulation() -> Command {
    let which = ["--package", "ralph-engine", "--test", "simulation"];
    let mut command = cargo(&["test", "--release"]);
    command.args(which).args(["--", "--nocapture"]);
    command
}

/// Tests that need the unmodified release binary find it here.
fn with_binary(command: &mut Command) -> &mut Command {
    command.env("RALPH_BIN", root().join("target/release/ralph"))
}
