//! What the probe tries inside. It says what it could do; what is left outside is looked for outside.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, capabilities};

use super::capabilities::FOR_FILES;
use crate::probe::{Attack, Promise, Tasks};

/// The name of the file that is left where nothing should be written.
pub(super) const LEFT: &str = "left-by-probe";

/// Tries everything, and says what could be done: of what breaks the same promise the first.
pub(crate) fn attack(tasks: &Tasks) -> Vec<Attack> {
    let mut done: Vec<Attack> = Vec::new();
    let mut could = |breaks, did: String| {
        if !done.iter().any(|attack| attack.breaks == breaks) {
            done.push(Attack { breaks, did });
        }
    };
    for dir in &tasks.outside {
        // A layer may take it, so only a look from outside tells.
        let _ = fs::write(dir.join(LEFT), "left");
    }
    for path in &tasks.hidden {
        for path in [path.clone(), Path::new("/proc/self/root").join(path.strip_prefix("/").unwrap_or(path))]
        {
            if shows_something(&path) {
                could(Promise::Files, format!("read {}", path.display()));
            }
        }
    }
    if let Some(path) = tasks.protected.iter().find(|path| writable(path)) {
        could(Promise::ProtectedPaths, format!("opened {} for writing", path.display()));
    }
    let above = |path: &'_ PathBuf| {
        path.ancestors()
            .skip(1)
            .take_while(|dir| *dir != tasks.workspace)
            .map(Path::to_owned)
            .collect::<Vec<_>>()
    };
    let pinned: BTreeSet<PathBuf> = tasks.protected.iter().flat_map(above).collect();
    if let Some(dir) = pinned.iter().find(|dir| movable(dir)) {
        could(Promise::ProtectedPaths, format!("could move {}", dir.display()));
    }
    if let Some(process) = other_process() {
        could(Promise::Processes, format!("saw process {process}"));
    }
    if let Some(port) = tasks.port.filter(|port| reaches(*port)) {
        could(Promise::Network, format!("reached port {port} on loopback"));
    }
    let allowed = if tasks.file_capabilities { FOR_FILES } else { CapabilitySet::empty() };
    let held = capabilities(None).map_or(CapabilitySet::all(), |sets| sets.effective | sets.permitted);
    if !allowed.contains(held) {
        could(Promise::Files, format!("held capabilities {:#x}", held.bits()));
    }
    done
}

/// Whether there is a file with something in it, or a directory.
pub(super) fn shows_something(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    if found.is_dir() {
        return fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some_and(|entry| entry.is_ok()));
    }
    // A pipe would be waited for.
    found.is_file()
        && File::open(path).is_ok_and(|mut file| file.read(&mut [0; 1]).is_ok_and(|count| count > 0))
}

/// Whether a file could be written, or a file be made in a directory; nothing of it stays.
fn writable(path: &Path) -> bool {
    if path.is_dir() {
        let unnamed = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        return openat(CWD, path, unnamed, Mode::from_raw_mode(0o600)).is_ok();
    }
    // A pipe would be waited for, and is not protected by being read-only.
    let regular = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    regular && File::options().write(true).open(path).is_ok()
}

/// Whether a directory that is not empty could be moved: the kernel looks whether it is a mount point before it looks
/// whether it is empty.
fn movable(dir: &Path) -> bool {
    let removed = rustix::fs::rmdir(dir);
    !matches!(removed, Err(Errno::BUSY | Errno::ROFS | Errno::ACCESS | Errno::PERM | Errno::NOENT))
}

/// A process that is neither the first one inside nor this one.
fn other_process() -> Option<u32> {
    let names = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.file_name());
    let mut pids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    pids.find(|pid| *pid != 1 && *pid != std::process::id())
}

fn reaches(port: u16) -> bool {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let sent = || UdpSocket::bind(("127.0.0.1", 0)).and_then(|socket| socket.send_to(b"probe", address));
    // A datagram is seen outside, by who listens there; a connection is seen here too.
    let _ = sent();
    TcpStream::connect_timeout(&address, Duration::from_secs(2)).is_ok()
}
