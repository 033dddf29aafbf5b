//! Processes, found by asking `ps`: slower, and blind to what left both its parent and its group.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::io;
use rustix::process::{Pid, Signal};

use super::ps;
use crate::Process;

/// Orphans do not come back: one without children may still have somebody below it.
pub const ADOPTS: bool = false;

/// Nothing to ask for; orphans go to the first process.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// A process that was stopped stays so when its parent dies; the next sweep finds it.
pub fn continue_when_parent_dies() -> io::Result<()> {
    Ok(())
}

/// Not told.
#[must_use]
pub fn boot() -> String {
    String::new()
}

/// Pipes keep the size the system gives them, which only costs speed.
pub fn widen(_pipe: impl AsFd, _bytes: usize) {}

/// The process with this id, if there is one.
#[must_use]
pub fn read_process(pid: Pid) -> Option<Process> {
    ps::list().into_iter().find(|process| process.pid == pid)
}

/// Everyone alive below `root`, parents before their children.
#[must_use]
pub fn descendants(root: Pid) -> Vec<Process> {
    below(root, &ps::list())
}

/// Calls `each` with every living process below `root`, parents before their children.
pub fn each_descendant(root: Pid, each: impl FnMut(Process)) {
    descendants(root).into_iter().for_each(each);
}

/// The children of a process, dead ones that nobody has waited for included.
#[must_use]
pub fn children(parent: Pid) -> Vec<Process> {
    ps::list().into_iter().filter(|process| process.parent == parent.as_raw_pid()).collect()
}

/// How a child of this process starts the same program.
///
/// # Errors
/// Where the program has no name.
pub fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// A setting of the kernel: none is known here.
#[must_use]
pub fn kernel_setting(_: &str) -> Option<String> {
    None
}

/// Whether processes here are apart from those of the machine: not known here.
#[must_use]
pub fn has_own_processes() -> bool {
    false
}

/// A process and those above it, up to the first.
#[must_use]
pub fn with_ancestors(pid: Pid) -> Vec<Pid> {
    let all = ps::list();
    let parent = |pid: &Pid| Pid::from_raw(all.iter().find(|it| it.pid == *pid)?.parent);
    let mut line = vec![pid];
    while let Some(above) = line.last().and_then(parent).filter(|above| !line.contains(above)) {
        line.push(above);
    }
    line
}

/// The name of the program that a process runs.
#[must_use]
pub fn program_name(pid: Pid) -> Option<String> {
    let mut ps = Command::new("ps");
    ps.args(["-o", "comm=", "-p", &pid.as_raw_pid().to_string()]).stdin(Stdio::null()).stderr(Stdio::null());
    let name = String::from_utf8(ps.output().ok()?.stdout).ok()?;
    let name = Path::new(name.trim()).file_name()?.to_str()?;
    (!name.is_empty()).then(|| name.trim_start_matches('-').to_owned())
}

/// No: where another process works is not told.
#[must_use]
pub fn works_below(_pid: Pid, _dir: &Path) -> bool {
    false
}

/// The children of whoever is found, and those who share a group that one of the found leads: a parent may have
/// died before them.
fn below(root: Pid, all: &[Process]) -> Vec<Process> {
    let own_group = all.iter().find(|process| process.pid == root).map_or(0, |root| root.group);
    let mut seen = HashSet::from([root]);
    let (mut found, mut next) = (Vec::new(), 0);
    let mut parents = HashSet::from([root.as_raw_pid()]);
    let mut groups = HashSet::new();
    loop {
        let belongs = |it: &&Process| parents.contains(&it.parent) || groups.contains(&it.group);
        let news: Vec<Process> =
            all.iter().filter(belongs).filter(|it| it.alive && seen.insert(it.pid)).copied().collect();
        found.extend(news);
        let Some(fresh) = found.get(next..).filter(|fresh| !fresh.is_empty()) else { return found };
        parents.extend(fresh.iter().map(|it| it.pid.as_raw_pid()));
        groups.extend(fresh.iter().map(|it| it.group).filter(|group| *group > 1 && *group != own_group));
        next = found.len();
    }
}

/// Every process there is.
#[must_use]
pub fn everyone() -> Vec<Pid> {
    ps::list().into_iter().map(|process| process.pid).collect()
}

/// Processor time of everyone below `root` that lives; the finished ones are not counted.
#[must_use]
pub fn tree_cpu(root: Pid) -> Duration {
    Duration::from_millis(descendants(root).iter().map(|it| it.own_ms).sum())
}

/// No: the environment of another process is not told. A word in its arguments would look the same to `ps`, and
/// whoever is found is killed.
#[must_use]
pub fn has_in_environment(_pid: Pid, _entry: &[u8]) -> bool {
    false
}

/// Kills the process if `is_it` says so. The id is not held meanwhile.
pub fn kill_if(pid: Pid, is_it: impl Fn(Pid) -> bool) -> bool {
    is_it(pid) && rustix::process::kill_process(pid, Signal::KILL).is_ok()
}

/// Whether `hang_up_is_ignored` is quick enough for the start of every command: it starts a shell.
pub const SHOWS_IGNORED_SIGNALS: bool = false;

/// Whether SIGHUP was ignored when this process began (nohup): a shell inherits that and cannot change it, so it
/// survives its own signal.
#[must_use]
pub fn hang_up_is_ignored() -> bool {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "kill -HUP $$; exit 0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}
