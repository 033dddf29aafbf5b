//! What of a run's own plan the probe tries: what it hides, and the home directory that it covers with a layer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::probe_inside::shows_something;
use crate::{LayerFallback, Mount, Plan};

/// How many entries of a hidden directory are looked at for one that can be read.
const ENTRIES: usize = 100;

/// What can be read out here and is hidden by the plan: files, and one entry of each directory. Not what another mount shows again,
/// nor the directories above what is hidden twice: they are there inside, empty but for its place.
pub(super) fn hidden_of_plan(plan: &Plan) -> Vec<PathBuf> {
    let named = plan.mounts.iter().filter_map(shown).chain([&*plan.workspace, &*plan.tmp]);
    // What a link leads to is shown where it lies.
    let kept: BTreeSet<PathBuf> =
        named.flat_map(|path| path.canonicalize().ok().into_iter().chain([path.to_owned()])).collect();
    let covered: Vec<&Path> = plan.mounts.iter().filter_map(covers).collect();
    let is_kept = |path: &Path| {
        let is_above = |at: &&Path| *at != path && at.starts_with(path);
        kept.iter().any(|kept| kept.starts_with(path)) || covered.iter().any(is_above)
    };
    let readable = |path: PathBuf| (!is_kept(&path) && shows_something(&path)).then_some(path);
    let hidden = plan.mounts.iter().filter_map(|mount| match mount {
        Mount::Hide(path) => Some(path),
        _ => None,
    });
    let target = |path: &PathBuf| {
        if !path.is_dir() {
            return readable(path.clone());
        }
        let entries = fs::read_dir(path).ok()?.flatten().take(ENTRIES);
        entries.map(|entry| entry.path()).find_map(readable)
    };
    hidden.filter(|path| !path.is_symlink()).filter_map(target).collect()
}

/// What a mount makes visible.
fn shown(mount: &Mount) -> Option<&Path> {
    match mount {
        Mount::Show(at) | Mount::Write(at) => Some(at),
        Mount::Layer { at, .. } | Mount::Replace { at, .. } => Some(at),
        // Being read-only does not show what is hidden.
        Mount::Hide(_) | Mount::Empty(_) | Mount::Protect(_) => None,
    }
}

/// What a mount covers with something empty, which has a place where it lies.
fn covers(mount: &Mount) -> Option<&Path> {
    match mount {
        Mount::Hide(at) | Mount::Empty(at) => Some(at),
        _ => None,
    }
}

/// The home directory, where nothing is written for real. Other layers lie in it, so it has the first; theirs are kept.
pub(super) fn home_of_plan(plan: &Plan) -> Option<PathBuf> {
    let first = plan.mounts.iter().find_map(|mount| match mount {
        Mount::Layer { at, fallback, .. } => Some((at, fallback)),
        _ => None,
    });
    let (at, _) = first.filter(|(_, fallback)| **fallback == LayerFallback::ReadOnly)?;
    (at.is_dir() && !at.starts_with(&plan.workspace)).then(|| at.clone())
}
