//! Times a snapshot and an undo, each beside its floor in the same run: a plain write of the same bytes to as many files,
//! and one flush.
//!
//! `cargo run --release -p ralph-snapshots --example snapshot_bench [directory]`
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ralph_snapshots::{MomentLog, RestoreRequest, SnapshotStore, restore};
use ralph_tree::{Index, Protect, Tree};

const CHANGED: usize = 20;
const ROUNDS: usize = 9;

fn main() {
    let place = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    println!("in ms, durable              (p50 of {ROUNDS} where repeated)          floor     ours   ratio");
    for files in [1_700, 10_000, 100_000] {
        let dir = tempfile::tempdir_in(&place).expect("a place for the files");
        let bench = Bench::new(dir.path(), files);
        bench.snapshots();
        bench.undo();
    }
}

struct Bench {
    dir: PathBuf,
    tree: Tree,
    files: usize,
}

impl Bench {
    fn new(dir: &Path, files: usize) -> Bench {
        let root = dir.join("workspace");
        for number in 0..files {
            write(&root, number, 0);
        }
        flush(dir);
        let tree = Tree::new(&root, Protect::new(Protect::DEFAULTS).unwrap());
        Bench { dir: dir.to_owned(), tree, files }
    }

    fn snapshots(&self) {
        let first = Arc::new(self.tree.walk(None).unwrap());
        let floor = time(|| plain(&self.dir.join("floor"), 0..self.files, &self.dir));
        let (store, log) = (self.store(), self.log("run1"));
        let ours = time(|| snapshot(&store, &log, "001", &first, self.tree.root()));
        self.row("first snapshot", floor, ours);

        let append = self.dir.join("append");
        let (mut floors, mut again) = (Vec::new(), Vec::new());
        for n in 0..ROUNDS {
            floors.push(time(|| append_durably(&append)));
            again.push(time(|| snapshot(&store, &log, &format!("{n}"), &first, self.tree.root())));
        }
        self.row("nothing changed", median(floors), median(again));

        let mut index = Arc::clone(&first);
        let (mut floors, mut ours) = (Vec::new(), Vec::new());
        for n in 1..=ROUNDS {
            (0..CHANGED).for_each(|number| write(self.tree.root(), number * (self.files / CHANGED), n));
            index = Arc::new(self.tree.walk(Some(&index)).unwrap());
            let to = self.dir.join(format!("floor{n}"));
            floors.push(time(|| plain(&to, 0..CHANGED, &self.dir)));
            ours.push(time(|| snapshot(&store, &log, &format!("c{n}"), &index, self.tree.root())));
        }
        self.row(&format!("{CHANGED} files changed"), median(floors), median(ours));
        store.close();
        let (store, log) = (self.store(), self.log("run2"));
        let floor = time(|| append_durably(&append));
        let ours = time(|| snapshot(&store, &log, "001", &index, self.tree.root()));
        self.row("first of a later run, nothing changed", floor, ours);
    }

    fn undo(&self) {
        let target = self.tree.walk(None).unwrap();
        let store = self.store();
        store.take_durably(self.tree.root(), &target).unwrap();
        for (what, changed) in [("undo of 20 files", CHANGED), ("undo of all files", self.files)] {
            (0..changed).for_each(|n| write(self.tree.root(), n, 99));
            let now = self.tree.walk(Some(&target)).unwrap();
            store.take_durably(self.tree.root(), &now).unwrap();
            let to = self.dir.join(format!("undo{changed}"));
            plain(&to, 0..changed, &self.dir);
            let floor = time(|| replaced(&to, changed, &self.dir));
            let half = ralph_snapshots::HalfRestored::default();
            let recorded = std::collections::BTreeSet::new();
            let request = RestoreRequest {
                target: &target,
                left: &now,
                now: &now,
                newer_too: true,
                half: &half,
                recorded: &recorded,
            };
            let ours = time(|| {
                let plan = restore(request, store.blobs());
                assert!(plan.missing.is_empty());
                assert!(plan.apply(self.tree.root(), store.blobs()).unwrap().failed.is_empty());
            });
            self.row(what, floor, ours);
        }
    }

    fn store(&self) -> SnapshotStore {
        SnapshotStore::at(self.dir.join("keep"))
    }

    fn log(&self, run: &str) -> MomentLog {
        fs::create_dir_all(self.dir.join(run)).unwrap();
        MomentLog::at(self.dir.join(run), self.store().bases())
    }

    fn row(&self, what: &str, floor: Duration, ours: Duration) {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        let ratio = ours.as_secs_f64() / floor.as_secs_f64();
        println!("  {:>7} files  {what:<38}  {:>9.2} {:>9.2}  {ratio:>5.2}", self.files, ms(floor), ms(ours));
    }
}

/// As a run takes it: contents and state, one flush.
fn snapshot(store: &SnapshotStore, log: &MomentLog, name: &str, index: &Arc<Index>, root: &Path) {
    assert!(store.take(root, index).unwrap().missed.is_empty());
    let added = log.add(name, index).unwrap();
    store.sync(&added.files).unwrap();
}

fn text(number: usize, version: usize) -> String {
    format!("fn f() -> u32 {{ {number} + {version} }}\n").repeat(25 + number % 50)
}

fn write(root: &Path, number: usize, version: usize) {
    let dir = root.join(format!("part{}/module{}", number / 400, number / 20));
    let path = dir.join(format!("source_{number}.rs"));
    // Writing into an existing file would wait for the disk.
    let _ = fs::remove_file(&path);
    fs::create_dir_all(&dir).unwrap();
    fs::write(path, text(number, version)).unwrap();
}

/// The same bytes in as many new files, in a directory layout like the store's.
fn plain(to: &Path, numbers: std::ops::Range<usize>, on: &Path) {
    for part in 0..numbers.len().min(256) {
        fs::create_dir_all(to.join(part.to_string())).unwrap();
    }
    for number in numbers {
        fs::write(to.join((number % 256).to_string()).join(number.to_string()), text(number, 0)).unwrap();
    }
    flush(on);
}

/// The same bytes in new files that take the place of old ones.
fn replaced(to: &Path, count: usize, on: &Path) {
    for number in 0..count {
        let dir = to.join((number % 256).to_string());
        fs::write(dir.join("draft"), text(number, 1)).unwrap();
        fs::rename(dir.join("draft"), dir.join(number.to_string())).unwrap();
    }
    flush(on);
}

fn append_durably(path: &Path) {
    use std::io::Write;
    let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
    file.write_all(&[0; 150]).unwrap();
    file.sync_data().unwrap();
}

fn flush(dir: &Path) {
    ralph_os::sync_file_system(dir).unwrap();
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
