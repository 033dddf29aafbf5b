//! How long a client waits: for the hook of a session without a run at most twice as long as for `ralph --version`, and
//! for that of a session with one at most twice as long as an iteration of the loop takes whose agent does nothing.
//! A benchmark (`cargo xtask bench`), not run with the tests: machines are noisy. What is compared is measured in turns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "hook/session.rs"]
#[allow(dead_code)] // the other tests use the rest
mod session;

use session::{MORE, Session};
use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

fn time(run: impl FnOnce()) -> Duration {
    let began = Instant::now();
    run();
    began.elapsed()
}

#[test]
#[ignore = "a benchmark, run by `cargo xtask bench`"]
fn hooks_are_as_quick_as_what_they_are_compared_with() {
    unbound();
    bound();
}

fn unbound() {
    let session = Session::new();
    let input = session.scratch.root().join("input");
    std::fs::write(&input, session.stopped(MORE).to_string()).unwrap();
    let run = |args: &[&str]| {
        let mut command = session.command(args);
        command.stdin(File::open(&input).unwrap());
        time(|| drop(command.output().unwrap()))
    };
    let (mut version, mut stop, mut prompt) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..30 {
        version = version.min(run(&["--version"]));
        stop = stop.min(run(&["hook", "stop"]));
        prompt = prompt.min(run(&["hook", "prompt"]));
    }
    let figures = format!("unbound hook: stop {stop:?}, prompt {prompt:?}; --version: {version:?}");
    let _ = writeln!(std::io::stderr(), "{figures}");
    assert!(stop.max(prompt) <= version * 2, "{figures}");
}

fn bound() {
    let mut session = Session::new();
    session.prompt("/ralph:loop Go --max-iterations 40 --max-cost 50 --verify true");
    let looped = Session::new();
    std::fs::write(looped.scratch.root().join("agent.sim"), "append log x\nclaim progress\n").unwrap();
    let run = |iterations: &str| {
        let mut command = looped.command(&["run", "Go", "--fresh", "--quiet", "--max-cost", "5"]);
        command.args(["--verify", "true", "--max-iterations", iterations]);
        time(|| drop(command.output().unwrap()))
    };
    let (mut hook, mut one, mut six) = (Duration::MAX, Duration::MAX, Duration::MAX);
    // The shortest of each counts.
    for round in 0..12 {
        session.scratch.files(&[("progress", &format!("{round}"))]);
        hook = hook.min(time(|| assert!(session.stop(MORE).context().contains("Iteration"))));
        one = one.min(run("1"));
        six = six.min(run("6"));
    }
    let iteration = six.saturating_sub(one) / 5;
    let figures = format!("bound hook: {hook:?}; iteration of a loop: {iteration:?}");
    let _ = writeln!(std::io::stderr(), "{figures}");
    assert!(hook <= iteration * 2, "{figures}");
}
