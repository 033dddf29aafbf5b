//! A place to run the real binary in: a repository, a scripted agent, and what came of it. `Live` is a run under way.

use ralph_testkit::{Scratch, procs_with_tag};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a test waits for something that should come at once; only a broken run takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// The binary under test and its surroundings.
pub struct Bed {
    pub scratch: Scratch,
}

impl Bed {
    /// A git repository with this script for the agent.
    pub fn git(script: &str) -> Bed {
        Bed::with(Scratch::git_repo(), script)
    }

    /// A plain directory.
    pub fn plain(script: &str) -> Bed {
        Bed::with(Scratch::new(), script)
    }

    fn with(scratch: Scratch, script: &str) -> Bed {
        let bed = Bed { scratch };
        bed.script(script);
        bed
    }

    /// Gives the agent another script.
    pub fn script(&self, script: &str) {
        fs::write(self.script_path(), script).unwrap();
    }

    fn script_path(&self) -> PathBuf {
        self.scratch.root().join("agent.sim")
    }

    /// A command of ralph's.
    pub fn ralph(&self, args: &[&str]) -> Command {
        // Whoever runs the tests may ignore SIGHUP (nohup), and ralph then rightly does so too.
        let mut command = self.scratch.command("env");
        command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_ralph")]).args(args);
        command
    }

    /// `ralph run` with a task, the scripted agent and JSON; later flags of the same name are the test's own.
    pub fn run(&self, flags: &[&str]) -> Command {
        let mut command = self.untasked(flags);
        command.arg("--prompt").arg(self.scratch.root().join("task.md"));
        fs::write(self.scratch.root().join("task.md"), "Do the work\n").unwrap();
        self.with_agent(command)
    }

    /// The same without a task.
    pub fn run_without_task(&self, flags: &[&str]) -> Command {
        self.with_agent(self.untasked(flags))
    }

    fn untasked(&self, flags: &[&str]) -> Command {
        let mut command = self.ralph(&["run", "--agent", "sim", "--json"]);
        for (flag, value) in [("--max-iterations", "5"), ("--max-cost", "5")] {
            if !flags.contains(&flag) {
                command.args([flag, value]);
            }
        }
        command.args(flags);
        command
    }

    fn with_agent(&self, mut command: Command) -> Command {
        command.args(["--", "--no-partial-messages", "--script"]).arg(self.script_path());
        command.arg("--calls").arg(self.scratch.root().join("calls"));
        command
    }

    /// Runs it to its end.
    pub fn done(&self, flags: &[&str]) -> Done {
        Done::of(&mut self.run(flags))
    }

    /// Starts it and lets it run.
    pub fn start(&self, flags: &[&str]) -> Live {
        Live::of(&mut self.run(flags), self.scratch.root())
    }

    /// Nobody whom ralph started here is alive any more, at the latest soon.
    pub fn nobody_is_left(&self) {
        let state = self.scratch.state();
        until("a process outlives ralph", || {
            procs_with_tag("XDG_STATE_HOME", &state.to_string_lossy()).is_empty().then_some(())
        });
    }

    /// Every file below ralph's state directory.
    pub fn state_files(&self) -> Vec<PathBuf> {
        let (mut files, mut dirs) = (Vec::new(), vec![self.scratch.state()]);
        while let Some(dir) = dirs.pop() {
            for path in fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()) {
                if path.is_dir() { dirs.push(path) } else { files.push(path) }
            }
        }
        files
    }

    /// The prompts of all calls, in order.
    #[allow(dead_code)] // not every test file reads them
    pub fn prompts(&self) -> Vec<String> {
        let mut files = self.state_files();
        files.retain(|file| file.to_string_lossy().ends_with(".prompt.md"));
        files.sort();
        files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
    }

    /// What a command prints on stdout.
    #[allow(dead_code)] // not every test file asks
    pub fn says(&self, args: &[&str]) -> String {
        String::from_utf8(self.ralph(args).output().unwrap().stdout).unwrap()
    }

    /// Where the workspace's own contents are kept, for `ralph undo`.
    pub fn kept(&self) -> PathBuf {
        self.scratch.state().join("ralph/keep")
    }

    /// A file of the workspace is there.
    pub fn awaits(&self, name: &str) {
        until(name, || self.scratch.workspace().join(name).exists().then_some(()));
    }

    /// A file of the run holds these words.
    pub fn awaits_output(&self, name: &str, words: &str) {
        let named = |file: &PathBuf| file.file_name().is_some_and(|it| it == name);
        until(words, || {
            let text = fs::read_to_string(self.state_files().iter().find(|file| named(file))?).ok()?;
            text.contains(words).then_some(())
        });
    }

    /// Makes an empty file in the workspace.
    pub fn touch(&self, name: &str) {
        File::create(self.scratch.workspace().join(name)).unwrap();
    }
}

/// A command that ended.
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Done {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Done {
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Done { code: code(output.status), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The result, which is the last line.
    pub fn result(&self) -> Value {
        let last = self.out.lines().last().unwrap_or_default();
        let result: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("no result: {}", self.err));
        assert_eq!(result["type"], "result", "{}", self.err);
        assert_eq!(result["exitCode"], self.code, "{}", self.err);
        result
    }

    /// Exit code and reason.
    #[track_caller]
    pub fn ends(&self, code: i32, reason: &str) -> Value {
        assert_eq!(self.code, code, "{}\n{}", self.err, self.out.lines().last().unwrap_or_default());
        let result = self.result();
        assert_eq!(result["reason"], reason, "{}", self.err);
        result
    }

    /// The bodies of the records of one kind.
    pub fn records(&self, kind: &str) -> Vec<Value> {
        let lines = self.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .filter(|line| line["type"] == "record" && line["kind"] == kind)
            .map(|line| line["body"].clone())
            .collect()
    }

    /// The one call that was made.
    #[track_caller]
    pub fn call(&self) -> Value {
        let calls = self.records("call_ended");
        assert_eq!(calls.len(), 1, "{}", self.err);
        calls[0].clone()
    }
}

/// A run under way; it does not outlive the test.
pub struct Live {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Live {
    fn of(command: &mut Command, root: &std::path::Path) -> Live {
        let (out, err) = (root.join("live.out"), root.join("live.err"));
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        Live { child, out, err }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until a record of this kind was written.
    pub fn awaits(&self, kind: &str) {
        let wanted = format!("\"kind\":\"{kind}\"");
        until(kind, || fs::read_to_string(&self.out).unwrap().contains(&wanted).then_some(()));
    }

    /// It has not ended.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    pub fn end(mut self) -> Done {
        let status = until("the end of the run", || self.child.try_wait().unwrap());
        let text = |path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        Done { code: code(status), out: text(&self.out), err: text(&self.err) }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// As a shell tells it: a signal is 128 and its number.
fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
