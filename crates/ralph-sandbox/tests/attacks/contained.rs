//! Programs that run contained for a while, for tests that look at them from outside.

use crate::attack::Who;
use crate::judge::{end_processes_of, processes_of};
use crate::play::{wait, write_plan};
use crate::scene::{Scene, runner};
use ralph_sandbox::{Backend, Plan};
use std::fs::File;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The longest that any test waits for anything.
pub const A_MINUTE: Duration = Duration::from_secs(60);

/// A program that was started, with the runner around it. Dropped, everything that belongs to it is ended.
pub struct Contained<'a> {
    pub scene: &'a Scene,
    pub runner: Child,
}

impl<'a> Contained<'a> {
    /// Starts a program. Its scene's token is among its arguments, by which its processes are found.
    pub fn start(scene: &'a Scene, plan: &Plan, program: &[&str]) -> Contained<'a> {
        let notes = scene.base().join("notes");
        let log = |name: &str| File::create(notes.join(name)).unwrap();
        let mut command = scene.command(runner().to_str().unwrap());
        command
            .arg("run")
            .arg(write_plan(scene, plan))
            .arg(scene.workspace())
            .args(program)
            .arg(token(scene));
        let tmp = if plan.backend == Backend::Landlock { plan.tmp.as_path() } else { Path::new("/tmp") };
        command.env("TMPDIR", tmp);
        command.stdin(Stdio::null()).stdout(log("stdout")).stderr(log("stderr"));
        Contained { scene, runner: command.spawn().unwrap() }
    }

    /// The same, until it has ended.
    pub fn run(scene: &'a Scene, plan: &Plan, program: &[&str]) -> Option<ExitStatus> {
        wait(&mut Contained::start(scene, plan, program).runner, A_MINUTE * 2)
    }
}

impl Drop for Contained<'_> {
    fn drop(&mut self) {
        let _ = self.runner.kill();
        let _ = self.runner.wait();
        end_processes_of(&token(self.scene));
    }
}

/// Stands among the arguments of every process of the scene.
pub fn token(scene: &Scene) -> String {
    format!("survivor-{}", scene.id)
}

/// How many processes of the scene there are.
pub fn count(scene: &Scene) -> usize {
    processes_of(&token(scene)).len()
}

/// What the runner and the program wrote to stdout and stderr.
pub fn said(scene: &Scene) -> String {
    let text =
        |name: &str| std::fs::read_to_string(scene.base().join("notes").join(name)).unwrap_or_default();
    format!("{}{}", text("stdout"), text("stderr"))
}

/// Waits until it is so, at most this long.
pub fn wait_until(most: Duration, mut so: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < most {
        if so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    so()
}

/// Waits for a file that the program writes.
pub fn wait_for_file(scene: &Scene, path: &Path) {
    assert!(wait_until(A_MINUTE, || path.exists()), "{} did not come: {}", path.display(), said(scene));
}

/// Plays a test as these users; root is left out where the tests do not run as root.
pub fn as_each(users: &[Who], mut test: impl FnMut(Who)) {
    for who in users {
        if *who == Who::User || crate::scene::is_root() {
            test(*who);
        }
    }
}
