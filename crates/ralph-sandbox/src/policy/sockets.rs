//! Socket files. A read-only mount does not keep anybody from connecting to one, and whoever answers is outside: the engine of
//! containers, an SSH agent, an editor. So those are hidden that would be seen and that the user did not name.

use super::facts::Facts;
use super::settings::Settings;
use crate::{Backend, LayerFallback, Mount};
use std::path::{Path, PathBuf};

/// A program's own, or empty, in every backend.
const NOT_SEEN: &[&str] = &["/run", "/tmp", "/var/tmp", "/dev"];

/// Hides the sockets that these mounts show.
pub(super) fn hidden_sockets(facts: &Facts, settings: &Settings, mounts: &[Mount]) -> Vec<Mount> {
    // Landlock does not govern who connects to a socket file.
    if facts.backend == Backend::Landlock {
        return Vec::new();
    }
    let named = settings.readable.iter().chain(&settings.writable).map(|path| facts.expand(path));
    let named: Vec<_> = named.collect();
    // One in the workspace too: whoever listens to it before the program starts is outside.
    let shown = |path: &PathBuf| path.starts_with(&facts.workspace) || is_seen(path, facts, mounts);
    let sockets = facts.sockets.iter().filter(|path| !named.contains(path) && shown(path));
    sockets.cloned().map(Mount::Hide).collect()
}

fn is_seen(path: &Path, facts: &Facts, mounts: &[Mount]) -> bool {
    let on_the_disk = !matches!(facts.backend, Backend::Container(_));
    let mut seen = on_the_disk && !NOT_SEEN.iter().any(|dir| path.starts_with(dir));
    for mount in mounts {
        let (at, shown) = match mount {
            Mount::Hide(at) | Mount::Empty(at) | Mount::Replace { at, .. } => (at, false),
            Mount::Show(at) | Mount::Write(at) | Mount::Protect(at) => (at, true),
            Mount::Layer { at, fallback, .. } => (at, facts.overlay || *fallback != LayerFallback::Upper),
        };
        if path.starts_with(at) {
            seen = shown;
        }
    }
    seen
}
