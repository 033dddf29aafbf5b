//! A command of ralph's under way, and what came of it.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a test waits for anything; only a broken run on a busy machine takes so long.
const PATIENCE: Duration = Duration::from_secs(360);

/// Waits until something is there.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A command under way; it does not outlive the test.
pub struct Live {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Live {
    /// Starts it; its output goes into files below `root`.
    pub fn of(mut command: Command, root: &Path) -> Live {
        let (out, err) = (root.join("live.out"), root.join("live.err"));
        let file = |path| File::create(path).unwrap();
        command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
        Live { child: command.spawn().unwrap(), out, err }
    }

    /// Ends it as a power cut would.
    pub fn kill(self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
        assert_eq!(self.end().code, 128 + 9);
    }

    /// Waits for a call that failed; its class.
    pub fn awaits_failure(&mut self) -> String {
        until("a failed call", || {
            let ended = self.child.try_wait().unwrap();
            let so_far = self.so_far(0);
            let class =
                so_far.calls().iter().find_map(|call| Some(call["failure"]["class"].as_str()?.to_owned()));
            assert!(class.is_some() || ended.is_none(), "no call failed\n{}", so_far.story());
            class
        })
    }

    /// Waits until the file is there.
    pub fn awaits_file(&mut self, file: &Path) {
        until("a file of the agent's", || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "the run ended before\n{}", self.so_far(0).story());
            file.exists().then_some(())
        });
    }

    /// Waits for its end.
    pub fn end(mut self) -> Done {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return self.so_far(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
            }
            assert!(since.elapsed() < PATIENCE, "the run does not end\n{}", self.so_far(0).story());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What a person needs to see when a test fails.
    pub fn story(&self) -> String {
        self.so_far(0).story()
    }

    fn so_far(&self, code: i32) -> Done {
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        Done { code, out: text(&self.out), err: text(&self.err) }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that ended.
pub struct Done {
    pub code: i32,
    out: String,
    err: String,
}

impl Done {
    /// Exit code and reason; the result.
    #[track_caller]
    pub fn ends(&self, code: i32, reason: &str) -> Value {
        assert_eq!(self.code, code, "exit code\n{}", self.story());
        let result = self.lines().last().unwrap_or_default();
        assert_eq!(result["type"], "result", "no result\n{}", self.story());
        assert_eq!(result["reason"], reason, "reason\n{}", self.story());
        result
    }

    /// What it printed.
    pub fn out(&self) -> &str {
        &self.out
    }

    /// How its calls closed.
    pub fn calls(&self) -> Vec<Value> {
        self.records("call_ended")
    }

    /// The bodies of the records of one kind.
    pub fn records(&self, kind: &str) -> Vec<Value> {
        let lines = self.lines().filter(|line| line["type"] == "record" && line["kind"] == kind);
        lines.map(|line| line["body"].clone()).collect()
    }

    /// When the records of one kind were written, in milliseconds.
    pub fn times(&self, kind: &str) -> Vec<i64> {
        let lines = self.lines().filter(|line| line["type"] == "record" && line["kind"] == kind);
        lines.map(|line| line["at"].as_i64().unwrap()).collect()
    }

    /// The class of every failed call.
    pub fn failures(&self) -> Vec<String> {
        let classes =
            self.calls().into_iter().map(|call| call["failure"]["class"].as_str().map(str::to_owned));
        classes.flatten().collect()
    }

    /// What a person needs to see when a test fails.
    pub fn story(&self) -> String {
        let calls: Vec<String> = self.calls().iter().map(|call| format!("call: {call}\n")).collect();
        format!("{}\n{}", calls.concat(), self.err)
    }

    fn lines(&self) -> impl Iterator<Item = Value> + '_ {
        self.out.lines().filter_map(|line| serde_json::from_str(line).ok())
    }
}
