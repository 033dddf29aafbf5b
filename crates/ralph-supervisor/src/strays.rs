//! Ends what a killed supervisor leaves. Its orphans become children of this process (`ralph_os::adopt_orphans`), also
//! those that left its session and emptied their environment. They are told from the programs this process runs itself
//! by their session: a supervisor begins a session of its own before its program starts, and no process can join one
//! that exists.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use ralph_os::Process;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, waitid};

use crate::supervisors::Living;

/// After this long, processes that cannot be killed are counted as left.
const PATIENCE: Duration = Duration::from_secs(5);
const FIRST_REST: Duration = Duration::from_millis(1);
const LONGEST_REST: Duration = Duration::from_millis(20);

/// What was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Strays {
    /// Processes that were killed.
    pub(crate) killed: u32,
    /// Processes that withstood it.
    pub(crate) left: u32,
}

/// Kills all strays with everything below them until none is left, and waits for them: nobody else does.
pub(crate) fn end(living: &Living) -> Strays {
    let mut killed = HashSet::new();
    if !ralph_os::ADOPTS {
        return Strays::default();
    }
    let (since, mut rest) = (Instant::now(), FIRST_REST);
    loop {
        let strays = strays(living);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        if strays.is_empty() || since.elapsed() > PATIENCE {
            let left = strays.iter().filter(|stray| stray.alive).count();
            return Strays { killed: count(killed.len()), left: count(left) };
        }
        for stray in strays {
            if stray.alive {
                kill_tree(&stray, &mut killed);
            }
            // Only this one: others may wait for other children of this process.
            let _ = waitid(WaitId::Pid(stray.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
        std::thread::sleep(rest);
        rest = LONGEST_REST.min(rest * 2);
    }
}

fn strays(living: &Living) -> Vec<Process> {
    let me = getpid();
    let Some(ours) = ralph_os::read_process(me).map(|it| it.session) else { return Vec::new() };
    let mut strays = ralph_os::children(me);
    strays.retain(|child| child.session != ours && !living.contains(child.pid));
    strays
}

/// Kills groups as a whole: that also reaches a child that is being forked at this moment. No group reaches beyond its
/// session, so none holds a process that is not below the stray.
fn kill_tree(stray: &Process, killed: &mut HashSet<Pid>) {
    let mut groups = HashSet::new();
    let mut kill = |process: Process| {
        if groups.insert(process.group)
            && let Some(group) = Pid::from_raw(process.group).filter(|group| group.as_raw_pid() > 1)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = kill_process(process.pid, Signal::KILL);
        killed.insert(process.pid);
    };
    // Those below first: whoever loses its parent now comes to us, but is found sooner this way.
    ralph_os::descendants(stray.pid).into_iter().rev().for_each(&mut kill);
    kill(*stray);
}
