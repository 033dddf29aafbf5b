//! Restoring a workspace to an index: planned first, so that it can be shown, then applied action by action. What is
//! missing comes back before anything is removed that is not in its way. Actions can be repeated, so an interrupted
//! restore is simply run again (`pending.rs` knows its paths). What was changed since the run is left alone unless
//! requested.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

use ralph_os::{Draft, DraftFile, NoFollowDir};
use ralph_tree::{Entry, Index, Kind, TreePath, side_by_side};
use rustix::fs::{Mode, RawMode};

use crate::blobs::{Blobs, DAMAGED};
use crate::pending::HalfRestored;
use crate::snapshot_store::{PathProblem, is_kept};
use crate::write_batch::WriteBatch;

/// What to restore, and from which state.
#[derive(Clone, Copy, Debug)]
pub struct RestoreRequest<'a> {
    /// The state to restore.
    pub target: &'a Index,
    /// The state the run left: what differs from it was changed later.
    pub left: &'a Index,
    /// The current state.
    pub now: &'a Index,
    /// Also restore what was changed later.
    pub newer_too: bool,
    /// What an interrupted restore left: nobody changed that later.
    pub half: &'a HalfRestored,
    /// Paths that are as the run had them at another time: nobody changed those later either.
    pub recorded: &'a BTreeSet<Vec<u8>>,
}

/// One change to the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreAction {
    /// Writes a file; `new` if it does not exist now.
    Write {
        /// The file.
        path: TreePath,
        /// Its content.
        hash: u128,
        /// Its permissions.
        mode: u16,
        /// It does not exist now.
        new: bool,
    },
    /// Makes a symbolic link whose target is this content.
    Link {
        /// The link.
        path: TreePath,
        /// Where it points.
        hash: u128,
    },
    /// Sets the permissions of a file or a protected directory.
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
    /// Removes whatever is there, with everything in it. Planned only for what is in quarantine already, never for undo.
    Clear {
        /// The path.
        path: TreePath,
    },
    /// Removes a directory if it is empty.
    RemoveEmpty {
        /// The path.
        path: TreePath,
    },
}

impl RestoreAction {
    /// The number of the draft it writes first.
    pub(crate) fn draft(&self) -> Option<u128> {
        match self {
            RestoreAction::Write { hash, .. } | RestoreAction::Link { hash, .. } => Some(*hash),
            _ => None,
        }
    }

    /// The path it changes.
    #[must_use]
    pub fn path(&self) -> &TreePath {
        match self {
            RestoreAction::Write { path, .. }
            | RestoreAction::Link { path, .. }
            | RestoreAction::Mode { path, .. }
            | RestoreAction::Make { path, .. }
            | RestoreAction::Clear { path }
            | RestoreAction::Remove { path }
            | RestoreAction::RemoveEmpty { path } => path,
        }
    }
}

/// As `ralph undo` shows it; scripts read the same words in its JSON.
impl fmt::Display for RestoreAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            RestoreAction::Write { new: true, .. } | RestoreAction::Make { .. } => "bring back",
            RestoreAction::Write { .. } | RestoreAction::Link { .. } => "put back",
            RestoreAction::Mode { .. } => "permissions of",
            RestoreAction::Remove { .. }
            | RestoreAction::RemoveEmpty { .. }
            | RestoreAction::Clear { .. } => "remove",
        };
        write!(f, "{word} {}", self.path())
    }
}

/// The plan of a restore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restore {
    /// Actions, in order.
    pub acts: Vec<RestoreAction>,
    /// Changed later, and therefore left alone.
    pub newer: Vec<TreePath>,
    /// What cannot be restored.
    pub missing: Vec<PathProblem>,
}

/// What a restore did.
#[derive(Debug, Default)]
pub struct RestoreReport {
    /// Number of actions that succeeded.
    pub acts: u32,
    /// Those that did not.
    pub failed: Vec<PathProblem>,
}

/// Plans a restore. Paths that neither index names are ignored.
#[must_use]
pub fn restore(wanted: RestoreRequest<'_>, blobs: &Blobs) -> Restore {
    let RestoreRequest { target, left, now, newer_too, half, recorded } = wanted;
    let (mut plan, mut removals) = (Restore::default(), Vec::new());
    for (path, want, is) in differences(target, now) {
        let as_left = alike(left.get(path).as_ref(), is.as_ref())
            || half.has(path, is.as_ref())
            || recorded.contains(path);
        if !newer_too && !as_left {
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
    // The contents of a directory before the directory.
    removals.reverse();
    let (mut acts, last) = in_the_way(removals, &plan.acts);
    acts.append(&mut plan.acts);
    acts.extend(last);
    plan.acts = closing_last(acts);
    plan
}

/// The paths that a restore of one state over another one concerns, with both entries, in the order of a walk.
pub fn differences<'a>(
    one: &'a Index,
    other: &'a Index,
) -> impl Iterator<Item = (&'a [u8], Option<Entry<'a>>, Option<Entry<'a>>)> {
    side_by_side(one, other).filter_map(|(a, b)| {
        let matters = a.is_some_and(|entry| entry.matters()) || b.is_some_and(|entry| entry.matters());
        let path = a.or(b).map(|entry| entry.path)?;
        (matters && !alike(a.as_ref(), b.as_ref())).then_some((path, a, b))
    })
}

/// Splits removals into those without which something cannot come back, and the others.
fn in_the_way(
    removals: Vec<RestoreAction>,
    comes: &[RestoreAction],
) -> (Vec<RestoreAction>, Vec<RestoreAction>) {
    let comes: BTreeSet<&[u8]> = comes.iter().map(|act| act.path().as_bytes()).collect();
    removals.into_iter().partition(|removal| {
        let path = removal.path().as_bytes();
        let below = [path, b"/"].concat();
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let at_or_above = |end: usize| path.get(..end).is_some_and(|dir| comes.contains(dir));
        ends.chain([path.len()]).any(at_or_above)
            || comes.range(below.as_slice()..).next().is_some_and(|next| next.starts_with(&below))
    })
}

/// Permissions of unwritable directories come last, the deepest first, when everything in them is done.
pub(crate) fn closing_last(acts: Vec<RestoreAction>) -> Vec<RestoreAction> {
    let mut closing = Vec::new();
    let mut ordered = Vec::with_capacity(acts.len());
    for act in acts {
        match act {
            RestoreAction::Make { path, mode } if mode != 0 => {
                closing.push(RestoreAction::Mode { path: path.clone(), mode });
                ordered.push(RestoreAction::Make { path, mode: mode | 0o700 });
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
                return self.acts.push(RestoreAction::Mode { path, mode: want.mode });
            }
            Kind::Directory => return self.acts.push(RestoreAction::Make { path, mode: want.mode }),
            Kind::File if same_content => {
                return self.acts.push(RestoreAction::Mode { path, mode: want.mode });
            }
            Kind::Special => "it was neither a file nor a link",
            _ if !is_kept(want) => "its content was not kept: too large or not readable",
            _ if !blobs.has(want.hash) => "its saved content was deleted",
            Kind::File if !blobs.holds(want.hash, want.size) => DAMAGED,
            Kind::Symlink => return self.acts.push(RestoreAction::Link { path, hash: want.hash }),
            Kind::File => {
                return self.acts.push(RestoreAction::Write {
                    path,
                    hash: want.hash,
                    mode: want.mode,
                    new: is.is_none(),
                });
            }
        };
        self.missing.push(PathProblem { path, why: why.to_owned() });
    }

    /// Applies the plan. What fails is tried once more at the end, when removals have made room; then failures are
    /// reported.
    pub fn apply(&self, root: &Path, blobs: &Blobs) -> io::Result<RestoreReport> {
        let mut batch = WriteBatch::open(root, blobs)?;
        self.acts.iter().for_each(|act| batch.add(act));
        let first = batch.finish();
        let failed: BTreeSet<&[u8]> = first.failed.iter().map(|problem| problem.path.as_bytes()).collect();
        if failed.is_empty() {
            return Ok(first);
        }
        let mut batch = WriteBatch::open(root, blobs)?;
        self.acts.iter().filter(|act| failed.contains(act.path().as_bytes())).for_each(|act| batch.add(act));
        let failed = batch.finish().failed;
        let acts = u32::try_from(self.acts.len().saturating_sub(failed.len())).unwrap_or(u32::MAX);
        Ok(RestoreReport { acts, failed })
    }
}

fn remove(is: &Entry<'_>) -> RestoreAction {
    let path = is.path.into();
    if is.kind == Kind::Directory {
        RestoreAction::RemoveEmpty { path }
    } else {
        RestoreAction::Remove { path }
    }
}

/// Whether two entries need no restore. The mode of a directory may be unknown (0).
pub(crate) fn alike(a: Option<&Entry<'_>>, b: Option<&Entry<'_>>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) if a.kind != b.kind => false,
        (Some(a), Some(b)) if a.kind == Kind::Directory => a.mode == b.mode || a.mode == 0 || b.mode == 0,
        (Some(a), Some(b)) => a.hash == b.hash && (a.mode == b.mode || a.kind == Kind::Symlink),
        _ => false,
    }
}

/// Applies an action; an unwritable directory is made writable for as long as it takes.
pub(crate) fn apply(root: &NoFollowDir, act: &RestoreAction, blobs: &Blobs) -> io::Result<()> {
    match apply_once(root, act, blobs) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let parent = root.make_parent_writable(act.path().as_bytes())?;
            let done = apply_once(root, act, blobs);
            parent.restore()?;
            done
        }
        other => other,
    }
}

fn apply_once(root: &NoFollowDir, act: &RestoreAction, blobs: &Blobs) -> io::Result<()> {
    match act {
        RestoreAction::Make { path, mode } => root.make_dir(path.as_bytes(), *mode),
        RestoreAction::Clear { path } => root.remove_all(path.as_bytes()),
        RestoreAction::Write { path, hash, mode, .. } => write(root, path, blobs, *hash, *mode),
        RestoreAction::Link { path, hash } => {
            let mut target = Vec::new();
            blobs.copy_to(*hash, &mut target)?;
            root.replace_link(path.as_bytes(), Draft::Named(*hash), &target)
        }
        RestoreAction::Mode { path, mode } => root.set_mode(path.as_bytes(), *mode),
        RestoreAction::Remove { path } => root.remove_file(path.as_bytes()),
        RestoreAction::RemoveEmpty { path } => match root.remove_dir(path.as_bytes()) {
            // Files that are not tracked are left in it; it may stay.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            other => other,
        },
    }
}

fn write(root: &NoFollowDir, path: &TreePath, blobs: &Blobs, hash: u128, mode: u16) -> io::Result<()> {
    let draft = draft(root, path, blobs, hash, mode)?;
    draft.sync()?;
    draft.place()
}

/// The draft is named after the content, so that what a crash left is replaced when the act is repeated.
pub(crate) fn draft(
    root: &NoFollowDir,
    path: &TreePath,
    blobs: &Blobs,
    hash: u128,
    mode: u16,
) -> io::Result<DraftFile> {
    root.draft_file(path.as_bytes(), Draft::Named(hash), 0o600, |file| {
        blobs.copy_to(hash, file)?;
        Ok(rustix::fs::fchmod(&*file, Mode::from_raw_mode(RawMode::from(mode)))?)
    })
}
