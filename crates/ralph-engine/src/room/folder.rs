//! The kept directory of a workspace's rooms, and filling it with the files of a tree.
//!
//! Beside the room itself (`tree`) lie the lock, the manifest, Python's bytecode and the layers that receive what a
//! verification writes to dependency folders. A killed fill leaves an incomplete manifest: the next one then trusts no
//! file without reading it.

use super::filling::{CLOCK_TICK, Filling};
use super::manifest::{Manifest, Stamp, Written};
use super::writer::{Writer, now_second};
use crate::home::Home;
use crate::verification::tree_copy;
use ralph_os::NoFollowDir;
use ralph_snapshots::Blobs;
use ralph_tree::TreePath;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A folder that holds more than this is emptied by [`RoomFolder::tidy`].
const MOST_KEPT: u64 = 4 << 30;
const LOCK: &str = "lock";

/// Where a file's content comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The snapshot store has it.
    Blob,
    /// The workspace's file at the same path, which must still have the hash.
    Workspace,
    /// These bytes. The hash of the [`RoomFile`] is not used.
    Bytes(Vec<u8>),
}

/// One file of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomFile {
    /// Where its content comes from.
    pub source: Source,
    /// The content's hash, as an index has it; of a link, its target's.
    pub hash: u128,
    /// Permission bits; set-uid and set-gid are left out.
    pub mode: u32,
    /// It is a symbolic link.
    pub link: bool,
}

/// The kept directory of a workspace's rooms, locked until this is dropped.
#[derive(Debug)]
pub struct RoomFolder {
    dir: PathBuf,
    manifest: Manifest,
    _lock: File,
}

impl RoomFolder {
    /// Opens the folder and creates it if it does not exist. Waits while another process has it open.
    pub fn open(dir: &Path) -> io::Result<RoomFolder> {
        let opened = || {
            Home::create_private_dir(dir)?;
            let lock = lock(dir)?;
            // Whoever had the lock before may have removed everything.
            fs::create_dir_all(dir.join("tree"))?;
            Ok(lock)
        };
        let why = |error: io::Error| {
            let text = format!("cannot open the verification room {}: {error}", dir.display());
            io::Error::new(error.kind(), format!("{text}; check the permissions of ralph's state directory"))
        };
        let lock = opened().map_err(why)?;
        Ok(RoomFolder { dir: dir.to_owned(), manifest: Manifest::load(&dir.join("manifest")), _lock: lock })
    }

    /// The room itself: what commands see as the workspace.
    pub fn tree(&self) -> PathBuf {
        self.dir.join("tree")
    }

    /// A directory for Python's bytecode.
    pub fn bytecode(&self) -> PathBuf {
        self.dir.join(crate::verification::BYTECODE)
    }

    /// Holds what a verification writes to dependency folders; removed after it.
    pub(crate) fn layers(&self) -> PathBuf {
        self.dir.join("layers")
    }

    /// A file of ralph's own beside the room.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Whether the last fill put a file at this path.
    pub(super) fn holds(&self, path: &[u8]) -> bool {
        self.manifest.files.contains_key(path)
    }

    /// Makes the folder hold exactly these files, besides what the workspace's rules ignore. A file that is still as
    /// it was written is left alone; everything else is written anew with the current time. Paths with a `.git` in
    /// them are left out.
    pub fn fill(
        &mut self,
        wanted: &BTreeMap<Vec<u8>, RoomFile>,
        workspace: &Path,
        blobs: &Blobs,
    ) -> io::Result<()> {
        let began = Instant::now();
        let before = self.begin(wanted)?;
        let after_second =
            if before.complete { before.latest_second } else { before.latest_second.max(now_second()) };
        let (tree, workspace_dir) = (NoFollowDir::open(&self.tree())?, NoFollowDir::open(workspace)?);
        let latest_second = Cell::new(after_second);
        let writer = Writer { tree, workspace: workspace_dir, blobs, after_second, latest_second };
        copy_mode(workspace, &self.tree())?;
        let mut filling = Filling { writer, before, wanted, files: BTreeMap::new(), began };
        filling.run(&self.tree(), workspace)?;
        let latest_second = filling.writer.latest_second.get();
        self.manifest = Manifest { complete: true, latest_second, files: filling.files };
        self.manifest.save(&self.file("manifest"))?;
        // A file that a command rewrites must get a later time of change than the one that was noted.
        std::thread::sleep(CLOCK_TICK);
        Ok(())
    }

    /// Notes, before anything is written, that the folder may hold any of the old and the new files. Returns what was
    /// known before.
    fn begin(&mut self, wanted: &BTreeMap<Vec<u8>, RoomFile>) -> io::Result<Manifest> {
        let nothing = Written { hash: 0, mode: 0, link: false, stamp: Stamp::default() };
        let old = self.manifest.files.keys();
        let files = old.chain(wanted.keys()).map(|path| (path.clone(), nothing)).collect();
        let latest_second = self.manifest.latest_second.max(now_second()).saturating_add(1);
        let incomplete = Manifest { complete: false, latest_second, files };
        incomplete.save(&self.file("manifest"))?;
        Ok(std::mem::replace(&mut self.manifest, incomplete))
    }

    /// The files of the last fill that satisfy `is_oracle` and were written or removed since, even if the old content
    /// is back.
    pub fn rewritten(&self, is_oracle: &dyn Fn(&[u8]) -> bool) -> Vec<TreePath> {
        let Ok(tree) = NoFollowDir::open(&self.tree()) else {
            return self
                .manifest
                .files
                .keys()
                .filter(|path| is_oracle(path))
                .map(|p| p.as_slice().into())
                .collect();
        };
        let now = |path: &[u8]| tree.metadata(path).as_ref().map(Stamp::from);
        let files = self.manifest.files.iter().filter(|(path, _)| is_oracle(path));
        files
            .filter(|(path, written)| now(path) != Some(written.stamp))
            .map(|(path, _)| path.as_slice().into())
            .collect()
    }

    /// Removes what verifications wrote to dependency folders, and empties a folder that holds more than 4 GiB.
    pub fn tidy(&mut self) -> io::Result<()> {
        self.tidy_to(MOST_KEPT)
    }

    fn tidy_to(&mut self, most: u64) -> io::Result<()> {
        tree_copy::remove(&self.layers())?;
        match takes_more(&self.dir, most)? {
            true => self.empty(),
            false => Ok(()),
        }
    }

    /// Removes everything that is kept: the next verification builds from nothing.
    pub fn empty(&mut self) -> io::Result<()> {
        self.manifest = Manifest::default();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => tree_copy::remove(&entry.path())?,
                false if entry.file_name() == LOCK => {}
                false => fs::remove_file(entry.path())?,
            }
        }
        fs::create_dir(self.tree())
    }

    /// Removes the folder.
    pub fn remove(self) -> io::Result<()> {
        tree_copy::remove(&self.dir)
    }
}

/// Takes the exclusive lock of a folder.
fn lock(dir: &Path) -> io::Result<File> {
    loop {
        let path = dir.join(LOCK);
        let file =
            File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        file.lock()?;
        // Whoever had it may have removed the file; then somebody else may hold a new one.
        let (held, there) = (file.metadata()?, path.symlink_metadata());
        if there.is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino())) {
            return Ok(file);
        }
        Home::create_private_dir(dir)?;
    }
}

fn copy_mode(from: &Path, to: &Path) -> io::Result<()> {
    fs::set_permissions(to, fs::Permissions::from_mode(from.metadata()?.mode() & 0o777 | 0o700))
}

/// Whether the files below a directory take more room on disk than `most` bytes.
fn takes_more(dir: &Path, most: u64) -> io::Result<bool> {
    let (mut open, mut total) = (vec![dir.to_owned()], 0u64);
    while let Some(dir) = open.pop() {
        // What cannot be listed is not counted.
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            if meta.is_dir() {
                open.push(entry.path());
            }
            total = total.saturating_add(meta.blocks().saturating_mul(512));
            if total > most {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_too_much_is_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = RoomFolder::open(&dir.path().join("room")).unwrap();
        fs::create_dir_all(folder.layers().join("0/upper")).unwrap();
        fs::write(folder.tree().join("built"), vec![1; 100_000]).unwrap();
        folder.tidy_to(1 << 20).unwrap();
        assert!(folder.tree().join("built").exists() && !folder.layers().exists());
        folder.tidy_to(50_000).unwrap();
        assert!(!folder.tree().join("built").exists() && folder.tree().is_dir());
    }
}
