//! Everything CI checks, and the long campaigns.

use crate::agents::Tier;
use crate::browser;
use crate::lint::lint;
use crate::live;
use crate::shell::{Done, cargo, need, root, target};
use crate::summary::Summary;
use std::path::PathBuf;
use std::process::Command;

/// How the tests of the kill matrix begin: a stage of their own, so that their time is seen.
const KILL_MATRIX: &str = "killed_at_every_";

/// Format, lints, tests, the simulation, the kill matrix on the release binary, the page in a browser, the real agents, and
/// the demo as a newcomer types it. What the first three find is cheap to find again, so they end it; the others all run.
pub fn test(summary: &mut Summary) -> Done {
    lint(summary)?;
    release_build(summary)?;
    sandbox_programs(summary)?;
    let checkers = all_of([optional_programs(summary), checkers(summary)]);
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast", "--", "--skip", KILL_MATRIX]);
    let done = [
        checkers,
        summary.tests("tests", with_binary(&mut tests)),
        summary.tests("kill matrix", &mut kill_matrix()),
        summary.tests("simulation", &mut simulation()),
        browser::browser(summary, &release_binary()),
        live::live(summary, Tier::First),
        summary.run("demo", Command::new(release_binary()).arg("demo")),
    ];
    all_of(done)
}

/// The page in a browser, with the release binary.
pub fn browser(summary: &mut Summary) -> Done {
    release_build(summary)?;
    browser::browser(summary, &release_binary())
}

/// What the tests of the sandbox run, besides the kernel: none of them is skipped. runc is for machines with the first version
/// of control groups, where crun may refuse to work.
fn sandbox_programs(summary: &mut Summary) -> Done {
    let programs =
        [("bwrap", "bubblewrap"), ("podman", "podman"), ("runc", "runc"), ("catatonit", "catatonit")];
    all_of(programs.map(|(program, package)| need(summary, program, package)))
}

/// Panel and monitor are also driven in tmux, the shell library is run by busybox, and the API and its metrics are checked by
/// Schemathesis and promtool. Where one of them cannot be installed its tests are skipped, and counted; in CI they fail.
fn optional_programs(summary: &mut Summary) -> Done {
    let mut done = Ok(());
    for (program, asked) in [("tmux", "-V"), ("busybox", "--help")] {
        let there = Command::new(program).arg(asked).output().is_ok_and(|output| output.status.success());
        if !there {
            let install =
                format!("apt-get install -y {program} || (apt-get update && apt-get install -y {program})");
            let install =
                summary.attempt(&format!("install {program}"), Command::new("sh").args(["-c", &install]));
            done = done.and(needed_in_ci(install));
        }
    }
    done
}

/// Others' programs that look at the server of `ralph serve`.
fn checkers(summary: &mut Summary) -> Done {
    let install = &mut Command::new(root().join("tools/install-checkers"));
    needed_in_ci(summary.attempt("install checkers", install))
}

/// Elsewhere the tests themselves say that they were skipped.
fn needed_in_ci(done: Done) -> Done {
    if std::env::var_os("CI").is_some() { done } else { Ok(()) }
}

/// Hours, not minutes: run before a release.
pub fn long(summary: &mut Summary) -> Done {
    release_build(summary)?;
    let steps = "100000000";
    summary.tests("simulation, 100 million steps", simulation().env("RALPH_SIM_STEPS", steps))?;
    summary.tests("kill matrix, every point", kill_matrix().env("RALPH_KILL_MATRIX", "full"))?;
    let mut attacks = cargo(&["test", "--package", "ralph-sandbox", "--test", "attacks"]);
    summary.tests("attacks on the sandbox, every control", attacks.env("RALPH_ATTACKS", "full"))?;
    live::all(summary)
}

/// Ok, or everything that went wrong.
fn all_of<const N: usize>(done: [Done; N]) -> Done {
    let wrong: Vec<String> = done.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n       ")) }
}

fn release_build(summary: &mut Summary) -> Done {
    summary.run("release build", &mut cargo(&["build", "--release", "--package", "ralph"]))
}

/// The simulation, optimised: its steps are what it is for.
fn simulation() -> Command {
    cargo(&["test", "--release", "--package", "ralph-engine", "--test", "simulation", "--", "--nocapture"])
}

fn kill_matrix() -> Command {
    let mut command = cargo(&["test", "--package", "ralph", "--test", "kill_matrix", "--", "--nocapture"]);
    with_binary(&mut command);
    command
}

/// Tests that need the unmodified release binary find it here.
fn with_binary(command: &mut Command) -> &mut Command {
    command.env("RALPH_BIN", release_binary())
}

fn release_binary() -> PathBuf {
    target().join("release/ralph")
}
