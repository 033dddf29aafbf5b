//! Processes: the subreaper, /proc, process descriptors, pipe sizes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::Process;

/// Whether orphans become children of the subreaper, so that a process without children has no descendants.
pub const ADOPTS: bool = true;

/// There if the kernel lists the children of a thread.
const CHILDREN: &str = "/proc/thread-self/children";

/// Orphans below this process become its children, also those that left its session.
pub fn adopt_orphans() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
}

/// From now on this process is continued whenever the thread that started it ends, so also when its parent is killed:
/// one that somebody has stopped then runs again.
pub fn continue_when_parent_dies() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::CONT))
}

/// Names this boot of the machine or the container: processes of another one are gone for certain.
#[must_use]
pub fn boot() -> String {
    let machine = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let container = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{}/{}", machine.trim(), container.display())
}

/// Asks for a roomier pipe; a refusal only costs speed.
pub fn widen(pipe: impl AsFd, bytes: usize) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, bytes);
}

/// The process with this id, if there is one.
#[must_use]
pub fn read_process(pid: Pid) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn parse(pid: Pid, stat: &[u8]) -> Option<Process> {
    // The second field is the command's name in brackets and may hold anything, also brackets.
    let after_name = stat.get(memchr::memrchr(b')', stat)? + 2..)?;
    let fields: Vec<&str> = str::from_utf8(after_name).ok()?.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ms = |ticks: u64| ticks * 1000 / rustix::param::clock_ticks_per_second().max(1);
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        alive: !matches!(*fields.first()?, "Z" | "X") || number(17)? > 1,
        stopped: matches!(*fields.first()?, "T" | "t"),
        own_ms: ms(number(11)? + number(12)?),
        waited_ms: ms(number(13)? + number(14)?),
        began: number(19)?,
    })
}

/// All living processes below `root`, parents before their children.
#[must_use]
pub fn descendants(root: Pid) -> Vec<Process> {
    let mut found = Vec::new();
    each_descendant(root, |process| found.push(process));
    found
}

/// Calls `each` with every living process below `root` as it is found, parents before their children.
pub fn each_descendant(root: Pid, each: impl FnMut(Process)) {
    // Some kernels (and sandboxes that imitate one) do not list children; then every process is asked for
    // its parent.
    if fs::exists(CHILDREN).unwrap_or(false) {
        walk(root, listed_children, each);
    } else {
        let children = children_by_parent();
        walk(root, |pid| children.get(&pid.as_raw_pid()).cloned().unwrap_or_default(), each);
    }
}

/// The children of a process, dead ones that nobody has waited for included.
#[must_use]
pub fn children(parent: Pid) -> Vec<Process> {
    let pids = match fs::exists(CHILDREN).unwrap_or(false) {
        true => listed_children(parent),
        false => children_by_parent().remove(&parent.as_raw_pid()).unwrap_or_default(),
    };
    pids.into_iter().filter_map(read_process).filter(|it| it.parent == parent.as_raw_pid()).collect()
}

/// How a child of this process starts the same program: also after it was replaced on disk, and where its path is covered
/// by a mount.
///
/// # Errors
/// Where the program has no name.
pub fn own_program() -> std::io::Result<PathBuf> {
    let this = PathBuf::from("/proc/self/exe");
    if fs::metadata(&this).is_ok() { Ok(this) } else { std::env::current_exe() }
}

/// A setting of the kernel, such as `user/max_user_namespaces`; none where there is none of this name.
#[must_use]
pub fn kernel_setting(name: &str) -> Option<String> {
    fs::read_to_string(Path::new("/proc/sys").join(name)).ok().map(|text| text.trim().to_owned())
}

/// Whether processes here are not those of the kernel's own first namespace, whose number is fixed.
#[must_use]
pub fn has_own_processes() -> bool {
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    namespace != Path::new("pid:[4026531836]")
}

/// A process and those above it, up to the first.
#[must_use]
pub fn with_ancestors(pid: Pid) -> Vec<Pid> {
    let mut line = vec![pid];
    while let Some(above) = line.last().and_then(|pid| Pid::from_raw(read_process(*pid)?.parent))
        && !line.contains(&above)
    {
        line.push(above);
    }
    line
}

/// The name of the program that a process runs, as far as the kernel keeps it; programs may change it.
#[must_use]
pub fn program_name(pid: Pid) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
}

/// True if the directory a process works in is this one, or below it.
#[must_use]
pub fn works_below(pid: Pid, dir: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir))
}

fn walk(root: Pid, children: impl Fn(Pid) -> Vec<Pid>, mut each: impl FnMut(Process)) {
    let mut seen = HashSet::from([root]);
    let (mut queue, mut next) = (vec![root], 0);
    while let Some(pid) = queue.get(next).copied() {
        next += 1;
        // The youngest first: after thousands of dead come those who still fork.
        for child in children(pid).into_iter().rev().filter(|child| seen.insert(*child)) {
            if let Some(process) = read_process(child).filter(|process| process.alive) {
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
    for process in everyone().into_iter().filter_map(read_process) {
        children.entry(process.parent).or_default().push(process.pid);
    }
    children
}

/// Every process there is.
#[must_use]
pub fn everyone() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Processor time of all processes below `root`, including finished ones, so that it only grows.
#[must_use]
pub fn tree_cpu(root: Pid) -> Duration {
    let waited = read_process(root).map_or(0, |root| root.waited_ms);
    let below: u64 = descendants(root).iter().map(|it| it.own_ms + it.waited_ms).sum();
    Duration::from_millis(waited + below)
}

/// True if the process was started with exactly this `KEY=VALUE` in its environment.
#[must_use]
pub fn has_in_environment(pid: Pid, entry: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == entry))
}

/// Kills the process if `is_it` still says so once its id can no longer be given to another.
pub fn kill_if(pid: Pid, is_it: impl Fn(Pid) -> bool) -> bool {
    let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return false };
    is_it(pid) && rustix::process::pidfd_send_signal(held, Signal::KILL).is_ok()
}

/// Whether `hang_up_is_ignored` is quick enough for the start of every command.
pub const SHOWS_IGNORED_SIGNALS: bool = true;

/// Whether SIGHUP was ignored when this process began (nohup); no where the system does not say.
#[must_use]
pub fn hang_up_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_mislead() {
        let pid = Pid::from_raw(5).unwrap();
        let stat = b"5 (a) R 9 (x) Z 3 4 4 0 -1 0 0 0 0 0 10 5 2 1 20 0 1 0 777 0 0";
        let process = parse(pid, stat).unwrap();
        assert_eq!((process.parent, process.group, process.session), (3, 4, 4));
        assert_eq!((process.alive, process.began), (false, 777));
        let hz = rustix::param::clock_ticks_per_second();
        assert_eq!((process.own_ms, process.waited_ms), (15_000 / hz, 3_000 / hz));
        let first_thread_ended = b"5 (a) Z 3 4 4 0 -1 0 0 0 0 0 10 5 2 1 20 0 2 0 777 0 0";
        assert!(parse(pid, first_thread_ended).unwrap().alive);
        assert_eq!(parse(pid, b"5 (cut) R 1"), None);
        assert_eq!(parse(pid, b""), None);
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
