//! The second net, for recovery only: processes that carry a run's tag in their environment although no
//! supervisor holds them any more (someone killed the supervisor itself). The first net is the supervisor.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use ralph_os::read_process;
use rustix::process::{Pid, getpid};

/// Against what cannot be killed: after so long the sweep gives up, and `find` tells what is left.
const PATIENCE: Duration = Duration::from_secs(5);
const REST: Duration = Duration::from_millis(2);

/// Everyone whose environment holds exactly `KEY=VALUE`; never ourselves, those who started us, or our own
/// tenders and what they tend.
#[must_use]
pub fn find(tag_key: &str, tag_value: &str) -> Vec<u32> {
    tagged(&entry(tag_key, tag_value)).into_iter().map(|pid| pid.as_raw_pid().unsigned_abs()).collect()
}

/// Kills everyone that [`find`] finds, until nobody is found; returns how many were killed.
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
