//! What is installed in a workspace's dependency folders, package by package.

use super::super::bytes;
use super::DependencyFolder;
use super::content_cache::ContentCache;
use super::packages::{Distributions, unit_of};
use super::scan::{Installed, scan};
use ralph_os::{Links, read_regular};
use ralph_tree::shown;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const VERSION: u32 = 1;
/// A package.json larger than this is not read for its version.
const LARGEST_MANIFEST: u64 = 1 << 20;

/// What is installed, by dependency folder and package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependencies {
    v: u32,
    /// By the folder's path, then by the package's path within it.
    pub folders: BTreeMap<String, BTreeMap<String, Package>>,
}

/// An installed package, or a file that belongs to none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// The version, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    /// Of the paths and contents of its files.
    pub hash: String,
    /// A file that Python runs at every start, such as a `.pth`.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub starts: bool,
}

impl Dependencies {
    /// Looks at everything in these folders. Content hashes are taken from the file `cache` where a look at a file says
    /// that it did not change, and noted there.
    pub fn record(workspace: &Path, folders: &[DependencyFolder], cache: &Path) -> io::Result<Dependencies> {
        let known = ContentCache::load(cache);
        let mut seen = ContentCache::default();
        let mut all = Dependencies { v: VERSION, folders: BTreeMap::new() };
        for folder in folders {
            let root = workspace.join(folder.path.as_path());
            let files = scan(&root, &known);
            for file in &files {
                if let Some(key) = file.key {
                    seen.insert(key, file.content);
                }
            }
            all.folders.insert(folder.path.to_string(), packages(&root, folder, &files));
        }
        if !seen.is_same(&known) {
            seen.save(cache)?;
        }
        Ok(all)
    }

    /// Writes it to a file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        bytes::save(path, &serde_json::to_vec(self)?)
    }

    /// Reads it back; none if there is none of this version.
    #[must_use]
    pub fn load(path: &Path) -> Option<Dependencies> {
        let all: Dependencies = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        Some(all).filter(|all| all.v == VERSION)
    }
}

fn packages(root: &Path, folder: &DependencyFolder, files: &[Installed]) -> BTreeMap<String, Package> {
    let name = folder.path.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let distributions = Distributions::read(root, files.iter().map(|file| file.path.as_slice()));
    let mut found: BTreeMap<Vec<u8>, (Option<String>, bool, blake3::Hasher)> = BTreeMap::new();
    for file in files {
        let unit = unit_of(name, &file.path, &distributions);
        let version = unit.version.or_else(|| node_version(root, &unit.name, &file.path));
        let (known, starts, hasher) = found.entry(unit.name).or_default();
        *known = known.take().or(version);
        *starts |= unit.starts;
        hasher.update(&(file.path.len() as u64).to_le_bytes());
        hasher.update(&file.path).update(&file.hash.to_le_bytes());
    }
    let package = |(version, starts, hasher): (Option<String>, bool, blake3::Hasher)| {
        let hash = hasher.finalize().to_hex();
        Package { version, hash: hash.get(..32).unwrap_or_default().to_owned(), starts }
    };
    found.into_iter().map(|(name, unit)| (shown(&name), package(unit))).collect()
}

/// The version in a package's own `package.json`, if `file` is that.
fn node_version(root: &Path, package: &[u8], file: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Manifest {
        version: String,
    }
    if file.strip_prefix(package)? != b"/package.json" {
        return None;
    }
    let at = root.join(std::ffi::OsStr::from_bytes(file));
    let manifest = read_regular(&at, LARGEST_MANIFEST, Links::Follow).ok()?;
    serde_json::from_slice::<Manifest>(&manifest).ok().map(|manifest| manifest.version)
}
