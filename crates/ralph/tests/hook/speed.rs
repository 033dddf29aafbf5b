//! How long a client waits: for the hook of a session without a run as long as for `ralph --version`, and for that of a
//! session with one as long as an iteration of the loop takes without its agent.

use crate::session::{MORE, Session};
use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The shortest of several, so that a busy machine does not decide.
fn shortest(times: u32, mut run: impl FnMut(u32)) -> Duration {
    let time = |n| {
        let began = Instant::now();
        run(n);
        began.elapsed()
    };
    (0..times).map(time).min().unwrap()
}

#[test]
fn an_unbound_hook_takes_no_longer_than_twice_the_version() {
    let session = Session::new();
    let input = session.scratch.root().join("input");
    std::fs::write(&input, session.stopped(MORE).to_string()).unwrap();
    let version = shortest(30, |_| drop(session.command(&["--version"]).output().unwrap()));
    for event in ["stop", "prompt"] {
        let hook = shortest(30, |_| {
            let mut command = session.command(&["hook", event]);
            assert!(command.stdin(File::open(&input).unwrap()).output().unwrap().stdout.is_empty());
        });
        let _ = writeln!(std::io::stderr(), "unbound hook {event}: {hook:?}, --version: {version:?}");
        assert!(hook <= version * 2, "hook {event}: {hook:?}, --version: {version:?}");
    }
}

#[test]
fn a_bound_hook_takes_no_longer_than_twice_an_iteration() {
    const LIMITS: [&str; 5] = ["--max-cost", "5", "--verify", "true", "--max-iterations"];
    let mut session = Session::new();
    session.prompt("/ralph:loop Go --max-iterations 40 --max-cost 50 --verify true");
    let hook = shortest(8, |n| {
        session.scratch.files(&[("progress", &n.to_string())]);
        assert!(session.stop(MORE).context().contains("Iteration"));
    });

    let looped = Session::new();
    std::fs::write(looped.scratch.root().join("agent.sim"), "append log x\nclaim progress\n").unwrap();
    let run = |iterations: &str| {
        let mut command = looped.command(&["run", "Go", "--fresh", "--quiet"]);
        command.args(LIMITS).arg(iterations).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap();
    };
    let (one, six) = (shortest(3, |_| run("1")), shortest(3, |_| run("6")));
    let iteration = six.saturating_sub(one) / 5;
    let _ = writeln!(std::io::stderr(), "bound hook: {hook:?}, iteration of a loop: {iteration:?}");
    assert!(hook <= iteration * 2, "bound hook: {hook:?}, iteration: {iteration:?}");
}
