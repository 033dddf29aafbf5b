//! A file system in a file, mounted where the test works. Copies of the file are plugged in in its place.

use ralph_testkit::{Scratch, skip};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Large enough for a few snapshots, small enough to be copied in a moment.
const SIZE: u64 = 48 << 20;

/// The file system and the copies of it.
pub struct Disk {
    scratch: Scratch,
    copies: Vec<String>,
    mounted: bool,
}

impl Disk {
    /// A new file system; none where it cannot be made or mounted, and the test is then skipped.
    pub fn mounted() -> Option<Disk> {
        let mut disk = Disk { scratch: Scratch::new(), copies: Vec::new(), mounted: false };
        let image = disk.outside("image");
        File::create(&image).unwrap().set_len(SIZE).unwrap();
        fs::create_dir(disk.mount_point()).unwrap();
        let made = said(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image));
        let made = made.and_then(|()| disk.mount(&image));
        if let Err(why) = made {
            skip(&format!("no file system can be made and mounted here: {why}"));
            return None;
        }
        for dir in [disk.workspace(), disk.state()] {
            fs::create_dir(dir).unwrap();
        }
        Some(disk)
    }

    pub fn workspace(&self) -> PathBuf {
        self.mount_point().join("workspace")
    }

    fn state(&self) -> PathBuf {
        self.mount_point().join("state")
    }

    fn mount_point(&self) -> PathBuf {
        self.outside("disk")
    }

    /// A path that no power cut concerns.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.scratch.root().join(name)
    }

    /// A command of ralph's on this disk.
    pub fn ralph(&self, args: &[&str]) -> Command {
        let mut command = self.scratch.command(env!("CARGO_BIN_EXE_ralph"));
        command.current_dir(self.workspace()).env("XDG_STATE_HOME", self.state()).args(args);
        command
    }

    /// Everything written so far survives a power cut.
    pub fn sync(&self) {
        said(Command::new("sync").arg("-f").arg(self.mount_point())).unwrap();
    }

    /// Copies the disk as it is now. What the system has not written to it yet is not in the copy.
    pub fn copy(&mut self, when: &str) {
        let to = self.outside(&format!("copy.{}", self.copies.len()));
        fs::copy(self.outside("image"), to).unwrap();
        self.copies.push(when.to_owned());
    }

    pub fn copies(&self) -> usize {
        self.copies.len()
    }

    /// Mounts a copy in place of what is mounted, and returns when it was made.
    pub fn plug_in(&mut self, copy: usize) -> String {
        self.unmount();
        self.mount(&self.outside(&format!("copy.{copy}"))).unwrap();
        self.copies[copy].clone()
    }

    /// The system writes by itself only once a minute: a shorter time would hide what was not synced.
    fn mount(&mut self, image: &Path) -> Result<(), String> {
        said(Command::new("mount").args(["-o", "loop,commit=60"]).arg(image).arg(self.mount_point()))?;
        self.mounted = true;
        Ok(())
    }

    fn unmount(&mut self) {
        if std::mem::take(&mut self.mounted) {
            said(Command::new("umount").arg(self.mount_point())).unwrap();
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            // A run that a failed test left behind must not keep the disk.
            let _ = said(Command::new("umount").arg("--lazy").arg(self.mount_point()));
        }
    }
}

/// Runs a program; the error is what it said.
fn said(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{}: {e}", command.get_program().display()))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
