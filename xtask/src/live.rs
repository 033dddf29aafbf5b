//! The live tests: ralph with the real agent CLIs, which talk to the scripted model server of `tools/model_server`.
//! They run where nothing but loopback can be reached, as far as this machine permits; `agents.rs` installs the CLIs.

use crate::agents::{self, Tier};
use crate::shell::{Done, cargo, root};
use crate::summary::Summary;
use std::process::{Command, Stdio};

/// Cases at a time: much of a case is waiting, and each agent takes up to 700 MB.
const AT_ONCE: &str = "4";
const LIVE: [&str; 4] = ["--package", "ralph", "--test", "live"];

/// Both tiers.
pub fn all(summary: &mut Summary) -> Done {
    live(summary, Tier::First)?;
    live(summary, Tier::Second)
}

/// Installs the agents of a tier and runs their tests. An agent that could not be installed fails the tests, in the
/// end: those of the others still run.
pub fn live(summary: &mut Summary, tier: Tier) -> Done {
    let (what, modules): (&str, &[&str]) = match tier {
        Tier::First => ("live tests", &["first_tier::", "hook::", "contained::"]),
        Tier::Second => ("live tests, second tier", &["second_tier::"]),
    };
    let installed = agents::install(tier);
    // Built outside: the build may need the network, the tests must not.
    summary.run("build of the live tests", cargo(&["test", "--no-run"]).args(LIVE))?;
    let way = way(summary);
    let tests = |at_once: &str, which: &[&str]| {
        let mut tests = cargo(&["test", "--offline"]);
        tests.args(LIVE).args(["--", "--test-threads", at_once]).args(which);
        alone(way, &tests)
    };
    // The agents have time limits of their own, which a busy machine can pass. What is truly broken fails again.
    let again = |failed: &[String]| {
        let names: Vec<&str> = failed.iter().map(String::as_str).collect();
        tests("1", &[&["--exact"], &names[..]].concat())
    };
    let tested = summary.tests_with_second_try(what, &mut tests(AT_ONCE, modules), again);
    installed.and(tested)
}

/// What ralph adds to a real agent's own run.
pub fn bench(summary: &mut Summary) -> Done {
    agents::install(Tier::First)?;
    let which = ["--release", "--package", "ralph", "--example", "agents_bench"];
    summary.run("build of the bench", cargo(&["build", "--bins"]).args(which))?;
    let way = way(summary);
    summary.run("real agents", &mut alone(way, cargo(&["run", "--quiet", "--offline"]).args(which)))
}

/// The flags of `unshare`, and what starts the command in the namespaces.
type Way = (&'static [&'static str], &'static str);

/// How a network namespace is made: by root, or by an ordinary user, who stays one in it.
const WAYS: [Way; 2] = [
    (&["--net", "--mount"], "exec"),
    (
        &["--map-current-user", "--keep-caps", "--net", "--mount"],
        "exec setpriv --inh-caps=-all --ambient-caps=-all",
    ),
];

/// The way that is permitted here. Without one the agents run with this machine's network, and that is said.
fn way(summary: &mut Summary) -> Option<&'static Way> {
    let permitted = |way: &&Way| {
        let mut probe = within(way, &Command::new("true"));
        probe.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let way = WAYS.iter().find(permitted);
    if way.is_none() {
        let why = "no network namespace is permitted here; the agents could reach the network";
        summary.skip("isolation of the live tests", why);
    }
    way
}

/// The command in a network of its own with only loopback in it, where there is a way; otherwise as it is.
fn alone(way: Option<&Way>, command: &Command) -> Command {
    if let Some(way) = way {
        return within(way, command);
    }
    let mut plain = Command::new(command.get_program());
    plain.args(command.get_args()).current_dir(root()).env("RALPH_AGENTS_DIR", agents::folder());
    plain
}

/// The command in its own namespaces. The agents appear in /mnt there: some tests run as a user who may not be allowed to
/// look into the directory above the repository.
fn within((flags, exec): &Way, command: &Command) -> Command {
    let prepare = "python3 -B tools/loopback.py && mount --bind target/agents /mnt";
    let mut through = Command::new("unshare");
    through.args(*flags).args(["sh", "-c", &format!("{prepare} && {exec} \"$@\""), "sh"]);
    through.arg(command.get_program()).args(command.get_args());
    through.current_dir(root()).env("RALPH_AGENTS_DIR", "/mnt");
    through
}
