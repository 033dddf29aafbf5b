//! A workspace, a snapshot store and a room folder to fill.

use ralph_engine::room::{RoomFile, RoomFolder, Source};
use ralph_snapshots::Blobs;
use ralph_tree::hash_bytes;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub type Wanted = BTreeMap<Vec<u8>, RoomFile>;

pub struct Scene {
    pub dir: tempfile::TempDir,
    pub folder: RoomFolder,
    pub blobs: Blobs,
}

impl Scene {
    pub fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("workspace")).unwrap();
        let folder = RoomFolder::open(&dir.path().join("room")).unwrap();
        let blobs = Blobs::at(dir.path().join("blobs"));
        Scene { dir, folder, blobs }
    }

    pub fn workspace(&self) -> PathBuf {
        self.dir.path().join("workspace")
    }

    /// A path in the room.
    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.tree().join(path)
    }

    pub fn fill(&mut self, wanted: &Wanted) -> io::Result<()> {
        let workspace = self.workspace();
        self.folder.fill(wanted, &workspace, &self.blobs)
    }

    /// Closes the folder and opens it again, as the next process does.
    pub fn reopen(self) -> Scene {
        let Scene { dir, folder, blobs } = self;
        drop(folder);
        let folder = RoomFolder::open(&dir.path().join("room")).unwrap();
        Scene { dir, folder, blobs }
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    /// Every file and link in the room, sorted.
    pub fn list(&self) -> Vec<String> {
        let (mut found, mut open) = (Vec::new(), vec![self.folder.tree()]);
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.symlink_metadata().unwrap().is_dir() {
                    open.push(path);
                } else {
                    found.push(path.strip_prefix(self.folder.tree()).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }
}

/// Files with these contents.
pub fn files(contents: &[(&str, &str)]) -> Wanted {
    contents.iter().map(|(path, text)| (path.as_bytes().to_vec(), file(text))).collect()
}

pub fn file(text: &str) -> RoomFile {
    RoomFile { source: Source::Bytes(text.as_bytes().to_vec()), hash: 0, mode: 0o644, link: false }
}

pub fn link(target: &str) -> RoomFile {
    RoomFile { link: true, mode: 0o777, ..file(target) }
}

pub fn from(source: Source, text: &str, mode: u32) -> RoomFile {
    RoomFile { source, hash: hash_bytes(text.as_bytes()), mode, link: false }
}

/// Inode, last write and last change.
pub fn state(path: &Path) -> (u64, (i64, i64), (i64, i64)) {
    let meta = path.symlink_metadata().unwrap();
    (meta.ino(), (meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()))
}
