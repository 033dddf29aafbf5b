//! Finds processes by a run's tag in their environment, and whatever is below them. Needed only for recovery, when a
//! supervisor itself was killed.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use ralph_os::Process;
use rustix::process::{Pid, getpid};

use crate::supervisors::living;

/// After this long the sweep gives up on processes that cannot be killed; `find` lists them.
const PATIENCE: Duration = Duration::from_secs(5);
const REST: Duration = Duration::from_millis(2);

/// All processes whose environment contains exactly `KEY=VALUE`, and those below them, except this one, its ancestors,
/// and its own supervisors with what they supervise.
#[must_use]
pub fn find(tag_key: &str, tag_value: &str) -> Vec<u32> {
    let found = tagged(&entry(tag_key, tag_value)).into_iter();
    found.map(|process| process.pid.as_raw_pid().unsigned_abs()).collect()
}

/// Kills all processes that [`find`] finds until none is found; returns how many were killed.
#[must_use]
pub fn sweep(tag_key: &str, tag_value: &str) -> usize {
    let entry = entry(tag_key, tag_value);
    let (since, mut killed) = (Instant::now(), HashSet::new());
    loop {
        let found = tagged(&entry);
        if found.is_empty() || since.elapsed() > PATIENCE {
            return killed.len();
        }
        for process in found {
            let is_it = |pid| ralph_os::read_process(pid).is_some_and(|now| now.began == process.began);
            if ralph_os::kill_if(process.pid, is_it) {
                killed.insert(process.pid);
            }
        }
        std::thread::sleep(REST);
    }
}

fn entry(tag_key: &str, tag_value: &str) -> Vec<u8> {
    format!("{tag_key}={tag_value}").into_bytes()
}

/// Those below come first: they may have emptied their environment, and lose their parent with it.
fn tagged(entry: &[u8]) -> Vec<Process> {
    let ours = ours();
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for pid in ralph_os::everyone() {
        if ours.contains(&pid) || !ralph_os::has_in_environment(pid, entry) {
            continue;
        }
        let below = ralph_os::descendants(pid).into_iter().rev();
        let tree = below.chain(ralph_os::read_process(pid));
        found.extend(tree.filter(|it| it.alive && !ours.contains(&it.pid) && seen.insert(it.pid)));
    }
    found
}

/// This process, those above it, and its own supervisors with what they supervise. The list of supervisors is held only
/// while it is read: what a new one starts carries the tag of a run that nobody sweeps for.
fn ours() -> HashSet<Pid> {
    let mut ours: HashSet<Pid> = ralph_os::with_ancestors(getpid()).into_iter().collect();
    for supervisor in living().pids() {
        ours.insert(supervisor);
        ours.extend(ralph_os::descendants(supervisor).iter().map(|process| process.pid));
    }
    ours
}
