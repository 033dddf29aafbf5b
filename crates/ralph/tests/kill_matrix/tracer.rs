//! Runs a program and kills it right before a system call of our choice. Every thread of the process is watched, the
//! processes it starts are not: they must find out by themselves. A call that is not made leaves what came before.

use crate::ptrace;
use rustix::process::{Pid, Signal, WaitStatus, kill_process};
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// The calls at which a process may be killed: all that change a file, start something, or end it.
const CALLS: &[(i64, &str)] = &[
    (libc::SYS_write, "write"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_pwritev, "pwritev"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_ftruncate, "ftruncate"),
    (libc::SYS_fallocate, "fallocate"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rename, "rename"),
    (libc::SYS_renameat, "renameat"),
    (libc::SYS_renameat2, "renameat2"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_unlink, "unlink"),
    (libc::SYS_unlinkat, "unlinkat"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_rmdir, "rmdir"),
    (libc::SYS_symlinkat, "symlinkat"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, "chmod"),
    (libc::SYS_fchmod, "fchmod"),
    (libc::SYS_fchmodat, "fchmodat"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, "mkdir"),
    (libc::SYS_mkdirat, "mkdirat"),
    (libc::SYS_mknodat, "mknodat"),
    (libc::SYS_clone, "clone"),
    (libc::SYS_clone3, "clone3"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_vfork, "vfork"),
    (libc::SYS_exit_group, "exit_group"),
];

/// The n-th time that a thread of this name makes this call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    thread: String,
    call: &'static str,
    n: u32,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} of thread {}", self.call, self.n, self.thread)
    }
}

impl Point {
    /// The process waits here until what it wrote is on the disk: a record is written right before and after.
    pub fn is_sync(&self) -> bool {
        matches!(self.call, "fsync" | "fdatasync")
    }
}

/// When to kill.
#[derive(Clone, Debug)]
pub enum When {
    /// Not at all.
    Never,
    /// At this point.
    At(Point),
    /// At the n-th point, whichever it is.
    Nth(usize),
}

/// A process that was traced to its end.
pub struct Traced {
    /// The points it came to, in order.
    pub points: Vec<Point>,
    /// The process ended so.
    pub status: ExitStatus,
}

impl Traced {
    /// It was killed, not through by itself.
    pub fn was_killed(&self) -> bool {
        self.status.signal() == Some(libc::SIGKILL)
    }
}

/// Runs the command to its end or to the kill; its output goes to the files.
pub fn trace(command: &Command, out: &Path, err: &Path, when: &When) -> Traced {
    let process = start(command, out, err);
    let (mut points, mut counts) = (Vec::new(), HashMap::<(String, &str), u32>::new());
    while let Some((thread, status)) = ptrace::next_stop() {
        if !status.stopped() {
            if thread == process {
                return Traced { points, status: ended(status) };
            }
            continue;
        }
        if let Some(call) = call_at(thread, status) {
            let name = name_of(process, thread);
            let n = counts.entry((name.clone(), call)).and_modify(|n| *n += 1).or_insert(1);
            points.push(Point { thread: name, call, n: *n });
            let due = match when {
                When::Never => false,
                When::At(point) => points.last() == Some(point),
                When::Nth(nth) => points.len() == *nth,
            };
            if due {
                let _ = kill_process(process, Signal::KILL);
            }
        }
        ptrace::go_on(thread, signal_of(status));
    }
    panic!("the traced process vanished");
}

/// A shell waits until it is traced, then becomes the program.
#[allow(clippy::zombie_processes)] // `trace` hears of its end itself
fn start(command: &Command, out: &Path, err: &Path) -> Pid {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "read go; exec \"$@\" </dev/null", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().expect("a directory to run in"));
    let file = |path: &Path| File::create(path).expect("a file for its output");
    let mut child =
        shell.stdin(Stdio::piped()).stdout(file(out)).stderr(file(err)).spawn().expect("a shell starts");
    let process = Pid::from_child(&child);
    if let Err(error) = ptrace::seize(process) {
        let _ = child.kill();
        panic!(
            "this machine does not let a test trace its own child ({error}), so the kill matrix cannot run; \
             allow ptrace (in a container: --cap-add SYS_PTRACE)"
        );
    }
    child.stdin.take().expect("its stdin").write_all(b"\n").expect("it waits");
    process
}

fn call_at(thread: Pid, status: WaitStatus) -> Option<&'static str> {
    if status.stopping_signal() != Some(ptrace::AT_CALL) {
        return None;
    }
    let number = ptrace::call_begun(thread)?;
    CALLS.iter().find(|(call, _)| *call == number).map(|(_, name)| *name)
}

/// The signal that a stop was about; a stop of the tracing itself is about none.
fn signal_of(status: WaitStatus) -> i32 {
    let event = status.as_raw() >> 16;
    match status.stopping_signal() {
        Some(ptrace::AT_CALL) | None => 0,
        Some(_) if event != 0 => 0,
        Some(signal) => signal,
    }
}

fn name_of(process: Pid, thread: Pid) -> String {
    let path = format!("/proc/{}/task/{}/comm", process.as_raw_pid(), thread.as_raw_pid());
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn ended(status: WaitStatus) -> ExitStatus {
    ExitStatus::from_raw(status.as_raw())
}
