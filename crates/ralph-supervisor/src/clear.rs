//! The supervisor's hold on its tree: signals to everyone in it, and the sweep that leaves nobody alive.
//! Processes are found through `ralph-os`; `supervisor` decides when.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

/// Freezing is repeated until no newcomer is found, or this often against one that forks without end.
const MOST_FREEZES: usize = 32;

/// Everyone below this process.
#[derive(Debug)]
pub(crate) struct Tree {
    me: Pid,
    my_group: i32,
    /// Only then every group of the tree holds nobody but the tree.
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

    /// Asks everyone to end, parents first: an agent should hear it before it sees its tool die.
    pub(crate) fn terminate(&self) {
        for process in ralph_os::descendants(self.me) {
            let _ = kill_process(process.pid, Signal::TERM);
        }
    }

    /// Freezes everyone, newcomers included.
    pub(crate) fn stop(&self) {
        let mut stopped = HashSet::new();
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

    /// Lets everyone run again, children first, so that no parent waits for a frozen child.
    pub(crate) fn cont(&self) {
        for process in ralph_os::descendants(self.me).into_iter().rev() {
            let _ = kill_process(process.pid, Signal::CONT);
        }
    }

    /// Kills the group of a process that is not reaped yet, which keeps the number ours. A signal to a group
    /// reaches also the child that is being forked at this moment, which no list can: it ends a fork bomb
    /// in one stroke, before anyone has to be looked for.
    pub(crate) fn kill_group(&self, group: Pid) {
        let raw = group.as_raw_pid();
        if self.own_session && raw > 1 && raw != self.my_group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Kills everyone found now and says how many that were. Between the look and the signal lie
    /// microseconds, far too few for a pid to come round again.
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

    /// A child that was reaped during the sweep and had been killed by it unseen.
    pub(crate) fn was_killed(&mut self, pid: Pid) {
        self.killed.insert(pid);
    }

    /// How many were killed, the program itself not counted.
    pub(crate) fn killed_besides(&self, program: Pid) -> u32 {
        let besides = self.killed.iter().filter(|pid| **pid != program).count();
        u32::try_from(besides).unwrap_or(u32::MAX)
    }
}
