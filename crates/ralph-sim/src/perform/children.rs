//! Processes that outlive the call. There is no fork in safe Rust, so the program starts itself again with a hidden
//! argument, and that one leaves the session.

use super::Performer;
use super::tools::bash;
use crate::output::Answer;
use rustix::process::{Pid, Signal, getpid, kill_process, setsid};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The argument by which the program becomes such a child.
pub const CHILD: &str = "--agent-sim-child";

/// How a child gets away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its parent ends at once, so that it has none; it holds stdout.
    Daemon,
    /// In a session of its own, but still the agent's child.
    OwnSession,
}

impl Kind {
    /// The word for it on the command line.
    fn word(self) -> &'static str {
        match self {
            Kind::Daemon => "daemon",
            Kind::OwnSession => "own-session",
        }
    }

    /// Reads the word.
    pub fn read(word: &OsStr) -> Option<Kind> {
        [Kind::Daemon, Kind::OwnSession].into_iter().find(|kind| word == kind.word())
    }
}

impl Performer<'_> {
    /// Starts a command that outlives the agent, shown as a background command.
    pub fn detach(&mut self, kind: Kind, command: &str) {
        let again = self.given.self_command.clone();
        self.tool("Bash", bash(&format!("{command} &")), || match start(&again, kind, command) {
            Ok(()) => Answer::good("started in the background"),
            Err(error) => Answer::bad(format!("the command could not be started: {error}")),
        });
    }
}

fn start(again: &[OsString], kind: Kind, command: &str) -> std::io::Result<()> {
    let mut child = Command::new(std::env::current_exe()?);
    child.args(again).args([CHILD, kind.word(), command]).stdin(Stdio::null());
    match kind {
        Kind::Daemon => child.status().map(drop),
        Kind::OwnSession => {
            let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
            wait_for_session(&child);
            Ok(())
        }
    }
}

/// The child is away only when it leads its session; a script that ends before that would prove nothing.
fn wait_for_session(child: &Child) {
    let pid = child.id();
    for _ in 0..1000 {
        match session_of(pid) {
            Some(session) if session != pid => thread::sleep(Duration::from_millis(2)),
            _ => return,
        }
    }
}

/// Not `getsid`: it answers 0, which is no process id, when the leader lives outside this process namespace.
fn session_of(pid: u32) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    ralph_os::read_process(pid).map(|process| process.session.unsigned_abs())
}

/// The life of such a child: leave the session, then be the command or leave it behind.
pub fn become_child(kind: Kind, command: &OsStr) -> u8 {
    let left = setsid();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    let started = match kind {
        Kind::Daemon => shell.spawn().is_ok(),
        Kind::OwnSession => {
            let _never_came_back = shell.exec();
            false
        }
    };
    u8::from(left.is_err() || !started)
}

/// The agent is killed by itself, as by the kernel when memory runs out.
pub fn die() -> u8 {
    let _ = kill_process(getpid(), Signal::KILL);
    137
}
