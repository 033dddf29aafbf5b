//! Which protected paths changed, from comparing two walks: independent of what git reports.
//!
//! Neighbours: `protect` says which paths, `walk` flags them, the caller decides what a violation costs.

use std::fmt;

use crate::index::{Entry, Index, Kind, side_by_side};
use crate::path::TreePath;

/// What happened to a protected path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// Was not there before.
    Added,
    /// Has other content.
    Modified,
    /// Is gone: removed, or renamed with or without the directory around it.
    Deleted,
    /// Has other permissions, the same content.
    ModeChanged,
    /// Was a file, is a link, and the like.
    TypeChanged,
}

/// One protected path that was touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The path.
    pub path: TreePath,
    /// What was done to it.
    pub how: How,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            How::Added => "added",
            How::Modified => "modified",
            How::Deleted => "deleted",
            How::ModeChanged => "permissions changed",
            How::TypeChanged => "replaced by another kind of file",
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path, self.how)
    }
}

/// Compares two walks of one workspace. A path that is protected in either of them is looked at.
#[must_use]
pub fn violations(before: &Index, after: &Index) -> Vec<Violation> {
    let mut found = Vec::new();
    for (old, new) in side_by_side(before, after) {
        let Some(either) = new.or(old) else { continue };
        if either.is_repository() {
            let how = repository(old, new, before, after);
            found.extend(how.map(|how| Violation { path: either.path.into(), how }));
            continue;
        }
        if !old.is_some_and(|e| e.protected) && !new.is_some_and(|e| e.protected) {
            continue;
        }
        if let Some(how) = touched(old, new) {
            found.push(Violation { path: either.path.into(), how });
        }
    }
    found
}

/// A repository's own directory. A new one inside another hides what lies around it from git, one that is replaced or
/// gone takes the history along: both only where protected paths are concerned, or at the top. Elsewhere agents may
/// clone, initialise and remove repositories as they like; but none may point to another place than before.
fn repository(old: Option<Entry<'_>>, new: Option<Entry<'_>>, before: &Index, after: &Index) -> Option<How> {
    let path = new.or(old)?.path;
    let dir = path.strip_suffix(b".git").unwrap_or_default();
    let top = dir.is_empty();
    match (old, new) {
        (None, Some(_)) => {
            let inside = |other: &Entry<'_>| {
                let above = other.path.strip_suffix(b".git").unwrap_or_default();
                above.len() < dir.len() && dir.starts_with(above)
            };
            let hides = !top && holds_protected(before, dir) && after.repositories().any(|e| inside(&e));
            (hides || is_protected(after, dir)).then_some(How::Added)
        }
        (Some(_), None) => {
            (top || holds_protected(before, dir) || is_protected(before, dir)).then_some(How::Deleted)
        }
        (Some(old), Some(new)) if old.kind != new.kind => Some(How::TypeChanged),
        (Some(old), Some(new)) if old.kind == Kind::Directory => {
            let another =
                (old.ino, old.mtime) != (new.ino, new.mtime) && (top || holds_protected(before, dir));
            another.then_some(How::Modified)
        }
        (Some(old), Some(new)) => (old.hash != new.hash).then_some(How::Modified),
        (None, None) => None,
    }
}

/// The directory (with its slash) is protected itself.
fn is_protected(index: &Index, dir: &[u8]) -> bool {
    dir.strip_suffix(b"/").and_then(|dir| index.get(dir)).is_some_and(|entry| entry.protected)
}

/// Something protected lies below the directory (with its slash).
fn holds_protected(index: &Index, dir: &[u8]) -> bool {
    index.entries().any(|entry| entry.protected && entry.path.starts_with(dir))
}

/// An empty directory that comes or goes holds nobody's work: what lies in directories speaks for them. One that cannot
/// be read may hold anything.
fn touched(old: Option<Entry<'_>>, new: Option<Entry<'_>>) -> Option<How> {
    match (old, new) {
        (None, Some(new)) => (new.kind != Kind::Directory || new.unreadable).then_some(How::Added),
        (Some(old), None) => (old.kind != Kind::Directory).then_some(How::Deleted),
        (Some(old), Some(new)) => altered(&old, &new),
        (None, None) => None,
    }
}

fn altered(old: &Entry<'_>, new: &Entry<'_>) -> Option<How> {
    if old.kind != new.kind {
        return Some(How::TypeChanged);
    }
    let content = match old.kind {
        Kind::Directory if old.unreadable && new.unreadable => {
            (old.ino, old.mtime, old.ctime) != (new.ino, new.mtime, new.ctime)
        }
        Kind::Directory | Kind::Special => false,
        // What nobody could read before or after can only be told by what a program cannot set.
        _ if old.unreadable && new.unreadable => old.hash != new.hash || old.ctime != new.ctime,
        _ if old.unreadable != new.unreadable => {
            (old.ino, old.size, old.mtime) != (new.ino, new.size, new.mtime)
        }
        _ => old.hash != new.hash,
    };
    if content {
        Some(How::Modified)
    } else if old.protected && new.protected {
        (old.mode != new.mode).then_some(How::ModeChanged)
    } else {
        None
    }
}
