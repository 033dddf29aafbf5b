//! A `/dev` with only what programs need.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::mount::MountAttrFlags;

use super::failure::Step;
use super::mount_tree::Tree;
use super::paths::{open, open_below};
use super::sys::{NO_SUID, READ_ONLY};
use crate::report::Failure;

const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: [(&str, &str); 5] = [
    ("pts/ptmx", "ptmx"),
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
];

/// The device files of the system, held before every device file is made unusable.
#[derive(Debug)]
pub(super) struct Nodes(Vec<(&'static str, Tree)>);

impl Nodes {
    /// Holds those that exist.
    pub fn hold() -> Nodes {
        let held = |name: &&'static str| {
            let file = open(&Path::new("/dev").join(name)).ok()?;
            Some((*name, Tree::copy_of(file).ok()?))
        };
        Nodes(NODES.iter().filter_map(held).collect())
    }

    /// Puts a `/dev` with them in place.
    pub fn show(self) -> Result<(), Failure> {
        self.build().step("/dev")
    }

    fn build(self) -> io::Result<()> {
        let dev = Tree::new("tmpfs", &[("mode", "755"), ("size", "64k")], MountAttrFlags::MOUNT_ATTR_NOSUID)?;
        dev.attach(open(Path::new("/dev"))?)?;
        for (name, node) in self.0 {
            let make = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
            openat(&dev, name, make, Mode::from_raw_mode(0o644))?;
            node.set(NO_SUID)?;
            node.attach(open_below(&dev, Path::new(name))?)?;
        }
        for (target, name) in LINKS {
            symlinkat(target, &dev, name)?;
        }
        for name in ["pts", "shm"] {
            mkdirat(&dev, name, Mode::from_raw_mode(0o755))?;
        }
        let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let options = [("newinstance", ""), ("ptmxmode", "0666"), ("mode", "620")];
        Tree::new("devpts", &options, flags)?.attach(open_below(&dev, Path::new("pts"))?)?;
        Tree::new_tmpfs("1777")?.attach(open_below(dev.as_fd(), Path::new("shm"))?)?;
        dev.set_top(READ_ONLY)
    }
}
