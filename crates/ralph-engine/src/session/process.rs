//! The process of a session: who called the hook. Shells between the client and the hook are not the session.

use rustix::process::{Pid, getpid};
use serde::{Deserialize, Serialize};

/// Programs that clients run hooks with.
const BETWEEN: &[&str] =
    &["sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "busybox", "env", "timeout", "nice"];

/// One process, named for good: its id alone is given to another one later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionProcess {
    /// Its number; 0 if it was not found.
    pub pid: u32,
    /// When it began.
    pub began: u64,
    /// The boot of the machine that it runs in.
    pub boot: String,
}

impl SessionProcess {
    /// The process that called this one as a hook.
    pub fn of_caller() -> SessionProcess {
        let above = ralph_os::with_ancestors(getpid()).into_iter().skip(1);
        let mut callers = above.filter(|pid| pid.as_raw_pid() > 1).filter(|pid| !is_between(*pid));
        let found = callers.next().and_then(ralph_os::read_process);
        found.map_or_else(SessionProcess::default, |process| SessionProcess {
            pid: process.pid.as_raw_pid().unsigned_abs(),
            began: process.began,
            boot: ralph_os::boot(),
        })
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().filter(|pid| *pid > 0).and_then(Pid::from_raw);
        let found = pid.and_then(ralph_os::read_process);
        found.is_some_and(|process| process.alive && process.began == self.began)
            && self.boot == ralph_os::boot()
    }
}

fn is_between(pid: Pid) -> bool {
    ralph_os::program_name(pid).is_some_and(|name| BETWEEN.contains(&name.as_str()))
}
