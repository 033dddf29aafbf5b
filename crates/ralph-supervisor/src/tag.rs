//! Finds processes by a run's tag in their environment. Needed only for recovery, when a supervisor itself was killed.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use ralph_os::read_process;
use rustix::process::{Pid, getpid};

/// After this long the sweep gives up on processes that cannot be killed; `find` lists them.
const PATIENCE: Duration = Duration::from_secs(5);
const REST: Duration = Duration::from_millis(2);

/// All processes whose environment contains exactly `KEY=VALUE`, except this one, its ancestors, and its own supervisors
/// with what they supervise.
#[must_use]
pub fn find(tag_key: &str, tag_value: &str) -> Vec<u32> {
    tagged(&entry(tag_key, tag_value)).into_iter().map(|pid| pid.as_raw_pid().unsigned_abs()).collect()
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
        for pid in found {
            if ralph_os::kill_if(pid, |pid| ralph_os::has_in_environment(pid, &entry)) {
                killed.insert(pid);
            }
        }
        std::thread::sleep(REST);
    }
}

fn entry(tag_key: &str, tag_value: &str) -> Vec<u8> {
    format!("{tag_key}={tag_value}").into_bytes()
}

fn tagged(entry: &[u8]) -> Vec<Pid> {
    let ours = ours();
    ralph_os::everyone()
        .into_iter()
        .filter(|pid| !ours.contains(pid) && ralph_os::has_in_environment(*pid, entry))
        .collect()
}

fn ours() -> HashSet<Pid> {
    let mut ours: HashSet<Pid> =
        ralph_os::descendants(getpid()).into_iter().map(|process| process.pid).collect();
    let mut ancestor = Some(getpid());
    while let Some(pid) = ancestor {
        ancestor =
            if ours.insert(pid) { read_process(pid).and_then(|it| Pid::from_raw(it.parent)) } else { None };
    }
    ours
}
