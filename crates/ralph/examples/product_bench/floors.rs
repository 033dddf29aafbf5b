//! What the machine itself takes: a durable write, a process, a pipe.

use crate::stats::{millis, p50, timed};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const BLOCK: usize = 8 * 1024;
const BLOCKS: u64 = 64;

/// p50 of overwriting 8 KiB of a file and making it durable, as a commit to a log that is reused does.
pub fn durable_write(dir: &Path, times: u64) -> f64 {
    let path = dir.join("floor");
    let file = File::create(&path).unwrap();
    for block in 0..BLOCKS {
        file.write_all_at(&[0; BLOCK], block * BLOCK as u64).unwrap();
    }
    file.sync_all().unwrap();
    let took: Vec<f64> = (0..times)
        .map(|n| {
            timed(|| {
                file.write_all_at(&[1; BLOCK], n % BLOCKS * BLOCK as u64).unwrap();
                file.sync_data().unwrap();
            })
        })
        .collect();
    std::fs::remove_file(path).unwrap();
    p50(&took)
}

/// Milliseconds to start a program and see it end.
pub fn spawn(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> f64 {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
    timed(|| assert!(command.status().unwrap().success()))
}

/// p50 of starting a program and seeing it end.
pub fn spawned(program: &str, args: &[&str], times: usize) -> f64 {
    p50(&(0..times).map(|_| spawn(program, args)).collect::<Vec<_>>())
}

/// Milliseconds for `cat` to bring a file through a pipe, unread.
pub fn cat(file: &Path) -> f64 {
    let begun = Instant::now();
    let mut child = Command::new("cat").arg(file).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut buffer = vec![0; 64 * 1024];
    while stdout.read(&mut buffer).unwrap() > 0 {}
    child.wait().unwrap();
    millis(begun.elapsed())
}
