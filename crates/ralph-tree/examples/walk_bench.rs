//! Times our walk beside the bare getdents+statx walk of the same tree, in the same run.
//!
//! `cargo run --release -p ralph-tree --example walk_bench [directory for the trees]`
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ralph_tree::{Protect, Tree};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, StatxFlags, openat, statx};

fn main() {
    let place = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    println!("warm, nothing changed, in ms            p50                    best          first");
    println!("  files      floor    walk  ratio    floor    walk  ratio     walk   save   load");
    for files in [1_700, 10_000, 100_000] {
        let dir = tempfile::tempdir_in(&place).expect("a place for the trees");
        build(dir.path(), files);
        std::thread::sleep(Duration::from_millis(50));
        measure(dir.path(), files);
    }
}

/// Twenty files a directory, three levels, an ignore file and a few ignored files, as in real repositories.
fn build(root: &Path, files: usize) {
    fs::write(root.join(".gitignore"), "*.log\n/dist/\n*.tmp\n!keep.tmp\n").unwrap();
    for number in 0..files {
        let dir = root.join(format!("part{}/module{}", number / 400, number / 20));
        if number % 20 == 0 {
            fs::create_dir_all(&dir).unwrap();
        }
        let ending = if number % 50 == 0 { "log" } else { "rs" };
        fs::write(dir.join(format!("source_{number}.{ending}")), format!("fn f() -> u32 {{ {number} }}\n"))
            .unwrap();
    }
}

fn measure(root: &Path, files: usize) {
    let tree = Tree::new(root, Protect::new(Protect::DEFAULTS).unwrap());
    let start = Instant::now();
    let first = tree.walk(None).unwrap();
    let cold = millis(start.elapsed());
    let known = tree.walk(Some(&first)).unwrap();
    let rounds = if files > 50_000 { 15 } else { 60 };
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        let fd = open(CWD, root);
        std::hint::black_box(bare(fd.as_fd()));
        floor.push(millis(start.elapsed()));
        let start = Instant::now();
        let index = tree.walk(Some(&known)).unwrap();
        ours.push(millis(start.elapsed()));
        assert_eq!((index.id(), index.files_hashed()), (first.id(), 0));
    }
    let saved = root.with_extension("index");
    let start = Instant::now();
    known.save(&saved).unwrap();
    let save = millis(start.elapsed());
    let start = Instant::now();
    assert!(ralph_tree::Index::load(&saved).is_some());
    let load = millis(start.elapsed());
    fs::remove_file(saved).unwrap();
    print!("{files:>7}  ");
    for place in [floor.len() / 2, 0] {
        let (floor, ours) = (sorted(&mut floor, place), sorted(&mut ours, place));
        print!(" {floor:>8.2} {ours:>7.2} {:>6.2}", ours / floor);
    }
    println!(" {cold:>8.1} {save:>6.1} {load:>6.1}");
}

fn bare(dir: BorrowedFd<'_>) -> u64 {
    let mut sum = 0;
    let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(dir, &mut buffer);
    let mut below = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS).unwrap();
        sum ^= stat.stx_ino.wrapping_add(stat.stx_size);
        if stat.stx_mode & 0o170_000 == 0o040_000 {
            below.push(name.to_owned());
        }
    }
    for name in below {
        sum ^= bare(open(dir, name.as_c_str()).as_fd());
    }
    sum
}

fn open(dir: BorrowedFd<'_>, path: impl rustix::path::Arg) -> std::os::fd::OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(dir, path, flags, Mode::empty()).unwrap()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn sorted(times: &mut [f64], place: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(place).copied().unwrap_or_default()
}
