//! What ralph adds to the run of a real agent CLI: the fastest two, each by itself and the same within `ralph run`, in
//! turns on the same machine. Their model is the scripted server, which answers at once, so that nothing hides behind
//! waiting. Times are only reported: machines are shared.
//!
//! `cargo xtask bench` installs the CLIs and runs it; `RALPH_BIN` names another binary than the one built beside this.
#![cfg(target_os = "linux")]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

#[allow(dead_code)]
#[path = "../tests/live/cli.rs"]
mod cli;
#[allow(dead_code)]
#[path = "../tests/live/clis.rs"]
mod clis;
#[allow(dead_code)]
#[path = "../tests/live/run.rs"]
mod run;
#[allow(dead_code)]
#[path = "../tests/live/server.rs"]
mod server;
#[path = "product_bench/stats.rs"]
#[allow(dead_code)]
mod stats;

use cli::{Cli, Setup};
use clis::{CODEX, GOOSE};
use ralph_agents::Call;
use ralph_rules::prompt::Data;
use ralph_rules::prompt::template::{PROTOCOL, render_own};
use ralph_testkit::Scratch;
use server::{Server, free_port};
use stats::{share, timed};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs of each kind.
const RUNS: usize = 11;
/// What ralph may add, as a share of the CLI's own run.
const LIMIT: f64 = 0.05;
const TASK: &str = "Write hello into greeting.txt.";

fn main() {
    println!(
        "{:<7} {:>10} {:>15} {:>10} {:>13} {:>9} {:>8}",
        "agent", "iterations", "of 11", "alone", "within ralph", "added", "share"
    );
    for cli in [&CODEX, &GOOSE] {
        let bench = Bench::new(cli);
        for iterations in [1, 3] {
            let (mut alone, mut within) = (Vec::new(), Vec::new());
            for _ in 0..RUNS {
                alone.push(timed(|| (0..iterations).for_each(|_| bench.alone())));
                within.push(timed(|| bench.within(iterations)));
            }
            // Other programs only ever add, so the lower quartile is nearer to the truth where the machine is busy.
            for (which, part) in [("median", 0.5), ("lower quartile", 0.25)] {
                row(
                    &format!("{:<7} {iterations:>10}", cli.info.name),
                    which,
                    share(&alone, part),
                    share(&within, part),
                );
            }
        }
    }
}

fn row(what: &str, which: &str, alone: f64, within: f64) {
    let added = within - alone;
    let part = added / alone;
    let verdict = if part <= LIMIT { "ok" } else { "OVER 5 %" };
    println!(
        "{what} {which:>15} {alone:>7.1} ms {within:>10.1} ms {added:>6.1} ms {:>6.1} %  {verdict}",
        part * 100.0
    );
}

/// One CLI, its home and its server.
struct Bench {
    cli: &'static Cli,
    scratch: Scratch,
    env: Vec<(&'static str, String)>,
    _server: Server,
}

impl Bench {
    fn new(cli: &'static Cli) -> Bench {
        let scratch = Scratch::git_repo();
        let at = |name: &str| scratch.root().join(name);
        std::fs::create_dir(at("tmp")).unwrap();
        let port = free_port();
        let setup =
            Setup { home: at("home"), config: at("config"), url: format!("http://127.0.0.1:{port}/more") };
        let mut env = (cli.configure)(&setup);
        env.push(("TMPDIR", at("tmp").display().to_string()));
        env.push(("PATH", cli.path()));
        let server = Server::start(scratch.root(), &scratch.workspace(), port);
        Bench { cli, scratch, env, _server: server }
    }

    /// The CLI as ralph's adapter starts it, without ralph.
    fn alone(&self) {
        let agent = self.cli.info;
        let system = render_own(PROTOCOL, &Data { promise: "COMPLETE".into(), ..Data::default() });
        let prompt =
            if agent.abilities.system_prompt { TASK.to_owned() } else { format!("{TASK}\n\n---\n{system}") };
        let scratch = self.scratch.root().join("tmp").display().to_string();
        let call = Call { prompt, system, scratch, ..Call::default() };
        let launch = agent.launch(&call);
        assert!(launch.files.is_empty(), "{} takes its prompt from stdin", self.cli.info.name);
        let mut command = self.command(launch.program.into());
        command.args(&launch.args).envs(launch.env);
        for name in &launch.env_remove {
            command.env_remove(name);
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(call.prompt.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("EXIT_SIGNAL"), "{} did not work: {said}", self.cli.info.name);
        self.tidy();
    }

    /// The same as the iterations of a run, which ends at its limit.
    fn within(&self, iterations: u32) {
        let mut command = self.command(binary());
        command.args(["run", TASK, "--agent", self.cli.info.name, "--fresh", "--quiet", "--max-cost", "9"]);
        command.args(["--max-iterations", &iterations.to_string(), "--calls-per-hour", "0"]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
        self.tidy();
    }

    fn command(&self, program: PathBuf) -> Command {
        let mut command = self.scratch.command(program);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The work is to be done anew.
    fn tidy(&self) {
        std::fs::remove_file(self.scratch.workspace().join("greeting.txt")).unwrap();
    }
}

/// `RALPH_BIN`, else the binary built beside this example.
fn binary() -> PathBuf {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("ralph"));
    let path = std::env::var_os("RALPH_BIN").map(PathBuf::from).or_else(beside).unwrap();
    assert!(path.is_file(), "{} is not there: cargo build --release -p ralph", path.display());
    path
}
