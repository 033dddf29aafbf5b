//! Who is still running: every process with the case's mark in its environment, or at work below the case's directory
//! (some CLIs give their tools an environment of their own).

use ralph_testkit::procs_with_tag;
use std::fs;
use std::path::Path;

/// The processes that belong to the case, as a person would name them.
pub fn left(root: &Path, state: &Path) -> Vec<String> {
    let mut pids = procs_with_tag("XDG_STATE_HOME", &state.to_string_lossy());
    pids.extend(working_below(root));
    pids.sort_unstable();
    pids.dedup();
    pids.into_iter().map(name).collect()
}

fn working_below(root: &Path) -> impl Iterator<Item = u32> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let below =
        move |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(root));
    pids.filter(below)
}

fn name(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    format!("{pid}: {}", words.join(" "))
}
