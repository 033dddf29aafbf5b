//! Whether a Python module is installed, by the names in `site-packages` directories: no interpreter is run.

use super::DependencyFolder;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Where Python environments may be, besides the workspace. The command line reads the environment and passes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PythonPlaces<'a> {
    /// `$VIRTUAL_ENV`.
    pub virtual_env: Option<&'a Path>,
    /// `$HOME`, for the user's own site.
    pub home: Option<&'a Path>,
    /// `$PATH`: each interpreter on it has packages beside it.
    pub path: Option<&'a OsStr>,
}

/// Directories whose `lib` may hold the system's packages.
const SYSTEM: [&str; 3] = ["/usr", "/usr/local", "/opt/homebrew"];

/// Every `site-packages` and `dist-packages` directory that an interpreter may use.
#[must_use]
pub fn site_directories(
    workspace: &Path,
    folders: &[DependencyFolder],
    places: PythonPlaces<'_>,
) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> =
        folders.iter().map(|folder| workspace.join(folder.path.as_path())).collect();
    prefixes.extend(places.virtual_env.map(Path::to_owned));
    prefixes.extend(places.home.map(|home| home.join(".local")));
    for dir in places.path.into_iter().flat_map(std::env::split_paths) {
        let python = ["python3", "python"].iter().find_map(|name| dir.join(name).canonicalize().ok());
        prefixes.extend(python.and_then(|python| Some(python.parent()?.parent()?.to_owned())));
        prefixes.extend(dir.parent().filter(|_| dir.join("python3").exists()).map(Path::to_owned));
    }
    prefixes.extend(SYSTEM.iter().map(PathBuf::from));
    let mut found: Vec<PathBuf> = prefixes.iter().flat_map(|prefix| sites_in(prefix)).collect();
    found.sort();
    found.dedup();
    found
}

/// The package directories of one prefix: `lib/python3.12/site-packages`, `3.12/lib` of `__pypackages__`, and those of
/// the environments that tox and nox make.
fn sites_in(prefix: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let name = prefix.file_name().unwrap_or_default();
    if name == "__pypackages__" {
        found.extend(children(prefix).into_iter().map(|version| version.join("lib")));
    }
    let nested = if name == ".tox" || name == ".nox" { children(prefix) } else { Vec::new() };
    for prefix in nested.iter().map(PathBuf::as_path).chain([prefix]) {
        for python in children(&prefix.join("lib")) {
            if python.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"python")) {
                found.extend([python.join("site-packages"), python.join("dist-packages")]);
            }
        }
    }
    found.retain(|dir| dir.is_dir());
    found
}

fn children(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Whether one of these directories has a module or package of this name.
#[must_use]
pub fn has_module(name: &str, sites: &[PathBuf]) -> bool {
    let top = name.split('.').next().unwrap_or_default();
    if top.is_empty() || top.contains('/') {
        return false;
    }
    sites.iter().any(|site| {
        site.join(top).is_dir() || site.join(format!("{top}.py")).is_file() || has_extension_module(site, top)
    })
}

/// A compiled module, such as `name.cpython-312-x86_64-linux-gnu.so`.
fn has_extension_module(site: &Path, name: &str) -> bool {
    let is_it = |entry: &fs::DirEntry| {
        let file = entry.file_name();
        let rest = file.to_str().and_then(|file| file.strip_prefix(name)?.strip_prefix('.'));
        rest.is_some_and(|rest| {
            rest == "so" || rest.ends_with(".so") || rest == "pyd" || rest.ends_with(".pyd")
        })
    };
    fs::read_dir(site).into_iter().flatten().flatten().any(|entry| is_it(&entry))
}
