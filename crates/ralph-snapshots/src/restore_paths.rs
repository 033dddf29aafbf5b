//! Restores exactly the paths that were touched. What is there now is copied to quarantine first, including what blocks a
//! path (a link or a file where a directory was). Can be repeated: a path that is as it should be is left alone, and so
//! is one that is neither as it should be nor as it was found, because it was changed again since.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::path::Path;

use ralph_os::NoFollowDir;
use ralph_tree::{Entry, Index, Kind, TreePath};

use crate::blobs::{Blobs, DAMAGED};
use crate::pending::HalfRestored;
use crate::restore::{RestoreAction, alike, closing_last};
use crate::snapshot_store::{PathProblem, is_kept};

/// The paths to restore, and the states to compare.
#[derive(Clone, Copy, Debug)]
pub struct TouchedPaths<'a> {
    /// The state to restore.
    pub before: &'a Index,
    /// The state in which the change was found.
    pub seen: &'a Index,
    /// The current state.
    pub now: &'a Index,
    /// The paths that were touched.
    pub touched: &'a [TreePath],
    /// What an interrupted restore of them left: nobody changed that since.
    pub half: &'a HalfRestored,
}

/// The plan.
#[derive(Debug, Default)]
pub struct PathRestore {
    /// What goes into quarantine first, in this order.
    pub aside: Vec<TreePath>,
    /// Actions after that, in order.
    pub acts: Vec<RestoreAction>,
    /// What is left alone, and why.
    pub left: Vec<PathProblem>,
}

/// A copy made by [`copy_to_quarantine`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct QuarantineCopy {
    /// Its permissions.
    pub mode: u32,
    /// What it was: `file`, `link`, `directory` or `special`.
    pub kind: &'static str,
    /// Whether there is a copy (of a link: its target). Special files have no content.
    pub kept: bool,
}

/// Makes directories above the touched paths readable for their owner; true if there were any. This comes first, because
/// what is in them may have been changed too.
pub fn make_readable(root: &Path, damage: TouchedPaths<'_>) -> io::Result<bool> {
    let root = NoFollowDir::open(root)?;
    let mut opened = false;
    // What could not be read before is not ours to open: what is in it is not known, so it cannot be restored.
    let unknown = |path: &[u8]| damage.before.get(path).is_some_and(|was| was.unreadable);
    let closed =
        |entry: &Entry<'_>| entry.kind == Kind::Directory && entry.unreadable && !unknown(entry.path);
    let concerned =
        |dir: &[u8]| damage.touched.iter().any(|path| path.as_bytes() == dir || lies_in(path, dir));
    let dirs: Vec<(&[u8], u16)> = damage
        .now
        .entries()
        .filter(|entry| closed(entry) && concerned(entry.path))
        .map(|entry| (entry.path, damage.before.get(entry.path).map_or(0, |was| was.mode)))
        .collect();
    for (path, mode) in dirs {
        let mode = if mode & 0o500 == 0o500 { mode } else { 0o700 };
        opened |= root.set_mode(path, mode).is_ok();
    }
    Ok(opened)
}

/// Plans the restore.
pub fn restore_paths(root: &Path, damage: TouchedPaths<'_>, blobs: &Blobs) -> io::Result<PathRestore> {
    let root = NoFollowDir::open(root)?;
    let (mut plan, mut dirs, mut blocked) = (PathRestore::default(), BTreeSet::new(), BTreeSet::new());
    let (mut removals, mut comes) = (Vec::new(), Vec::new());
    for path in damage.touched {
        let bytes = path.as_bytes();
        let (was, is) = (damage.before.get(bytes), damage.now.get(bytes));
        if same(was.as_ref(), is.as_ref()) {
            continue;
        }
        if was.is_none() && is_below_unreadable(damage.before, bytes) {
            plan.left.push(missed(path, "it could not be read before, so what was there is not known"));
            continue;
        }
        let found = damage.seen.get(bytes);
        let was_closed = found.is_some_and(|found| found.kind == Kind::Directory && found.unreadable);
        let known = same(found.as_ref(), is.as_ref()) || damage.half.has(bytes, is.as_ref());
        if !known && !was_closed && !is_below_unreadable(damage.seen, bytes) {
            plan.left.push(missed(path, "it was changed again since"));
            continue;
        }
        let come = match was.as_ref().map(|was| comes_back(was, is.as_ref(), blobs)).transpose() {
            Ok(come) => come,
            Err(why) => {
                plan.left.push(missed(path, why));
                continue;
            }
        };
        if is.is_some_and(|is| is.kind != Kind::Directory || was.is_none_or(|was| was.kind != is.kind)) {
            plan.aside.push(path.clone());
        }
        if is.is_some_and(|is| was.is_none_or(|was| was.kind != is.kind)) {
            removals.push(RestoreAction::Clear { path: path.clone() });
        }
        if let Some(come) = come {
            above(&root, &damage, bytes, &mut dirs, &mut blocked);
            comes.push(come);
        }
    }
    plan.aside.extend(blocked.iter().map(|path: &Vec<u8>| path.as_slice().into()));
    removals.extend(blocked.iter().map(|path| RestoreAction::Clear { path: path.as_slice().into() }));
    removals.sort_by(|a, b| b.path().as_bytes().cmp(a.path().as_bytes()));
    let makes = dirs
        .into_iter()
        .map(|(path, mode): (Vec<u8>, u16)| RestoreAction::Make { path: path.as_slice().into(), mode });
    comes.sort_by(|a, b| a.path().as_bytes().cmp(b.path().as_bytes()));
    plan.acts = removals;
    plan.acts.extend(emptied(&damage));
    plan.acts.extend(closing_last(makes.chain(comes).collect()));
    Ok(plan)
}

/// The action that restores a path, or why there is none.
fn comes_back(was: &Entry<'_>, is: Option<&Entry<'_>>, blobs: &Blobs) -> Result<RestoreAction, &'static str> {
    let path: TreePath = was.path.into();
    let content = is.filter(|is| is.kind == was.kind && is.hash == was.hash && !is.unreadable);
    match was.kind {
        _ if was.is_repository() && was.kind != Kind::File => {
            Err("a `.git` directory is not saved in snapshots")
        }
        Kind::Directory if is.is_some_and(|is| is.kind == Kind::Directory) => {
            Ok(RestoreAction::Mode { path, mode: was.mode })
        }
        Kind::Directory => Ok(RestoreAction::Make { path, mode: was.mode }),
        Kind::Special => Err("it was neither a file nor a link"),
        Kind::File if content.is_some() => Ok(RestoreAction::Mode { path, mode: was.mode }),
        _ if !is_kept(was) => Err("its content was not kept: too large or not readable"),
        _ if !blobs.has(was.hash) => Err("its content was not saved"),
        Kind::File if !blobs.holds(was.hash, was.size) => Err(DAMAGED),
        Kind::Symlink => Ok(RestoreAction::Link { path, hash: was.hash }),
        Kind::File => Ok(RestoreAction::Write { path, hash: was.hash, mode: was.mode, new: is.is_none() }),
    }
}

/// The directories above a restored path: missing ones are created, what blocks them is quarantined.
fn above(
    root: &NoFollowDir,
    damage: &TouchedPaths<'_>,
    path: &[u8],
    dirs: &mut BTreeSet<(Vec<u8>, u16)>,
    blocked: &mut BTreeSet<Vec<u8>>,
) {
    for end in path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at) {
        let dir = path.get(..end).unwrap_or_default();
        let there = root.metadata(dir);
        if there.as_ref().is_some_and(fs::Metadata::is_dir) {
            continue;
        }
        if there.is_some() {
            blocked.insert(dir.to_vec());
        }
        dirs.insert((dir.to_vec(), damage.before.get(dir).map_or(0, |was| was.mode)));
    }
}

/// Protected directories that are new and will be empty after the restore.
fn emptied(damage: &TouchedPaths<'_>) -> Vec<RestoreAction> {
    let new = |entry: &Entry<'_>| {
        entry.kind == Kind::Directory && entry.protected && damage.before.get(entry.path).is_none()
    };
    let mut acts: Vec<RestoreAction> = damage
        .now
        .entries()
        .filter(new)
        .map(|entry| RestoreAction::RemoveEmpty { path: entry.path.into() })
        .collect();
    acts.reverse();
    acts
}

/// Whether the path lies in a directory that could not be read.
fn is_below_unreadable(seen: &Index, path: &[u8]) -> bool {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let dirs = ends.filter_map(|end| seen.get(path.get(..end).unwrap_or_default()));
    dirs.into_iter().any(|dir| dir.unreadable)
}

fn same(a: Option<&Entry<'_>>, b: Option<&Entry<'_>>) -> bool {
    let whole = a.is_none_or(|a| !a.unreadable) && b.is_none_or(|b| !b.unreadable);
    let repository = a.or(b).is_some_and(|e| e.is_repository() && e.kind == Kind::Directory);
    let inode = |e: Option<&Entry<'_>>| e.map(|e| (e.ino, e.ctime));
    alike(a, b) && (whole || inode(a) == inode(b)) && (!repository || a.map(|a| a.ino) == b.map(|b| b.ino))
}

fn lies_in(path: &TreePath, dir: &[u8]) -> bool {
    path.as_bytes().strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/"))
}

fn missed(path: &TreePath, why: &str) -> PathProblem {
    PathProblem { path: path.clone(), why: why.to_owned() }
}

/// Copies what is at a path, whatever it is, to a new place outside the workspace, and syncs it to disk.
pub fn copy_to_quarantine(root: &Path, path: &TreePath, to: &Path) -> io::Result<QuarantineCopy> {
    let root = NoFollowDir::open(root)?;
    let (_dir, here) = root.resolved(path.as_bytes())?;
    let meta = here.symlink_metadata()?;
    let mode = meta.permissions().mode() & 0o7777;
    if meta.is_file() && File::open(&here).is_err() {
        root.make_readable(path.as_bytes())?;
    }
    let (kind, kept) = copy_any(&here, to)?;
    Ok(QuarantineCopy { mode, kind, kept })
}

fn copy_any(from: &Path, to: &Path) -> io::Result<(&'static str, bool)> {
    let kind = from.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        use std::os::unix::ffi::OsStrExt;
        fs::write(to, fs::read_link(from)?.as_os_str().as_bytes())?;
        File::open(to)?.sync_all()?;
        return Ok(("link", true));
    }
    if kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device() {
        return Ok(("special", false));
    }
    if kind.is_dir() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_any(&entry.path(), &to.join(entry.file_name()))?;
        }
        File::open(to)?.sync_all()?;
        return Ok(("directory", true));
    }
    crate::blobs::copy_file(&mut File::open(from)?, to)?;
    Ok(("file", true))
}
