//! Mounts that are held by a descriptor until they are attached somewhere. Targets are descriptors too: what a path leads to
//! is decided once, by [`super::paths`].

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, StatVfsMountFlags, fstatvfs};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::paths::open;
use super::{stale_work, sys};

/// A mount, with those below it.
#[derive(Debug)]
pub(super) struct Tree(OwnedFd);

impl Tree {
    /// A copy of what is seen at `at`, with everything mounted below it.
    pub fn copy_of(at: impl AsFd) -> io::Result<Tree> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE;
        Ok(Tree(open_tree(at, c"", flags)?))
    }

    /// A new file system. Options without a value are flags.
    pub fn new(kind: &str, options: &[(&str, &str)], flags: MountAttrFlags) -> io::Result<Tree> {
        let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, value) in options {
            match *value {
                "" => fsconfig_set_flag(&context, *key)?,
                value => fsconfig_set_string(&context, *key, value)?,
            }
        }
        fsconfig_create(&context)?;
        Ok(Tree(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?))
    }

    /// An empty directory in memory.
    pub fn new_tmpfs(mode: &str) -> io::Result<Tree> {
        Self::new(
            "tmpfs",
            &[("mode", mode)],
            MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
        )
    }

    /// A layer over `lower`: what is written goes to `upper`.
    ///
    /// `volatile` because an overlay otherwise writes the whole file system of `upper` to the disk when it ends, which takes
    /// as long as everybody else's writes take. What a program has written survives its end, but maybe not a power failure.
    pub fn new_overlay(lower: impl AsFd, upper: &OwnedFd, work: &OwnedFd) -> io::Result<Tree> {
        // By descriptor: a path with a colon in it would be read as two. `userxattr` is what an ordinary user may use;
        // root uses the same, so that a layer that is kept can be read by both.
        let path = |fd: BorrowedFd<'_>| format!("/proc/self/fd/{}", fd.as_raw_fd());
        stale_work::set_aside(work);
        let options = [
            ("lowerdir", path(lower.as_fd())),
            ("upperdir", path(upper.as_fd())),
            ("workdir", path(work.as_fd())),
            ("index", "off".to_owned()),
            ("userxattr", String::new()),
            ("volatile", String::new()),
        ];
        let options: Vec<(&str, &str)> = options.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let tree = Self::new("overlay", &options, flags)?;
        // What the kernel makes where it cannot write to `work`, which may be left from another user.
        if fstatvfs(&tree)?.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(Errno::ROFS.into());
        }
        Ok(tree)
    }

    /// The new `/proc` of a pid namespace. It must be as the old one in what the kernel compares, or it is refused.
    pub fn new_proc() -> io::Result<Tree> {
        let mut flags = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        if rustix::fs::statvfs("/proc")?.f_flag.contains(StatVfsMountFlags::NOATIME) {
            flags |= MountAttrFlags::MOUNT_ATTR_NOATIME;
        }
        Self::new("proc", &[], flags)
    }

    /// Sets attributes of the mount and all below it.
    pub fn set(&self, attributes: u64) -> io::Result<()> {
        sys::mount_setattr(self.0.as_fd(), true, attributes, 0)
    }

    /// Sets attributes of the mount alone.
    pub fn set_top(&self, attributes: u64) -> io::Result<()> {
        sys::mount_setattr(self.0.as_fd(), false, attributes, 0)
    }

    /// Attaches it over `target`.
    pub fn attach(&self, target: impl AsFd) -> io::Result<()> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(&self.0, c"", target, c"", flags)?)
    }

    /// Attaches it where the new `/dev` covers it. Not over `/dev` itself if it can be helped: a workspace in `/dev/shm` is still to
    /// be looked at.
    pub fn attach_out_of_sight(&self) -> io::Result<()> {
        let place = open(Path::new("/dev/pts")).or_else(|_| open(Path::new("/dev")))?;
        self.attach(place)
    }
}

impl AsFd for Tree {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Changes attributes of every mount.
pub(super) fn set_all(set: u64) -> io::Result<()> {
    let root = rustix::fs::openat(CWD, c"/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    sys::mount_setattr(root.as_fd(), true, set, 0)
}

/// Changes no mount outside this namespace, and is not changed by any.
pub(super) fn make_private() -> io::Result<()> {
    use rustix::mount::{MountPropagationFlags, mount_change};
    Ok(mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?)
}

/// The mount points below a directory, as the system lists them.
pub(super) fn mount_points_below(dir: &std::path::Path, mounts: &[u8]) -> Vec<std::path::PathBuf> {
    let lines = mounts.split(|byte| *byte == b'\n');
    let points = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescape);
    let mut below: Vec<_> = points.filter(|point| point != dir && point.starts_with(dir)).collect();
    below.sort();
    below.dedup();
    below
}

/// The system writes spaces and the like as `\040`.
fn unescape(word: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|code| std::str::from_utf8(code).ok());
        match code.filter(|_| *first == b'\\').and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;

    #[test]
    fn mount_points_are_found_by_their_real_names() {
        let mounts = b"22 1 8:1 / / rw - ext4 a rw\n23 22 8:1 / /home/a\\040b rw - ext4 a rw\n24 22 0:1 / /homes rw - x y z\n\
            25 23 0:1 / /home/a\\040b/c\\134 rw - x y z\n26 22 0:1 / /home/\xff rw - x y z\n";
        let below = mount_points_below(Path::new("/home"), mounts);
        let odd = PathBuf::from(std::ffi::OsStr::from_bytes(b"/home/\xff"));
        assert_eq!(below, [PathBuf::from("/home/a b"), PathBuf::from("/home/a b/c\\"), odd]);
    }
}
