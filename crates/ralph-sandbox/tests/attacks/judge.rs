//! What an attack left behind, looked for from outside.

use crate::scene::Scene;
use rustix::process::Pid;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Directories in which an attack leaves a file or directory named after its scene.
const ELSEWHERE: [&str; 8] =
    ["/etc", "/etc/cron.d", "/usr/local/bin", "/tmp", "/var/tmp", "/dev/shm", "/run", "/sys/fs/cgroup"];

/// Processes whose arguments contain the text.
pub fn processes_of(text: &str) -> Vec<Pid> {
    let has = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids: Vec<i32> = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The newest first: one that forks all the time would be gone when its turn comes.
    pids.into_iter().rev().filter(has).filter_map(Pid::from_raw).collect()
}

/// Ends them, also those that fork in the meantime; how many there were at first.
pub fn end_processes_of(text: &str) -> usize {
    let found = processes_of(text).len();
    for _ in 0..200 {
        let left = processes_of(text);
        if left.is_empty() {
            break;
        }
        for pid in left {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    found
}

/// What the workspace shows: secrets that were read, set-uid files and devices.
pub fn workspace_damage(scene: &Scene) -> Vec<String> {
    let mut found = Vec::new();
    walk(&scene.workspace(), &mut |path| {
        let Ok(meta) = fs::symlink_metadata(path) else { return };
        let (kind, name) = (meta.file_type(), path.display());
        if kind.is_file() && meta.mode() & 0o6000 != 0 {
            found.push(format!("{name} is a set-uid file"));
        }
        if kind.is_char_device() || kind.is_block_device() {
            // The scene's own device is there from the start.
            if !name.to_string().ends_with("/device") {
                found.push(format!("{name} is a device"));
            }
        }
        if kind.is_file() && has_capability_of_root(path) {
            found.push(format!("{name} has capabilities of its own"));
        }
        let content = if kind.is_file() { fs::read(path).unwrap_or_default() } else { Vec::new() };
        if String::from_utf8_lossy(&content).contains(&scene.secret()) {
            let text = String::from_utf8_lossy(&content);
            let line = text.split('\n').find(|line| line.contains(&scene.secret())).unwrap_or_default();
            found.push(format!("{name} has a secret: {}", line.chars().take(120).collect::<String>()));
        }
    });
    found
}

/// File capabilities that count outside: of version 2, or of version 3 for the real root.
fn has_capability_of_root(path: &Path) -> bool {
    let mut value = [0u8; 64];
    let length = rustix::fs::lgetxattr(path, "security.capability", &mut value).unwrap_or(0);
    let root = value.get(20..24).is_none_or(|id| id == [0, 0, 0, 0]);
    length == 20 || (length == 24 && root)
}

fn walk(path: &Path, see: &mut dyn FnMut(&Path)) {
    see(path);
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()) {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), see);
        }
    }
}

/// Where an attack may have left something outside the scene.
fn places(scene: &Scene) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = ELSEWHERE.iter().map(PathBuf::from).collect();
    let hierarchies = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    dirs.extend(hierarchies.map(|entry| entry.path()).filter(|path| path.is_dir()));
    dirs.iter().map(|dir| dir.join(format!("ralph-attack-{}", scene.id))).collect()
}

/// What an attack left outside the scene.
pub fn written_elsewhere(scene: &Scene) -> Vec<String> {
    let left = places(scene).into_iter().filter(|path| path.symlink_metadata().is_ok());
    let mut left: Vec<String> = left.map(|path| format!("{} is new", path.display())).collect();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    left.extend(mounts.contains(scene.base().to_str().unwrap()).then(|| "a mount is left outside".into()));
    left
}

/// Removes that again.
pub fn remove_left(scene: &Scene) {
    for path in places(scene) {
        // A link that was left is not followed.
        let is_dir = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let _ = if is_dir { fs::remove_dir(&path) } else { fs::remove_file(&path) };
    }
}
