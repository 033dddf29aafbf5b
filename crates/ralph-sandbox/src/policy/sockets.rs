//! Socket files. A read-only mount does not keep anybody from connecting to one, and whoever answers is outside: the engine of
//! containers, an SSH agent, an editor. So those are hidden that would be seen and that the user did not name.

use super::facts::Facts;
use super::settings::Settings;
use super::sight::Sight;
use crate::{Backend, Mount};
use std::path::PathBuf;

/// Hides the sockets that these mounts show.
pub(super) fn hidden_sockets(facts: &Facts, settings: &Settings, mounts: &[Mount]) -> Vec<Mount> {
    // Landlock does not govern who connects to a socket file.
    if facts.backend == Backend::Landlock {
        return Vec::new();
    }
    let named = settings.readable.iter().chain(&settings.writable).map(|path| facts.expand(path));
    let named: Vec<_> = named.collect();
    let sight = Sight::of(facts, mounts);
    // One in the workspace too: whoever listens to it before the program starts is outside.
    let shown = |path: &PathBuf| path.starts_with(&facts.workspace) || sight.sees(path);
    let sockets = facts.sockets.iter().filter(|path| !named.contains(path) && shown(path));
    sockets.cloned().map(Mount::Hide).collect()
}
