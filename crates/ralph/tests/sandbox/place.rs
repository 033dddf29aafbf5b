//! A place for a contained run: a repository with a failing check, an agent, and what came of it.

use ralph_testkit::{Scratch, outside_tmp, procs_with_tag};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Only a broken run takes so long.
const PATIENCE: Duration = Duration::from_secs(120);
const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// Who runs ralph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Myself,
    Nobody,
}

/// Whoever runs the tests, and an ordinary user where that is root.
pub fn everybody() -> Vec<Who> {
    match rustix::process::getuid().is_root() {
        true => vec![Who::Myself, Who::Nobody],
        false => vec![Who::Myself],
    }
}

/// The binary where everybody may run it.
fn ralph() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let dir = tempfile::Builder::new().prefix("ralph-sandbox-test").tempdir_in(base()).unwrap().keep();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_ralph"), dir.join("ralph")).unwrap();
        dir.join("ralph")
    })
}

fn base() -> PathBuf {
    let base = outside_tmp(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&base).unwrap();
    base
}

pub struct Place {
    pub scratch: Scratch,
    pub who: Who,
    env: Vec<(String, String)>,
    through: Vec<String>,
}

/// What a run came to.
pub struct Done {
    pub code: i32,
    pub result: Value,
    pub stderr: String,
    pub agent: String,
}

impl Place {
    /// A repository whose check `sh check.sh` passes when `done.txt` is there, with a protected file.
    pub fn new(who: Who) -> Place {
        let place =
            Place { scratch: Scratch::contained_in(&base()), who, env: Vec::new(), through: Vec::new() };
        place.scratch.make_git_repo();
        place.scratch.files(&[
            ("check.sh", "test -s done.txt\n"),
            ("secrets/key", "protected\n"),
            ("src/a.txt", "one\n"),
        ]);
        place.scratch.git(&["add", "-A"]);
        place.scratch.git(&["commit", "-q", "-m", "Files"]);
        place.give_away();
        place
    }

    /// A variable of the user's environment.
    pub fn with_env(mut self, name: &str, value: &str) -> Place {
        self.env.push((name.into(), value.into()));
        self
    }

    /// A program, with arguments, that starts every other one.
    pub fn through(mut self, words: &[&str]) -> Place {
        self.through = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// A file of the user's home directory.
    pub fn home_file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.give_away();
        path
    }

    /// The user's settings.
    pub fn config(&self, text: &str) {
        let dir = self.scratch.root().join("config/ralph");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("config.toml"), text).unwrap();
        self.give_away();
    }

    pub fn home(&self) -> PathBuf {
        self.scratch.root().join("home")
    }

    pub fn give_away(&self) {
        let root = self.scratch.root();
        fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
        if self.who == Who::Nobody {
            let status = Command::new("chown").args(["-R", "65534:65534"]).arg(root).status().unwrap();
            assert!(status.success());
        }
    }

    /// A program of the user's.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let user = if self.who == Who::Nobody { &["setpriv"][..] } else { &[] };
        let user = user.iter().copied().chain(NOBODY.into_iter().filter(|_| self.who == Who::Nobody));
        let words = self.through.iter().map(String::as_str).chain(user).map(OsStr::new);
        let mut words = words.chain([program.as_ref()]);
        let mut command = self.scratch.command(words.next().unwrap());
        command.args(words);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        // Whoever runs the tests may have a home that nobody else may enter.
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
        command
    }

    pub fn ralph(&self, args: &[&str]) -> Command {
        let mut command = self.command(ralph());
        command.args(args);
        command
    }

    /// `ralph run` with this script as agent; the script lies where the agent only reads.
    pub fn run(&self, script: &str, flags: &[&str]) -> Command {
        let agent = self.scratch.root().join("agent.sh");
        fs::write(&agent, format!("cat > /dev/null\n{script}\necho worked\n")).unwrap();
        let mut command = self.ralph(&["run", "Work", "--agent", "command", "--json", "--max-cost", "5"]);
        command.args(["--max-iterations", "1", "--verify", "sh check.sh"]).args(flags);
        command.args(["--", "sh"]).arg(agent);
        command
    }

    /// Runs it to its end.
    pub fn done(&self, script: &str, flags: &[&str]) -> Done {
        self.finished(&mut self.run(script, flags))
    }

    pub fn finished(&self, command: &mut Command) -> Done {
        let output = command.output().unwrap();
        Done::of(&output, self)
    }

    /// What the agent printed last.
    fn agent_said(&self) -> String {
        let output = self.ralph(&["logs", "--raw"]).output().unwrap();
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        let runs = self.scratch.state().join("ralph/runs");
        let mut runs: Vec<_> =
            fs::read_dir(runs).into_iter().flatten().flatten().map(|it| it.path()).collect();
        runs.sort();
        if let Some(run) = runs.last() {
            for file in fs::read_dir(run)
                .unwrap()
                .flatten()
                .filter(|it| it.file_name().to_string_lossy().ends_with(".err"))
            {
                text.push_str(&fs::read_to_string(file.path()).unwrap_or_default());
            }
        }
        text
    }

    /// Nobody of the place is alive, at the latest soon.
    pub fn nobody_is_left(&self) {
        let state = self.scratch.state();
        until("a process outlives ralph", || {
            procs_with_tag("XDG_STATE_HOME", &state.to_string_lossy()).is_empty().then_some(())
        });
    }
}

impl Done {
    fn of(output: &Output, place: &Place) -> Done {
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = stdout.lines().last().unwrap_or_default();
        let result = serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
        Done { code: output.status.code().unwrap(), result, stderr, agent: place.agent_said() }
    }

    /// The sandbox in words.
    pub fn sandbox(&self) -> &str {
        self.result["sandbox"].as_str().unwrap()
    }
}

/// Waits until something is there.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a full sandbox says of itself.
pub const HELD: &str = "files, protected paths, processes; network open";
