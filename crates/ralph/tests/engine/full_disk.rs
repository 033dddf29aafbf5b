//! A disk that is full in the middle of an undo: nothing is lost, and the next one completes it. Needs a small file
//! system of its own, so root.

use crate::bed::{Bed, Done};
use ralph_testkit::skip;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system at a path, gone when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    #[track_caller]
    fn at(path: &Path, size: &str) -> Option<SmallDisk> {
        let options = format!("size={size}");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(path).output();
        let done = mount.is_ok_and(|output| output.status.success());
        if !done {
            skip("no tmpfs can be mounted here (needs root), so no disk was really full");
        }
        done.then(|| SmallDisk(path.to_owned()))
    }

    /// Takes every free byte, and returns the file that does.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn undo(bed: &Bed, args: &[&str]) -> Done {
    Done::of(&mut bed.ralph(&[&["undo", "--yes"], args].concat()))
}

#[test]
fn an_undo_on_a_full_disk_loses_nothing_and_is_completed_when_there_is_room() {
    let bed = Bed::plain(
        "run echo agent > big.txt; rm -rf dir; echo agent > dir; echo agent > new.txt\nclaim progress",
    );
    let workspace = bed.scratch.workspace();
    let Some(disk) = SmallDisk::at(&workspace, "1m") else { return };
    let (big, deep) = ("user ".repeat(60_000), "deep ".repeat(20_000));
    bed.scratch.files(&[("big.txt", &big), ("dir/deep/a.txt", &deep)]);
    bed.done(&["--max-iterations", "1"]).ends(3, "MAX_ITERATIONS");
    let filler = disk.fill();
    let full = undo(&bed, &[]);
    assert_eq!(full.code, 74, "{}", full.err);
    assert!(full.err.contains("failed: big.txt: No space left on device"), "{}", full.err);
    assert_eq!(bed.scratch.read("big.txt"), "agent\n", "what could not be replaced stays");
    let drafts = || {
        let names = fs::read_dir(&workspace).unwrap().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().contains(".draft")).count()
    };
    assert_eq!(drafts(), 0);
    fs::remove_file(filler).unwrap();
    let done = undo(&bed, &[]);
    assert_eq!((done.code, drafts()), (0, 0), "{}", done.err);
    assert_eq!((bed.scratch.read("big.txt"), bed.scratch.read("dir/deep/a.txt")), (big, deep));
    assert!(!workspace.join("new.txt").exists());
    assert_eq!(undo(&bed, &["--to", "1", "--newer-too"]).code, 0);
    assert_eq!(bed.scratch.read("dir"), "agent\n", "what the agent wrote is not lost either");
}

#[test]
fn an_undo_that_cannot_save_what_it_replaces_changes_nothing() {
    let bed = Bed::plain("run echo agent > a.txt\nclaim progress");
    let Some(disk) = SmallDisk::at(&bed.scratch.state(), "64m") else { return };
    bed.scratch.files(&[("a.txt", "user\n")]);
    bed.done(&["--max-iterations", "1"]).ends(3, "MAX_ITERATIONS");
    let newer = "newer ".repeat(10_000);
    bed.scratch.files(&[("a.txt", &newer)]);
    let filler = disk.fill();
    let full = undo(&bed, &["--newer-too"]);
    assert_eq!(full.code, 74, "{}", full.err);
    assert_eq!(bed.scratch.read("a.txt"), newer);
    fs::remove_file(filler).unwrap();
    assert_eq!(undo(&bed, &["--newer-too"]).code, 0);
    assert_eq!(bed.scratch.read("a.txt"), "user\n");
}
