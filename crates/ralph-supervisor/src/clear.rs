//! Signals to a process tree, and the sweep that kills every process in it. Processes are found through `ralph-os`;
//! `supervisor` decides when.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

/// Freezing is repeated until no new process is found, at most this often if one forks without end.
const MOST_FREEZES: usize = 32;

/// All processes below this one.
#[derive(Debug)]
pub(crate) struct Tree {
    me: Pid,
    my_group: i32,
    /// Only then do the process groups in the tree contain no other processes.
    own_session: bool,
    killed: HashSet<Pid>,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let me = getpid();
        // Not `getpgrp` and `getsid`: they answer 0, which is no process id, when the leader lives outside
        // this process namespace, as in a container entered from outside.
        let (my_group, my_session) = ralph_os::read_process(me).map_or((0, 0), |it| (it.group, it.session));
        Self { me, my_group, own_session: my_session == me.as_raw_pid(), killed: HashSet::new() }
    }

    /// Sends SIGTERM to all but these, parents first: an agent should receive it before it sees its tool die.
    pub(crate) fn terminate(&self, spared: &[Pid]) {
        for process in ralph_os::descendants(self.me) {
            if spared.contains(&process.pid) {
                continue;
            }
            let _ = kill_process(process.pid, Signal::TERM);
        }
    }

    /// Stops all processes but these, including new ones.
    pub(crate) fn stop(&self, spared: &[Pid]) {
        let mut stopped: HashSet<Pid> = spared.iter().copied().collect();
        for _ in 0..MOST_FREEZES {
            let before = stopped.len();
            for process in ralph_os::descendants(self.me) {
                if stopped.insert(process.pid) {
                    let _ = kill_process(process.pid, Signal::STOP);
                }
            }
            if stopped.len() == before {
                return;
            }
        }
    }

    /// Continues all processes, children first, so that no parent waits for a stopped child.
    pub(crate) fn cont(&self) {
        for process in ralph_os::descendants(self.me).into_iter().rev() {
            let _ = kill_process(process.pid, Signal::CONT);
        }
    }

    /// Kills the group of a process that is not reaped yet, so that its number cannot have been reused. A signal to a
    /// group also reaches a child that is being forked at this moment, which no list of processes can: it ends a fork
    /// bomb at once.
    pub(crate) fn kill_group(&self, group: Pid) {
        let raw = group.as_raw_pid();
        if self.own_session && raw > 1 && raw != self.my_group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Kills all processes found now and returns how many. Microseconds pass between finding and killing, far too few
    /// for a pid to be reused.
    pub(crate) fn kill(&mut self) -> usize {
        let (mut groups, mut found) = (HashSet::new(), Vec::new());
        ralph_os::each_descendant(self.me, |process| {
            if groups.insert(process.group)
                && let Some(group) = Pid::from_raw(process.group)
            {
                self.kill_group(group);
            }
            let _ = kill_process(process.pid, Signal::KILL);
            found.push(process.pid);
        });
        self.killed.extend(&found);
        found.len()
    }

    /// Counts a child that was killed by the sweep and reaped before it was listed.
    pub(crate) fn was_killed(&mut self, pid: Pid) {
        self.killed.insert(pid);
    }

    /// How many were killed, these not counted.
    pub(crate) fn killed_besides(&self, own: &[Pid]) -> u32 {
        let besides = self.killed.iter().filter(|pid| !own.contains(pid)).count();
        u32::try_from(besides).unwrap_or(u32::MAX)
    }
}
