//! One process, as both sides of the seam describe it.

use rustix::process::Pid;

/// One process as the system describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: Pid,
    /// Its parent's number.
    pub parent: i32,
    /// Its group.
    pub group: i32,
    /// Its session; 0, like the group, if its leader lives outside this process namespace, or if the system does
    /// not tell.
    pub session: i32,
    /// False for a zombie, which is dead and only waits to be counted. (One whose first thread alone has
    /// ended looks like a zombie but lives on in the others.)
    pub alive: bool,
    /// It was stopped (SIGSTOP, Ctrl-Z) and does nothing until it is continued.
    pub stopped: bool,
    /// When it began; with the pid this names one process for good.
    pub began: u64,
    /// Milliseconds of its own work.
    pub(crate) own_ms: u64,
    /// Milliseconds of the children it has waited for.
    pub(crate) waited_ms: u64,
}
