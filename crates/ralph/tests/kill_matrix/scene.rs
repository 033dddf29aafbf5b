//! What is run again and again: a small repository with work of its user in it, an agent that needs three iterations
//! and does no harm when it is asked twice, and a verification that it touches. Each case has a place of its own.

use ralph_testkit::{Scratch, procs_with_tag};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Every section writes all that is right so far: whichever call is lost, the next ones repair it.
const SCRIPT: &str = "\
[1]
say The first file
setsid-child sleep 600
write one.py one
claim progress
[2]
write one.py one
daemonise sleep 600
run echo stolen > .env; echo evil > .git/hooks/post-commit; chmod 600 .env; rm -rf secrets; echo evil > secrets
write two.py two
claim progress
[*]
write one.py one
write two.py two
write three.py three
write check.sh grep -q three three.py && grep -q two two.py && grep -q one one.py # seen
claim complete
";

/// What the user has in the workspace: committed, changed since, new and ignored. The second call touches a secret among
/// it and puts a file in the place of a directory of secrets; both are put back.
const BEFORE: [(&str, &str); 4] = [
    (".gitignore", "*.log\n.env\n"),
    ("check.sh", CHECK),
    ("kept.txt", "committed\n"),
    ("secrets/deep/key", "key of the user\n"),
];
const DIRTY: [(&str, &str); 4] = [
    (".env", "KEY=user\n"),
    ("kept.txt", "changed by the user\n"),
    ("notes.txt", "new\n"),
    ("own.log", "ignored\n"),
];
/// What is there in the end.
const AFTER: [(&str, &str); 10] = [
    (".env", "KEY=user\n"),
    (".gitignore", "*.log\n.env\n"),
    ("check.sh", "grep -q three three.py && grep -q two two.py && grep -q one one.py # seen\n"),
    ("kept.txt", "changed by the user\n"),
    ("notes.txt", "new\n"),
    ("one.py", "one\n"),
    ("own.log", "ignored\n"),
    ("secrets/deep/key", "key of the user\n"),
    ("three.py", "three\n"),
    ("two.py", "two\n"),
];
/// What verifies. The last call writes a remark into it, so that its older self must pass too.
const CHECK: &str = "grep -q three three.py && grep -q two two.py && grep -q one one.py\n";
const VERIFY: &str = "sh check.sh";

/// How long a process may outlive a killed ralph: long, for a busy machine, and much shorter than they would live.
const SOON: Duration = Duration::from_secs(60);

/// The release binary where the test command built one, else this profile's.
pub fn ralph() -> PathBuf {
    std::env::var_os("RALPH_BIN").map_or_else(|| env!("CARGO_BIN_EXE_ralph").into(), PathBuf::from)
}

/// One case's place.
pub struct Scene {
    pub scratch: Scratch,
    head: String,
}

impl Scene {
    pub fn new() -> Scene {
        let scratch = Scratch::git_repo();
        scratch.files(&BEFORE);
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "Before"]);
        scratch.files(&DIRTY);
        std::fs::write(scratch.root().join("agent.sim"), SCRIPT).unwrap();
        let config = scratch.root().join("config/ralph");
        std::fs::create_dir(&config).unwrap();
        std::fs::write(config.join("config.toml"), "[protect]\non_violation = \"restore\"\n").unwrap();
        let head = scratch.git(&["rev-parse", "HEAD"]);
        Scene { scratch, head }
    }

    /// The run, from its beginning.
    pub fn run(&self) -> Command {
        let mut command = self.scratch.command(ralph());
        command.args(["run", "Make three files", "--agent", "sim", "--verify", VERIFY, "--json"]);
        command.args([
            "--max-iterations",
            "20",
            "--max-cost",
            "10",
            "--",
            "--no-partial-messages",
            "--script",
        ]);
        command.arg(self.scratch.root().join("agent.sim"));
        command
    }

    /// Going on with it by its own command; the same `run` again would do so too.
    pub fn resume(&self) -> Command {
        let mut command = self.scratch.command(ralph());
        command.args(["resume", "--json"]);
        command
    }

    /// Where a process's output is kept.
    pub fn file(&self, name: &str) -> PathBuf {
        self.scratch.root().join(name)
    }

    /// Waits until nobody whom this case started is alive, and says how long that took.
    pub fn cleared(&self) -> Result<Duration, String> {
        cleared(&self.scratch)
    }

    /// The user's work is untouched and the agent's is complete; nothing else is there.
    pub fn workspace_is_right(&self) -> Result<(), String> {
        let (mut found, mut open) = (Vec::new(), vec![self.scratch.workspace()]);
        while let Some(dir) = open.pop() {
            for path in std::fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()) {
                let name =
                    path.strip_prefix(self.scratch.workspace()).unwrap().to_string_lossy().into_owned();
                match name.as_str() {
                    ".git" | ".ralph" => {}
                    _ if path.is_dir() => open.push(path),
                    _ => found.push((name.clone(), self.scratch.read(&name))),
                }
            }
        }
        found.sort();
        let wanted: Vec<_> = AFTER.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
        if found != wanted {
            return Err(format!("the workspace is not as it should be: {found:?}"));
        }
        if self.scratch.workspace().join(".git/hooks/post-commit").exists() {
            return Err("the hook is still there".into());
        }
        let git = |args: &[&str]| self.scratch.git(args);
        let untouched = git(&["rev-parse", "HEAD"]) == self.head
            && git(&["diff", "--cached", "--name-only"]).is_empty()
            && git(&["stash", "list"]).is_empty();
        untouched.then_some(()).ok_or_else(|| "HEAD, the index or the stash was touched".into())
    }
}

/// Waits until nobody who was started here is alive, and says how long that took.
pub fn cleared(scratch: &Scratch) -> Result<Duration, String> {
    let state = scratch.state();
    let since = Instant::now();
    loop {
        let alive = procs_with_tag("XDG_STATE_HOME", &state.to_string_lossy());
        if alive.is_empty() {
            return Ok(since.elapsed());
        }
        if since.elapsed() > SOON {
            return Err(format!("processes outlive ralph by {SOON:?}: {alive:?}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
