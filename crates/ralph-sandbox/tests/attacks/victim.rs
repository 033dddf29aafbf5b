//! Somebody outside the sandbox who runs, listens and shares memory; see `victim.py`.

use crate::scene::Scene;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Victim {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    contacts: PathBuf,
    /// What an attack needs to know of it.
    pub facts: Value,
}

impl Victim {
    pub fn start(scene: &Scene) -> Victim {
        let (hidden, notes) = (scene.home().join(".ssh"), scene.base().join("notes"));
        let mut child = scene
            .command("python3")
            .args(["-c", include_str!("victim.py")])
            .args([notes.as_os_str(), scene.id.as_ref(), hidden.as_os_str()])
            .arg(format!("{}-argument", scene.secret()))
            .env("VICTIM_TOKEN", format!("{}-variable", scene.secret()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let facts = serde_json::from_str(&line).expect("the victim's facts");
        Victim { child, input, output, contacts: notes.join("contacts"), facts }
    }

    /// Everything that reached it, or its death.
    pub fn damage(&mut self) -> Vec<String> {
        let asked = self.input.as_mut().is_some_and(|input| input.write_all(b"look\n").is_ok());
        while asked && !self.has_answered() {
            // It may have been told to stop and not have come to it yet.
            if self.is_stopped() {
                return vec!["the process outside was stopped".into()];
            }
        }
        let mut answer = String::new();
        if !asked || self.output.read_line(&mut answer).is_err() || answer.is_empty() {
            return vec!["the process outside was ended".into()];
        }
        let came = fs::read_to_string(&self.contacts).unwrap_or_default();
        came.lines().map(|line| format!("outside was reached: {line}")).collect()
    }

    /// Whether there is an answer to read, or the end of all answers; after a short wait.
    fn has_answered(&self) -> bool {
        let mut fds = [PollFd::new(self.output.get_ref(), PollFlags::IN)];
        let wait = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        poll(&mut fds, Some(&wait)).is_ok_and(|ready| ready > 0)
    }

    fn is_stopped(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().to_lowercase().starts_with('t'))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // Its input ends: it removes what it shared and leaves. A stopped one could not.
        drop(self.input.take());
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
        if !self.child.wait().is_ok_and(|status| status.success()) {
            let facts = self.facts.to_string();
            let _ = Command::new("python3").args(["-c", include_str!("victim.py"), "tidy", &facts]).status();
        }
    }
}
