//! Times filling a verification room: from nothing, with 20 changed files, and with none.
//!
//! `cargo run --release -p ralph-engine --example room_bench [directory for the trees]`
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use ralph_engine::room::{RoomFile, RoomFolder, Source};
use ralph_snapshots::SnapshotStore;
use ralph_tree::{Kind, Protect, Tree, hash_bytes};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

type Wanted = BTreeMap<Vec<u8>, RoomFile>;

fn main() {
    let place = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    println!("in ms, of which the processor worked (the rest is waiting, 20 ms of it for the clock)");
    println!("  files           cold        warm, 20 changed        warm, as it is    rewritten()");
    for files in [1_000, 10_000] {
        let dir = tempfile::tempdir_in(&place).expect("a place for the trees");
        measure(dir.path(), files);
    }
}

fn measure(dir: &Path, files: usize) {
    let workspace = dir.join("workspace");
    build(&workspace, files);
    let index = Tree::new(&workspace, Protect::new(Protect::DEFAULTS).unwrap()).walk(None).unwrap();
    let store = SnapshotStore::at(dir.join("keep"));
    store.take(&workspace, &index).unwrap();
    let entries = index.entries().filter(|entry| entry.counts && entry.kind == Kind::File);
    let file = |mode: u16, hash| RoomFile { source: Source::Blob, hash, mode: u32::from(mode), link: false };
    let mut wanted: Wanted =
        entries.map(|entry| (entry.path.to_vec(), file(entry.mode, entry.hash))).collect();
    let mut folder = RoomFolder::open(&dir.join("room")).unwrap();
    let mut fill = |wanted: &Wanted| {
        let (start, worked) = (Instant::now(), processor_time());
        folder.fill(wanted, &workspace, store.blobs()).unwrap();
        (start.elapsed(), processor_time() - worked)
    };
    let cold = fill(&wanted);
    let (mut changed, mut same) = (Vec::new(), Vec::new());
    for round in 0..20 {
        for file in wanted.values_mut().step_by(files / 20).take(20) {
            let text = format!("fn changed() -> u32 {{ {round} }}\n");
            file.hash = hash_bytes(text.as_bytes());
            file.source = Source::Bytes(text.into_bytes());
        }
        changed.push(fill(&wanted));
        same.push(fill(&wanted));
    }
    let start = Instant::now();
    assert!(folder.rewritten(&|_| true).is_empty());
    let looked = millis(start.elapsed());
    let columns = [vec![cold], changed, same].map(|times| format!("{:>22}", median(times)));
    println!("{files:>7}{} {looked:>12.1}", columns.concat());
}

/// Twenty files a directory, three levels, about 2 KiB each.
fn build(root: &Path, files: usize) {
    fs::create_dir_all(root).unwrap();
    fs::write(root.join(".gitignore"), "*.log\n/dist/\n*.tmp\n!keep.tmp\n").unwrap();
    for number in 0..files {
        let dir = root.join(format!("part{}/module{}", number / 400, number / 20));
        if number % 20 == 0 {
            fs::create_dir_all(&dir).unwrap();
        }
        let text = format!("fn f{number}() -> u32 {{ {number} }}\n").repeat(60);
        fs::write(dir.join(format!("source_{number}.rs")), text).unwrap();
    }
}

/// The middle one, and how long the processor worked in the middle.
fn median(times: Vec<(Duration, Duration)>) -> String {
    let (mut took, mut worked): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let middle = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().map_or(0.0, millis)
    };
    format!("{:.1} ({:.1})", middle(&mut took), middle(&mut worked))
}

/// What this thread has had of a processor, which does not depend on who else uses the machine.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
