//! Control groups of both versions, in the part of the tree where this process is and may make some.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use ralph_os::in_words;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::process::{Pid, getpid};

use super::paths;

/// How the groups of boxes are called, with the box's pid after it.
const NAME: &str = "ralph-box-";

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Controller {
    Pids,
    Memory,
}

impl Controller {
    fn name(self) -> &'static str {
        match self {
            Controller::Pids => "pids",
            Controller::Memory => "memory",
        }
    }

    /// For a note.
    pub fn what(self) -> &'static str {
        match self {
            Controller::Pids => "processes",
            Controller::Memory => "memory",
        }
    }

    fn file(self, version: Version) -> &'static str {
        match (self, version) {
            (Controller::Pids, _) => "pids.max",
            (Controller::Memory, Version::One) => "memory.limit_in_bytes",
            (Controller::Memory, Version::Two) => "memory.max",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A group that was made for a box. Held by descriptors: inside the box's mounts the files are read-only.
#[derive(Debug)]
pub(super) struct Cgroup {
    parent: OwnedFd,
    name: String,
    procs: File,
}

impl Cgroup {
    /// Makes a group per controller and limits it; also returns those that could not be limited, with the reason.
    pub fn make(wanted: &[(Controller, u64)]) -> (Vec<Cgroup>, Vec<(Controller, String)>) {
        let (mut made, mut missing) = (Vec::new(), Vec::new());
        if wanted.is_empty() {
            return (made, missing);
        }
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        // Of version 2 there is one tree for all controllers, so one group.
        let mut unified: Option<(PathBuf, Vec<(Controller, u64)>)> = None;
        for (controller, most) in wanted {
            match place(*controller, &own, &mounts) {
                None => missing.push((*controller, "no control group for it here".to_owned())),
                Some((Version::Two, parent)) => {
                    unified.get_or_insert((parent, Vec::new())).1.push((*controller, *most));
                }
                Some((Version::One, parent)) => {
                    match Self::make_in(&parent, Version::One, &[(*controller, *most)]) {
                        Ok(group) => made.push(group),
                        Err(error) => missing.push((*controller, why(&parent, &error))),
                    }
                }
            }
        }
        if let Some((parent, limits)) = unified {
            match Self::make_in(&parent, Version::Two, &limits) {
                Ok(group) => made.push(group),
                Err(error) => {
                    let why = why(&parent, &error);
                    missing.extend(limits.into_iter().map(|(controller, _)| (controller, why.clone())));
                }
            }
        }
        (made, missing)
    }

    fn make_in(parent: &Path, version: Version, limits: &[(Controller, u64)]) -> io::Result<Cgroup> {
        if version == Version::Two {
            enable(parent, limits)?;
        }
        remove_left_behind(parent);
        let dir = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let parent = openat(CWD, parent, dir, Mode::empty())?;
        let name = format!("{NAME}{}", getpid().as_raw_pid());
        mkdirat(&parent, &name, Mode::from_raw_mode(0o755))?;
        let write = |file: &str| -> io::Result<File> {
            Ok(openat(&parent, format!("{name}/{file}"), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?
                .into())
        };
        let limited = limits.iter().try_for_each(|(controller, most)| {
            write(controller.file(version))?.write_all(most.to_string().as_bytes())
        });
        match limited.and_then(|()| write("cgroup.procs")) {
            Ok(procs) => Ok(Cgroup { parent, name, procs }),
            Err(error) => {
                let _ = unlinkat(&parent, &name, AtFlags::REMOVEDIR);
                Err(error)
            }
        }
    }

    /// Puts a process into it.
    pub fn admit(&self, process: Pid) -> io::Result<()> {
        (&self.procs).write_all(process.as_raw_pid().to_string().as_bytes())
    }

    /// Removes it. One that is still in use stays, and is removed by a later box.
    pub fn remove(self) {
        let _ = unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR);
    }
}

/// Why no group was made, for a note.
fn why(parent: &Path, error: &io::Error) -> String {
    let parent = parent.display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("the control group {parent} is not yours (systemd can delegate it: see docs/sandbox.md)")
        }
        io::ErrorKind::ReadOnlyFilesystem => format!("the control groups at {parent} are read-only here"),
        _ => format!("in the control group {parent}: {}", in_words(error)),
    }
}

/// Controllers that children of a group of version 2 have.
fn enable(parent: &Path, limits: &[(Controller, u64)]) -> io::Result<()> {
    let file = parent.join("cgroup.subtree_control");
    let enabled = fs::read_to_string(&file)?;
    for (controller, _) in limits {
        if !enabled.split_whitespace().any(|it| it == controller.name()) {
            fs::write(&file, format!("+{}", controller.name()))?;
        }
    }
    Ok(())
}

/// Groups of boxes that were killed. One with a process in it cannot be removed.
fn remove_left_behind(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.strip_prefix(NAME)) else { continue };
        if paths::open(&Path::new("/proc").join(pid)).is_err() {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The directory in which a group for a controller is to be made.
fn place(controller: Controller, own: &str, mounts: &str) -> Option<(Version, PathBuf)> {
    let own_line = |name: &str| {
        own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            controllers.split(',').any(|it| it == name).then_some(path)
        })
    };
    if let Some(path) = own_line(controller.name()) {
        return mounted(mounts, path, |kind, options| {
            kind == "cgroup" && options.split(',').any(|it| it == controller.name())
        })
        .map(|dir| (Version::One, dir));
    }
    // Processes are only in the leaves of this tree, so the group is made beside the own one; the root may have both.
    let dir = mounted(mounts, own_line("")?, |kind, _| kind == "cgroup2")?;
    let controllers = fs::read_to_string(dir.join("cgroup.controllers")).ok()?;
    if !controllers.split_whitespace().any(|it| it == controller.name()) {
        return None;
    }
    let is_root = !dir.join("cgroup.type").exists();
    Some((Version::Two, if is_root { dir } else { dir.parent()?.to_owned() }))
}

/// Where the group `path` is seen, in the first mount that is of this kind and shows it.
fn mounted(mounts: &str, path: &str, is_it: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let (mut before, mut after) = (before.split(' ').skip(3), after.split(' '));
        let (root, point) = (before.next()?, before.next()?);
        let (kind, options) = (after.next()?, after.nth(1)?);
        let below = Path::new(path).strip_prefix(root).ok()?;
        is_it(kind, options).then(|| Path::new(point).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "30 25 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
        31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn a_group_of_version_1_is_found_below_the_own_one() {
        let own = "8:pids:/\n4:memory:/a/b\n0::/\n";
        let found = |controller| place(controller, own, MOUNTS);
        assert_eq!(found(Controller::Pids), Some((Version::One, "/sys/fs/cgroup/pids".into())));
        assert_eq!(found(Controller::Memory), Some((Version::One, "/sys/fs/cgroup/memory/a/b".into())));
    }

    #[test]
    fn reasons_are_words() {
        let said = |errno| why(Path::new("/sys/fs/cgroup/a"), &io::Error::from_raw_os_error(errno));
        for (errno, words) in
            [(13, "is not yours"), (30, "are read-only here"), (16, "Device or resource busy")]
        {
            let said = said(errno);
            assert!(said.contains(words) && !said.contains("os error"), "{said}");
        }
    }

    #[test]
    fn without_a_mount_there_is_none() {
        assert_eq!(place(Controller::Pids, "8:pids:/\n", ""), None);
        assert_eq!(place(Controller::Pids, "", MOUNTS), None);
    }
}
