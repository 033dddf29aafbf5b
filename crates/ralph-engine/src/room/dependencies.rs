//! Dependency folders: what package managers installed into a workspace and git ignores. A room shows the workspace's own,
//! so they are recorded at the baseline and compared later, package by package.

mod compare;
mod content_cache;
mod packages;
mod python;
mod record;
mod scan;

pub use compare::{DependencyChange, How, compare};
pub use python::{PythonPlaces, has_module, site_directories};
pub use record::{Dependencies, Package};

use ralph_tree::{Index, Kind, TreePath};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Directories that hold installed packages, whatever else is known about them.
const ALWAYS: [&str; 5] = ["node_modules", "bower_components", ".venv", ".tox", ".nox"];
/// The same if git ignores them.
const IF_IGNORED: [&str; 7] = ["vendor/bundle", "vendor", "Pods", "__pypackages__", ".bundle", "venv", "env"];
/// What makes a directory of a common name a Python environment.
const ENVIRONMENT: [&str; 2] = ["pyvenv.cfg", "conda-meta"];
/// Caches inside dependency folders. A verification does not see them, so they are not compared either.
pub(crate) const CACHES: [&str; 4] = [".cache", ".vite", ".vitest", ".vite-temp"];

/// A directory of installed packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyFolder {
    /// Relative to the workspace.
    pub path: TreePath,
}

/// The dependency folders of a workspace: beside anything that counts as work. `index` is of the workspace.
#[must_use]
pub fn find(workspace: &Path, index: &Index) -> Vec<DependencyFolder> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    let directories = index.entries().filter(|entry| entry.counts && entry.kind == Kind::Directory);
    for dir in std::iter::once(b"".as_slice()).chain(directories.map(|entry| entry.path)) {
        let lead = if dir.is_empty() { Vec::new() } else { [dir, b"/"].concat() };
        for name in ALWAYS.into_iter().chain(IF_IGNORED) {
            let path = [&lead, name.as_bytes()].concat();
            let inside_another = found.iter().any(|other| is_inside(&path, other) || *other == path);
            if !inside_another && is_dependency_folder(workspace, index, name, &path) {
                found.retain(|other| !is_inside(other, &path));
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| DependencyFolder { path: path.as_slice().into() }).collect()
}

fn is_dependency_folder(workspace: &Path, index: &Index, name: &str, path: &[u8]) -> bool {
    let at = workspace.join(OsStr::from_bytes(path));
    if !at.is_dir() {
        return false;
    }
    let ignored = ALWAYS.contains(&name) || index.get(path).is_none_or(|entry| !entry.counts);
    let is_environment = || ENVIRONMENT.iter().any(|inside| at.join(inside).exists());
    ignored && (!matches!(name, "venv" | "env") || is_environment())
}

fn is_inside(path: &[u8], dir: &[u8]) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/"))
}
