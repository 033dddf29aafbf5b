//! Where ralph runs: a scratch workspace and state, ceilings out of the way, and the newest run's records and files.

use ralph_testkit::Scratch;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const CONFIG: &str = "\
[ceilings]
max_iterations = 20000
max_cost_usd = 100000.0
daily_cost_usd = 100000.0
";

/// The task every run is given.
pub const TASK: &str = "Keep the note up to date.";

/// The binary under test: `RALPH_BIN`, else the one built beside this example.
pub fn binary() -> PathBuf {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("ralph"));
    let path = std::env::var_os("RALPH_BIN").map(PathBuf::from).or_else(beside).unwrap();
    assert!(path.is_file(), "{} is not there: cargo build --release -p ralph", path.display());
    path
}

/// A place to run in.
pub struct Place {
    /// The directories.
    pub scratch: Scratch,
    binary: PathBuf,
}

impl Place {
    /// A git repository of so many files, twenty a directory, one commit.
    pub fn new(binary: &Path, files: usize) -> Place {
        let scratch = Scratch::git_repo();
        for n in 0..files {
            let dir = scratch.workspace().join(format!("part{}/module{}", n / 400, n / 20));
            if n % 20 == 0 {
                std::fs::create_dir_all(&dir).unwrap();
            }
            std::fs::write(dir.join(format!("source_{n}.rs")), format!("fn f() -> u32 {{ {n} }}\n")).unwrap();
        }
        std::fs::write(scratch.workspace().join("note.txt"), "start\n").unwrap();
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "Files"]);
        std::fs::create_dir(scratch.root().join("config/ralph")).unwrap();
        std::fs::write(scratch.root().join("config/ralph/config.toml"), CONFIG).unwrap();
        Place { scratch, binary: binary.to_path_buf() }
    }

    /// A file beside the workspace.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.scratch.root().join(name)
    }

    /// A script for bash, beside the workspace.
    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.beside(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// `ralph run …` with this program as the agent; `through` is a program that runs it, such as strace.
    pub fn run(&self, through: &[&str], iterations: u32, verify: &[&str], agent: &[&str]) -> Command {
        let iterations = iterations.to_string();
        let mut line: Vec<&str> = through.to_vec();
        let binary = self.binary.to_string_lossy();
        line.extend([&*binary, "run", TASK, "--fresh", "--quiet", "--agent", "command"]);
        line.extend(["--max-cost", "100000", "--calls-per-hour", "0", "--max-iterations", &iterations]);
        line.extend(verify.iter().flat_map(|command| ["--verify", command]));
        line.push("--");
        line.extend(agent);
        let mut command = self.scratch.command(line.first().unwrap());
        command.args(line.iter().skip(1)).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(std::fs::File::create(self.beside("said")).unwrap());
        command
    }

    /// Runs it through all its iterations; peak memory of ralph itself, in MB.
    pub fn finish(&self, mut command: Command, iterations: u32) -> f64 {
        let peak = Place::watch(command.spawn().unwrap());
        let said = std::fs::read_to_string(self.beside("said")).unwrap();
        let all = format!(" {iterations} of at most {iterations}\n");
        assert!(said.contains(&all), "the run did not go as planned:\n{said}");
        peak
    }

    /// The kernel keeps the peak; it is gone with the process, so it is read again and again.
    pub fn watch(mut child: Child) -> f64 {
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0.0_f64;
        while child.try_wait().unwrap().is_none() {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<f64>().ok());
            peak = peak.max(kib.unwrap_or_default() * 1024.0 / 1e6);
            std::thread::sleep(Duration::from_millis(4));
        }
        peak
    }

    /// The newest run's records.
    pub fn records(&self) -> Vec<Value> {
        let output = self.scratch.command(&self.binary).args(["explain", "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The newest run's folder.
    pub fn folder(&self) -> PathBuf {
        let runs = std::fs::read_dir(self.scratch.state().join("ralph/runs")).unwrap();
        // Ids are ordered by time.
        runs.map(|entry| entry.unwrap().path()).max().unwrap()
    }
}
