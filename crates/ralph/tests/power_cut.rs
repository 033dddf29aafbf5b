//! Power cuts: the workspace and ralph's state are on a file system of their own, in a file. A copy of that file, made while
//! a run works, is what a disk holds after the power failed at that moment: what the system had not written yet is not
//! there. On every copy, `ralph undo` must bring back every file of every iteration, and so must the undo of a later run.
//! Needs the right to mount.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "power_cut/disk.rs"]
mod disk;

use disk::Disk;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const FILES: u32 = 200;
const ITERATIONS: u32 = 3;
/// Time between the end of a call and the cut: the next snapshot is being taken then, or was just taken.
const DELAYS: [u64; 3] = [5, 40, 120];

/// Every iteration writes all files and then waits, so that the cut comes in the middle of a call.
fn script(signals: &Path) -> String {
    let signals = signals.display();
    format!(
        "run n=$RALPH_ITERATION; i=0; while [ $i -lt {FILES} ]; do echo \"$i $n\" > d$((i % 7))/f$i; i=$((i + 1)); done; \
         touch {signals}/ready.$n; until [ -e {signals}/go.$n ]; do sleep 0.01; done\nclaim progress"
    )
}

fn write_files(workspace: &Path) {
    for i in 0..FILES {
        let dir = workspace.join(format!("d{}", i % 7));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("f{i}")), format!("{i} 0\n")).unwrap();
    }
}

fn remove_files(workspace: &Path) {
    (0..7).for_each(|n| fs::remove_dir_all(workspace.join(format!("d{n}"))).unwrap());
}

/// How many files are not as iteration `n` left them.
fn wrong(workspace: &Path, n: u32) -> usize {
    let text = |i: u32| fs::read_to_string(workspace.join(format!("d{}/f{i}", i % 7))).unwrap_or_default();
    (0..FILES).filter(|i| text(*i) != format!("{i} {n}\n")).count()
}

fn until(what: &str, mut look: impl FnMut() -> bool) {
    let since = Instant::now();
    while !look() {
        assert!(since.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn start(disk: &Disk, script: &str, iterations: u32) -> Child {
    let limit = iterations.to_string();
    let args =
        ["run", "Do the work", "--fresh", "--agent", "sim", "--max-iterations", &limit, "--max-cost", "5"];
    let mut command = disk.ralph(&args);
    command.args(["--", "--do", script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Runs three iterations and copies the disk in the middle of each, and again shortly after.
fn copies(disk: &mut Disk) {
    let signals = disk.outside("signals");
    fs::create_dir(&signals).unwrap();
    let mut run = start(disk, &script(&signals), ITERATIONS);
    let pid = Pid::from_child(&run);
    for n in 1..=ITERATIONS {
        until("the agent", || signals.join(format!("ready.{n}")).exists());
        disk.copy(&format!("in the middle of call {n}"));
        fs::write(signals.join(format!("go.{n}")), "").unwrap();
        std::thread::sleep(Duration::from_millis(DELAYS[n as usize % DELAYS.len()]));
        // Nothing may be written while the file is copied.
        kill_process(pid, Signal::STOP).unwrap();
        disk.copy(&format!("after call {n}"));
        kill_process(pid, Signal::CONT).unwrap();
    }
    run.wait().unwrap();
}

/// The number of iterations that the journal knows of.
fn iterations(disk: &Disk) -> u32 {
    let list = disk.ralph(&["list", "--json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    u32::try_from(list[0]["iterations"].as_u64().unwrap()).unwrap()
}

fn undo(disk: &Disk, to: u32, more: &[&str]) -> String {
    let to = to.to_string();
    let output = disk.ralph(&[&["undo", "--to", &to, "--yes"], more].concat()).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn after_a_power_cut_every_undo_brings_back_every_file() {
    let Some(mut disk) = Disk::mounted() else { return };
    write_files(&disk.workspace());
    disk.sync();
    copies(&mut disk);
    let mut undone = 0;
    for n in 0..disk.copies() {
        let cut = disk.plug_in(n);
        let known = iterations(&disk);
        // In the middle of call n, the snapshot before it is there although the journal counts n - 1 iterations.
        let target = if cut.starts_with("in the middle") { known } else { known.saturating_sub(1) };
        for to in (0..=target).rev() {
            // What the agent did may not have reached the disk; undo must not depend on it.
            remove_files(&disk.workspace());
            // A run that was cut in mid-call needs no word of permission for the first undo.
            let first = to == target && cut.starts_with("in the middle");
            let told = undo(&disk, to, if first { &[] } else { &["--newer-too"] });
            assert_eq!(wrong(&disk.workspace(), to), 0, "{cut}, undo --to {to}: {told}");
            undone += 1;
        }
        // A later run on this disk relies on what the earlier one saved.
        let mut later = start(&disk, "run rm -rf d*\nclaim progress", 1);
        later.wait().unwrap();
        assert_eq!(wrong(&disk.workspace(), 0), FILES as usize);
        let told = undo(&disk, 0, &["--newer-too"]);
        assert_eq!(wrong(&disk.workspace(), 0), 0, "{cut}, undo of a later run: {told}");
    }
    assert!(undone >= 2 * ITERATIONS, "only {undone} undos were tried");
}
