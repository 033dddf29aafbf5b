//! A kept room folder as a place for commands: shown at the workspace's own path, with the workspace's dependency folders
//! in it under throwaway layers; or, where mounts are refused, used at its own path with links to them.

use super::tree_copy;
use crate::room::dependencies::CACHES;
use crate::room::{DependencyFolder, RoomFolder};
use ralph_diagnostics::Discard;
use ralph_os::{Draft, NoFollowDir};
use ralph_supervisor::{RoomLayer, RoomMount};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A kept room and what it was prepared from.
#[derive(Debug)]
pub(super) struct KeptRoom<'a> {
    folder: &'a RoomFolder,
    workspace: &'a Path,
    dependencies: &'a [DependencyFolder],
}

impl<'a> KeptRoom<'a> {
    pub(super) fn new(
        folder: &'a RoomFolder,
        workspace: &'a Path,
        dependencies: &'a [DependencyFolder],
    ) -> KeptRoom<'a> {
        KeptRoom { folder, workspace, dependencies }
    }

    /// Prepares the room to be shown at the workspace's path.
    pub(super) fn mount(&self) -> io::Result<RoomMount> {
        tree_copy::remove(&self.folder.layers())?;
        let tree = NoFollowDir::open(&self.folder.tree())?;
        let mut layers = Vec::new();
        for (number, dependency) in self.installed().enumerate() {
            let path = dependency.path.as_bytes();
            clear(&tree, path, true)?;
            tree.make_dir(path, 0o755)?;
            layers.push(self.layer(number, dependency)?);
        }
        Ok(RoomMount { room: self.folder.tree(), over: self.workspace.to_owned(), layers })
    }

    /// The dependency folders that are there now.
    fn installed(&self) -> impl Iterator<Item = &DependencyFolder> {
        self.dependencies.iter().filter(|one| self.workspace.join(one.path.as_path()).is_dir())
    }

    fn layer(&self, number: usize, dependency: &DependencyFolder) -> io::Result<RoomLayer> {
        let dir = self.folder.layers().join(number.to_string());
        let (upper, work) = (dir.join("upper"), dir.join("work"));
        fs::create_dir_all(&upper)?;
        fs::create_dir_all(&work)?;
        let from = self.workspace.join(dependency.path.as_path());
        for name in CACHES.into_iter().filter(|name| from.join(name).symlink_metadata().is_ok()) {
            // Where that is refused, so is the overlay that it is for.
            ralph_os::make_whiteout(&upper.join(name)).discard("hide a cache from a verification");
        }
        Ok(RoomLayer { from, at: dependency.path.as_path().to_owned(), upper, work })
    }

    /// Prepares the room to be used at its own path, and returns that.
    pub(super) fn at_its_own_path(&self) -> io::Result<PathBuf> {
        let tree = NoFollowDir::open(&self.folder.tree())?;
        for dependency in self.installed() {
            let path = dependency.path.as_bytes();
            clear(&tree, path, false)?;
            let target = self.workspace.join(dependency.path.as_path());
            tree.replace_link(path, Draft::Unique, target.as_os_str().as_bytes())?;
        }
        Ok(self.folder.tree())
    }

    /// Removes what was written to dependency folders.
    pub(super) fn remove_layers(&self) {
        // What cannot be removed now is removed before the next room is made.
        tree_copy::remove(&self.folder.layers()).discard("remove the layers of a verification room");
    }
}

/// Removes what is not a directory at a path or above it; `keep` says whether a directory may stay at the path itself.
fn clear(tree: &NoFollowDir, path: &[u8], keep: bool) -> io::Result<()> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    for end in slashes.chain([path.len()]) {
        let here = path.get(..end).unwrap_or_default();
        match tree.metadata(here) {
            Some(meta) if meta.is_dir() && (end < path.len() || keep) => {}
            Some(_) => return tree.remove_all(here),
            None => break,
        }
    }
    Ok(())
}
