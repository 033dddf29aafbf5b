//! A workspace with a store beside it.
#![allow(dead_code)] // each test file needs a part of it

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ralph_snapshots::{HalfRestored, Restore, RestoreRequest, SnapshotStore, restore};
use ralph_tree::{Index, Protect, Tree};
use tempfile::TempDir;

/// A workspace and its store.
pub struct Bed {
    pub dir: TempDir,
    pub tree: Tree,
    pub keep: SnapshotStore,
}

impl Bed {
    pub fn new(files: &[(&str, &str)]) -> Bed {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let tree = Tree::new(dir.path().join("work"), Protect::new(Protect::DEFAULTS).unwrap());
        let keep = SnapshotStore::at(dir.path().join("keep"));
        let bed = Bed { dir, tree, keep };
        files.iter().for_each(|(path, text)| bed.write(path, text));
        bed
    }

    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Walks and keeps.
    pub fn take(&self) -> Index {
        let index = self.tree.walk(None).unwrap();
        assert!(self.keep.take(self.root(), &index).unwrap().missed.is_empty());
        index
    }

    pub fn plan(&self, target: &Index, left: &Index, newer_too: bool) -> Restore {
        let now = self.take();
        let half = HalfRestored::default();
        let recorded = BTreeSet::new();
        let wanted = RestoreRequest { target, left, now: &now, newer_too, half: &half, recorded: &recorded };
        restore(wanted, self.keep.blobs())
    }

    /// Goes back to an index, everything that was changed since included.
    pub fn go(&self, target: &Index) {
        let plan = self.plan(target, target, true);
        assert!(plan.missing.is_empty(), "{:?}", plan.missing);
        let done = plan.apply(self.root(), self.keep.blobs()).unwrap();
        assert!(done.failed.is_empty(), "{:?}", done.failed);
    }

    /// The store as another process finds it.
    pub fn another_process(&self) -> SnapshotStore {
        SnapshotStore::at(self.dir.path().join("keep"))
    }

    pub fn see(&self) -> BTreeMap<String, String> {
        fn look(dir: &Path, root: &Path, all: &mut BTreeMap<String, String>) {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let name = path.strip_prefix(root).unwrap().display().to_string();
                if meta.is_dir() {
                    look(&path, root, all);
                } else if meta.is_symlink() {
                    all.insert(name, format!("-> {}", fs::read_link(&path).unwrap().display()));
                } else {
                    let mode = meta.permissions().mode() & 0o7777;
                    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                    all.insert(name, format!("{mode:o} {text}"));
                }
            }
        }
        let mut all = BTreeMap::new();
        look(self.root(), self.root(), &mut all);
        all
    }
}
