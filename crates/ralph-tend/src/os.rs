//! The seam to the operating system: what only Linux has (the subreaper, /proc, pipe sizes) is here and
//! nowhere else. Another system needs these functions and none of the other files changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::io;
use rustix::process::{Pid, PidfdFlags, Signal};

/// Orphans below this process become its children, also those that left its session.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
}

/// Asks for a roomier pipe; a refusal only costs speed.
pub(crate) fn widen(pipe: impl AsFd, bytes: usize) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, bytes);
}

/// One process as the kernel describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    /// 0, like the group, if its leader lives outside this process namespace.
    pub(crate) session: i32,
    /// False for a zombie, which is dead and only waits to be counted. (One whose first thread alone has
    /// ended looks like a zombie but lives on in the others.)
    pub(crate) alive: bool,
    /// Clock ticks of its own work.
    own_ticks: u64,
    /// Clock ticks of the children it has waited for.
    waited_ticks: u64,
    /// When it began; with the pid this names one process for good.
    pub(crate) began: u64,
}

impl Process {
    /// The process with this id, if there is one.
    pub(crate) fn read(pid: Pid) -> Option<Self> {
        Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(pid: Pid, stat: &[u8]) -> Option<Self> {
        // The second field is the command's name in brackets and may hold anything, also brackets.
        let after_name = stat.get(memchr::memrchr(b')', stat)? + 2..)?;
        let fields: Vec<&str> = str::from_utf8(after_name).ok()?.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            alive: !matches!(*fields.first()?, "Z" | "X") || number(17)? > 1,
            own_ticks: number(11)? + number(12)?,
            waited_ticks: number(13)? + number(14)?,
            began: number(19)?,
        })
    }
}

/// Everyone alive below `root`, parents before their children.
pub(crate) fn descendants(root: Pid) -> Vec<Process> {
    let mut found = Vec::new();
    each_descendant(root, |process| found.push(process));
    found
}

/// Hands over everyone alive below `root` as soon as it is found, parents before their children.
pub(crate) fn each_descendant(root: Pid, each: impl FnMut(Process)) {
    // Some kernels (and sandboxes that imitate one) do not list children; then every process is asked for
    // its parent.
    if fs::exists("/proc/thread-self/children").unwrap_or(false) {
        walk(root, listed_children, each);
    } else {
        let children = children_by_parent();
        walk(root, |pid| children.get(&pid.as_raw_pid()).cloned().unwrap_or_default(), each);
    }
}

fn walk(root: Pid, children: impl Fn(Pid) -> Vec<Pid>, mut each: impl FnMut(Process)) {
    let mut seen = HashSet::from([root]);
    let (mut queue, mut next) = (vec![root], 0);
    while let Some(pid) = queue.get(next).copied() {
        next += 1;
        // The youngest first: after thousands of dead come those who still fork.
        for child in children(pid).into_iter().rev().filter(|child| seen.insert(*child)) {
            if let Some(process) = Process::read(child).filter(|process| process.alive) {
                each(process);
                queue.push(child);
            }
        }
    }
}

/// A child belongs to the thread that made it, so each thread is asked.
fn listed_children(pid: Pid) -> Vec<Pid> {
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let list = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        children.extend(list.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
    }
    children
}

fn children_by_parent() -> HashMap<i32, Vec<Pid>> {
    let mut children: HashMap<i32, Vec<Pid>> = HashMap::new();
    for process in everyone().into_iter().filter_map(Process::read) {
        children.entry(process.parent).or_default().push(process.pid);
    }
    children
}

/// Every process there is.
pub(crate) fn everyone() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Processor time of everyone below `root`, the finished ones included, so that it only grows.
pub(crate) fn tree_cpu(root: Pid) -> Duration {
    let waited = Process::read(root).map_or(0, |root| root.waited_ticks);
    let ticks: u64 = waited + descendants(root).iter().map(|it| it.own_ticks + it.waited_ticks).sum::<u64>();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
}

/// True if the process was started with exactly this `KEY=VALUE` in its environment.
pub(crate) fn has_in_environment(pid: Pid, entry: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == entry))
}

/// Kills the process if `is_it` still says so once its id can no longer be given to another.
pub(crate) fn kill_if(pid: Pid, is_it: impl Fn(Pid) -> bool) -> bool {
    let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return false };
    is_it(pid) && rustix::process::pidfd_send_signal(held, Signal::KILL).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_mislead() {
        let pid = Pid::from_raw(5).unwrap();
        let stat = b"5 (a) R 9 (x) Z 3 4 4 0 -1 0 0 0 0 0 10 5 2 1 20 0 1 0 777 0 0";
        let process = Process::parse(pid, stat).unwrap();
        assert_eq!((process.parent, process.group, process.session), (3, 4, 4));
        assert_eq!((process.alive, process.began), (false, 777));
        assert_eq!((process.own_ticks, process.waited_ticks), (15, 3));
        let first_thread_ended = b"5 (a) Z 3 4 4 0 -1 0 0 0 0 0 10 5 2 1 20 0 2 0 777 0 0";
        assert!(Process::parse(pid, first_thread_ended).unwrap().alive);
        assert_eq!(Process::parse(pid, b"5 (cut) R 1"), None);
        assert_eq!(Process::parse(pid, b""), None);
    }

    #[test]
    fn both_ways_to_find_descendants_agree() {
        let script = "exec 2>/dev/null; sleep 60 & sleep 60; :";
        let mut shell = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let root = Pid::from_child(&shell);
        let pids =
            |tree: Vec<Process>| tree.into_iter().map(|it| it.pid.as_raw_pid()).collect::<HashSet<_>>();
        while descendants(root).len() < 2 {
            std::thread::yield_now();
        }
        let table = children_by_parent();
        let (mut by_parent, mut listed) = (Vec::new(), Vec::new());
        walk(root, |pid| table.get(&pid.as_raw_pid()).cloned().unwrap_or_default(), |it| by_parent.push(it));
        walk(root, listed_children, |it| listed.push(it));
        assert_eq!(pids(by_parent), pids(listed.clone()));
        for process in listed {
            assert!(kill_if(process.pid, |_| true));
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
