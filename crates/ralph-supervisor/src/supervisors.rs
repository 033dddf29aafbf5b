//! The supervisors that this process has started and not waited for yet. The list is process-wide because adoption is:
//! orphans of a supervisor that was killed become children of this process, whichever run they belong to, and only this
//! list tells them from a supervisor at work.

use std::collections::HashSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

static LIVING: Mutex<Option<HashSet<Pid>>> = Mutex::new(None);

/// The living supervisors, held so that none comes or goes meanwhile.
pub(crate) struct Living(MutexGuard<'static, Option<HashSet<Pid>>>);

/// Takes the list.
pub(crate) fn living() -> Living {
    Living(LIVING.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Living {
    /// The process ids.
    pub(crate) fn pids(&self) -> impl Iterator<Item = Pid> + '_ {
        self.0.iter().flatten().copied()
    }

    pub(crate) fn contains(&self, pid: Pid) -> bool {
        self.0.as_ref().is_some_and(|all| all.contains(&pid))
    }
}

/// Starts a supervisor. From the first one on, this process adopts what a killed one leaves.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut living = living();
    // Refused only where a filter of system calls is broken; the supervisor then cannot adopt either, and says so.
    let _ = ralph_os::adopt_orphans();
    let child = command.spawn()?;
    living.0.get_or_insert_default().insert(Pid::from_child(&child));
    Ok(child)
}

/// Ends a supervisor that has done its work or does not answer, and forgets it. It takes SIGKILL even if it is stopped.
pub(crate) fn bury(supervisor: &mut Child) {
    let mut living = living();
    let _ = supervisor.kill();
    let _ = supervisor.wait();
    // Only now: as long as it is not waited for, its number is not given to another process.
    living.0.get_or_insert_default().remove(&Pid::from_child(supervisor));
}

/// True if the supervisor was stopped since this was last asked. Nobody but its own program has reason to stop it.
pub(crate) fn was_stopped(supervisor: Pid) -> bool {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
    waitid(WaitId::Pid(supervisor), options).is_ok_and(|stopped| stopped.is_some())
}

/// Ends the trees of supervisors that are stopped. Called before ralph exits at once: a supervisor is continued when its
/// parent is gone, but its program may stop it again.
pub fn end_stopped() {
    let living = living();
    let is_stopped = |pid: &Pid| ralph_os::read_process(*pid).is_some_and(|process| process.stopped);
    let stopped: HashSet<Pid> = living.pids().filter(is_stopped).collect();
    for pid in &stopped {
        let _ = kill_process(*pid, Signal::KILL);
    }
    if !stopped.is_empty() {
        let _ = crate::strays::end(&living);
    }
}
