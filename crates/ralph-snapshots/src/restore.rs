//! Going back: what it takes to make a workspace as an index says it was, and doing it. Planned first and shown, then
//! done act by act; each act can be repeated, so that a run of them that was cut short is simply done again. What
//! somebody changed since the last look is left alone unless that was asked for.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use ralph_tree::{Entry, Index, Kind, TreePath, side_by_side};
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::at::Root;
use crate::blobs::Blobs;
use crate::snapshot_store::{Missed, is_kept};

/// Where to go, and from where.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// As it should be.
    pub target: &'a Index,
    /// As it was left: what differs from this was changed by somebody else since.
    pub left: &'a Index,
    /// As it is.
    pub now: &'a Index,
    /// Also what somebody else changed since.
    pub newer_too: bool,
}

/// One change to the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Gives a file this content and mode; `new` where it is gone now.
    Write {
        /// The file.
        path: TreePath,
        /// Its content.
        hash: u128,
        /// Its permissions.
        mode: u16,
        /// It is not there now.
        new: bool,
    },
    /// Makes a link that points where this content says.
    Link {
        /// The link.
        path: TreePath,
        /// Where it points.
        hash: u128,
    },
    /// Gives a file or a protected directory these permissions.
    Mode {
        /// The path.
        path: TreePath,
        /// Its permissions.
        mode: u16,
    },
    /// Makes a directory with these permissions.
    Make {
        /// The directory.
        path: TreePath,
        /// Its permissions; 0 where they are not known.
        mode: u16,
    },
    /// Removes a file or link.
    Remove {
        /// The path.
        path: TreePath,
    },
    /// Removes whatever is there, with all that lies in it. Never planned for undoing; only for what lies in
    /// quarantine already.
    Clear {
        /// The path.
        path: TreePath,
    },
    /// Removes a directory, if nothing is left in it.
    RemoveEmpty {
        /// The path.
        path: TreePath,
    },
}

impl Act {
    /// What it is done to.
    #[must_use]
    pub fn path(&self) -> &TreePath {
        match self {
            Act::Write { path, .. }
            | Act::Link { path, .. }
            | Act::Mode { path, .. }
            | Act::Make { path, .. }
            | Act::Clear { path }
            | Act::Remove { path }
            | Act::RemoveEmpty { path } => path,
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Act::Write { new: true, .. } | Act::Make { .. } => "bring restore",
            Act::Write { .. } | Act::Link { .. } => "put restore",
            Act::Mode { .. } => "permissions of",
            Act::Remove { .. } | Act::RemoveEmpty { .. } | Act::Clear { .. } => "remove",
        };
        write!(f, "{word} {}", self.path())
    }
}

/// What it takes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Restore {
    /// What to do, in this order.
    pub acts: Vec<Act>,
    /// Changed by somebody since, and therefore left alone.
    pub newer: Vec<TreePath>,
    /// What cannot be brought back.
    pub missing: Vec<Missed>,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Done {
    /// Acts that succeeded.
    pub acts: u32,
    /// Those that did not.
    pub failed: Vec<Missed>,
}

/// Plans the way back. Paths that neither index names are not looked at.
#[must_use]
pub fn restore(wanted: Wanted<'_>, blobs: &Blobs) -> Restore {
    let Wanted { target, left, now, newer_too } = wanted;
    let (mut plan, mut removals) = (Restore::default(), Vec::new());
    for (want, is) in side_by_side(target, now) {
        let Some(path) = want.or(is).map(|entry| entry.path) else { continue };
        let matters = want.is_some_and(|entry| entry.matters()) || is.is_some_and(|entry| entry.matters());
        if !matters || alike(want.as_ref(), is.as_ref()) {
            continue;
        }
        if !newer_too && !alike(left.get(path).as_ref(), is.as_ref()) {
            plan.newer.push(path.into());
            continue;
        }
        if let Some(want) = &want {
            plan.want(want, is.as_ref(), blobs);
        }
        if let Some(is) = is.filter(|is| want.is_none_or(|want| want.kind != is.kind)) {
            removals.push(remove(&is));
        }
    }
    // What lies in a directory goes before the directory, and everything goes before anything comes.
    removals.reverse();
    removals.append(&mut plan.acts);
    plan.acts = closing_last(removals);
    plan
}

/// Directories that nobody may write into are closed when everything in them is done, the deepest first.
pub(crate) fn closing_last(acts: Vec<Act>) -> Vec<Act> {
    let mut closing = Vec::new();
    let mut ordered = Vec::with_capacity(acts.len());
    for act in acts {
        match act {
            Act::Make { path, mode } if mode != 0 => {
                closing.push(Act::Mode { path: path.clone(), mode });
                ordered.push(Act::Make { path, mode: mode | 0o700 });
            }
            act => ordered.push(act),
        }
    }
    ordered.extend(closing.into_iter().rev());
    ordered
}

impl Restore {
    fn want(&mut self, want: &Entry<'_>, is: Option<&Entry<'_>>, blobs: &Blobs) {
        let path: TreePath = want.path.into();
        let content = |is: &&Entry<'_>| is.kind == want.kind && is.hash == want.hash && !is.unreadable;
        let same_content = is.filter(content).is_some();
        let why = match want.kind {
            Kind::Directory if want.mode != 0 && is.is_some_and(|is| is.kind == Kind::Directory) => {
                return self.acts.push(Act::Mode { path, mode: want.mode });
            }
            Kind::Directory => return self.acts.push(Act::Make { path, mode: want.mode }),
            Kind::File if same_content => return self.acts.push(Act::Mode { path, mode: want.mode }),
            Kind::Special => "it was neither a file nor a link",
            _ if !is_kept(want) => "its content was not kept: too large or not readable",
            _ if !blobs.has(want.hash) => "its content is no longer kept",
            Kind::Symlink => return self.acts.push(Act::Link { path, hash: want.hash }),
            Kind::File => {
                return self.acts.push(Act::Write {
                    path,
                    hash: want.hash,
                    mode: want.mode,
                    new: is.is_none(),
                });
            }
        };
        self.missing.push(Missed { path, why: why.to_owned() });
    }

    /// Does it. What fails is told and the rest is done all the same.
    pub fn apply(&self, root: &Path, blobs: &Blobs) -> io::Result<Done> {
        let root = Root::open(root)?;
        let mut done = Done::default();
        for act in &self.acts {
            match apply(&root, act, blobs) {
                Ok(()) => done.acts += 1,
                Err(error) => {
                    done.failed.push(Missed { path: act.path().clone(), why: error.to_string() });
                }
            }
        }
        Ok(done)
    }
}

fn remove(is: &Entry<'_>) -> Act {
    let path = is.path.into();
    if is.kind == Kind::Directory { Act::RemoveEmpty { path } } else { Act::Remove { path } }
}

/// The same thing as far as going back is concerned. A directory nobody looked at closely has no mode.
pub(crate) fn alike(a: Option<&Entry<'_>>, b: Option<&Entry<'_>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) if a.kind != b.kind => false,
        (Some(a), Some(b)) if a.kind == Kind::Directory => a.mode == b.mode || a.mode == 0 || b.mode == 0,
        (Some(a), Some(b)) => a.hash == b.hash && (a.mode == b.mode || a.kind == Kind::Symlink),
        _ => false,
    }
}

/// A directory that does not let its owner write is opened for the moment it takes.
fn apply(root: &Root, act: &Act, blobs: &Blobs) -> io::Result<()> {
    match apply_once(root, act, blobs) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let closed = root.open_up(act.path().as_bytes())?;
            let done = apply_once(root, act, blobs);
            closed.close()?;
            done
        }
        other => other,
    }
}

fn apply_once(root: &Root, act: &Act, blobs: &Blobs) -> io::Result<()> {
    match act {
        Act::Make { path, mode } => root.make(path.as_bytes(), *mode),
        Act::Clear { path } => root.clear(path.as_bytes()),
        Act::Write { path, hash, mode, .. } => write(root, path, blobs, *hash, *mode),
        Act::Link { path, hash } => link(root, path, &std::fs::read(blobs.path(*hash))?),
        Act::Mode { path, mode } => set_mode(root, path.as_bytes(), *mode),
        Act::Remove { path } => root.remove(path.as_bytes(), false),
        Act::RemoveEmpty { path } => match root.remove(path.as_bytes(), true) {
            // Something is left in it that nobody looks at; it may stay.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            other => other,
        },
    }
}

/// Gives what is there these permissions; a link is not followed.
pub(crate) fn set_mode(root: &Root, path: &[u8], mode: u16) -> io::Result<()> {
    let (dir, name) = root.parent(path)?;
    let flags = ralph_os::HELD | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(&dir, &name, flags, Mode::empty())?;
    if rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode).is_symlink() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(ralph_os::chmod_held(&fd, mode_of(mode))?)
}

/// A draft beside the file takes its place when it is whole, so that nobody ever sees half a file.
fn write(root: &Root, path: &TreePath, blobs: &Blobs, hash: u128, mode: u16) -> io::Result<()> {
    let (dir, name) = root.make_parent(path.as_bytes())?;
    let draft = draft(hash);
    let _ = rustix::fs::unlinkat(&dir, &draft, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(rustix::fs::openat(&dir, &draft, flags, Mode::from_raw_mode(0o600))?);
    let written = blobs
        .copy_to(hash, &mut file)
        .and_then(|()| Ok(rustix::fs::fchmod(&file, mode_of(mode))?))
        .and_then(|()| file.sync_data());
    place(written, &dir, &draft, &name)
}

fn link(root: &Root, path: &TreePath, target: &[u8]) -> io::Result<()> {
    let (dir, name) = root.make_parent(path.as_bytes())?;
    let draft = draft(u128::from(std::process::id()));
    let _ = rustix::fs::unlinkat(&dir, &draft, AtFlags::empty());
    let made = rustix::fs::symlinkat(OsString::from_vec(target.to_vec()), &dir, &draft);
    place(made.map_err(Into::into), &dir, &draft, &name)
}

fn place(made: io::Result<()>, dir: &OwnedFd, draft: &str, name: &OsString) -> io::Result<()> {
    let placed = made.and_then(|()| Ok(rustix::fs::renameat(dir, draft, dir, name)?));
    if placed.is_err() {
        let _ = rustix::fs::unlinkat(dir, draft, AtFlags::empty());
    }
    placed
}

/// The same name each time: what a crash left is found and replaced when the act is repeated.
fn draft(hash: u128) -> String {
    format!(".ralph-{hash:032x}.draft")
}

fn mode_of(mode: u16) -> Mode {
    Mode::from_raw_mode(rustix::fs::RawMode::from(mode))
}
