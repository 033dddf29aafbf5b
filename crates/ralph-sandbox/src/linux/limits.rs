//! How many processes and how much memory a program may have.

use ralph_rules::record::NOT_LIMITED;
use std::io;

use rustix::process::{Pid, Resource, Rlimit, getuid, setrlimit};

use super::cgroups::{Cgroup, Controller};
use crate::Plan;

/// The first process and the box count too.
const OWN_PROCESSES: u64 = 2;

/// What counts the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountedBy {
    /// A namespace of the program's own.
    Namespace,
    /// A control group.
    Cgroup,
}

/// What counts processes in namespaces of ralph's own. The kernel counts an ordinary user's in the user namespace. Root's it
/// does not, but since Linux 6.14 a pid namespace has a highest pid of its own, which is as good and sooner made than a
/// control group.
pub(super) fn counted_in_namespaces() -> CountedBy {
    if getuid().is_root() && !pid_max_is_per_namespace() { CountedBy::Cgroup } else { CountedBy::Namespace }
}

/// What counts processes in a user namespace that somebody else made.
pub(super) fn counted_in_user_namespace() -> CountedBy {
    if getuid().is_root() { CountedBy::Cgroup } else { CountedBy::Namespace }
}

/// Whether setting the highest pid changes it for this pid namespace alone, and the low ones can be passed over.
pub(super) fn pid_max_is_per_namespace() -> bool {
    let new_enough = version(&rustix::system::uname().release().to_string_lossy()) >= Some((6, 14));
    new_enough && std::path::Path::new(LAST_PID).exists()
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|it: char| !it.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The kernel gives out no lower ones once it has come round.
const RESERVED_PIDS: u64 = 300;
/// The pid after which the kernel looks for the next one.
const LAST_PID: &str = "/proc/sys/kernel/ns_last_pid";

/// Sets the highest pid of this namespace, of which this is the first process.
pub(super) fn limit_pids(most: u64) -> io::Result<()> {
    let highest = most.saturating_add(OWN_PROCESSES + RESERVED_PIDS);
    let file = "/proc/sys/kernel/pid_max";
    let now: u64 = std::fs::read_to_string(file)?.trim().parse().unwrap_or(u64::MAX);
    if highest >= now {
        return Ok(());
    }
    std::fs::write(file, highest.to_string())?;
    // In a new namespace the low ones would be given out once, and so many processes more could live.
    std::fs::write(LAST_PID, RESERVED_PIDS.to_string())
}

/// The control groups of a box.
#[derive(Debug)]
pub(super) struct Limits(Vec<Cgroup>);

impl Limits {
    /// Makes the control groups that are needed and can be had, and says what is not limited.
    pub fn prepare(plan: &Plan, processes: CountedBy) -> (Limits, Vec<String>) {
        let mut wanted = Vec::new();
        if plan.processes > 0 && processes == CountedBy::Cgroup {
            wanted.push((Controller::Pids, plan.processes));
        }
        if plan.memory > 0 {
            wanted.push((Controller::Memory, plan.memory));
        }
        let (groups, missing) = Cgroup::make(&wanted);
        let note =
            |(controller, why): (Controller, String)| format!("{}{NOT_LIMITED}{why}", controller.what());
        (Limits(groups), missing.into_iter().map(note).collect())
    }

    /// Puts the first process, and so all that it starts, under the limits.
    pub fn admit(&self, first: Pid) -> io::Result<()> {
        self.0.iter().try_for_each(|group| group.admit(first))
    }

    /// Removes the groups, when everybody in them is dead.
    pub fn remove(self) {
        self.0.into_iter().for_each(Cgroup::remove);
    }
}

/// No core dumps of this process and all that it starts.
pub(super) fn dump_no_core() -> io::Result<()> {
    // 1 instead of 0 also keeps a dump from being piped to a program outside.
    both(Resource::Core, 1)
}

/// Most processes in this user namespace, for all that this process starts.
pub(super) fn limit_processes(most: u64) -> io::Result<()> {
    both(Resource::Nproc, most.saturating_add(OWN_PROCESSES))
}

fn both(resource: Resource, most: u64) -> io::Result<()> {
    let allowed = rustix::process::getrlimit(resource).maximum;
    let most = allowed.map_or(most, |allowed| allowed.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_compared_by_number() {
        assert_eq!(version("6.18.44-generic"), Some((6, 18)));
        assert_eq!(version("5.4.0"), Some((5, 4)));
        assert_eq!(version("6.14-rc1"), Some((6, 14)));
        assert!(version("6.9.1") < Some((6, 14)));
        assert_eq!(version("odd"), None);
    }
}
