//! An overlay that only one process tree sees: in a mount namespace, with a user namespace if the user is not root.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, openat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::UnshareFlags;

/// Mounts `upper` over a directory for this process, which must have a single thread, and all its children. Writes go to
/// `upper`; `work` is an empty directory beside it. The mount disappears with the last of these processes.
pub fn mount_overlay(over: &Path, upper: &Path, work: &Path) -> io::Result<()> {
    if holds_mounts(over) {
        // They would not be seen through the overlay, and what is in them would be missing.
        return Err(Errno::BUSY.into());
    }
    let own_user = apart()?;
    mount_layer(over, &open(over)?, &open(upper)?, &open(work)?, own_user)
}

/// Mounts an overlay in the namespace at hand.
pub(super) fn mount_layer(
    at: &Path,
    lower: &OwnedFd,
    upper: &OwnedFd,
    work: &OwnedFd,
    own_user: bool,
) -> io::Result<()> {
    // By descriptor: a path with a comma or a colon in it would be read as two.
    let (lower, upper, work) = (proc_path(lower), proc_path(upper), proc_path(work));
    let more = if own_user { ",userxattr" } else { "" };
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work},index=off{more}");
    let options = std::ffi::CString::new(options)?;
    Ok(mount("ralph", at, "overlay", MountFlags::empty(), Some(options.as_c_str()))?)
}

/// A path to what is open.
pub(super) fn proc_path(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// Creates a whiteout: a file in the upper directory that hides the lower one of the same name.
pub fn make_whiteout(path: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0)?)
}

/// Enters a mount namespace of its own, in which no mount reaches anybody else; true if that needed a user namespace.
pub(super) fn apart() -> io::Result<bool> {
    let own_user = enter_namespaces()?;
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    Ok(own_user)
}

fn enter_namespaces() -> io::Result<bool> {
    match unshare(UnshareFlags::NEWNS) {
        Err(Errno::PERM) => {}
        other => return Ok(other.map(|()| false)?),
    }
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    unshare(UnshareFlags::NEWNS | UnshareFlags::NEWUSER)?;
    // Everybody stays who they are.
    tell("/proc/self/setgroups", "deny")?;
    tell("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    tell("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    Ok(true)
}

#[allow(unsafe_code)]
fn unshare(what: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the call is unsafe because a thread could keep descriptors that another does not know; neither flag
    // touches the table of descriptors, and the supervisor has one thread.
    unsafe { rustix::thread::unshare_unsafe(what) }
}

fn tell(file: &str, word: &str) -> io::Result<()> {
    File::options().write(true).open(file)?.write_all(word.as_bytes())
}

pub(super) fn open(dir: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Something is mounted below the directory.
pub(super) fn holds_mounts(dir: &Path) -> bool {
    let Some(dir) = dir.to_str() else { return false };
    let below = format!("{}/", dir.replace('\\', "\\134").replace(' ', "\\040").replace('\t', "\\011"));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().filter_map(|line| line.split(' ').nth(4)).any(|point| point.starts_with(&below))
}
