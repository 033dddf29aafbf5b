//! A scratch workspace for the tests: write, walk, compare.
#![allow(
    dead_code,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ralph_tree::{Index, Protect, Tree, changes, violations};

pub struct Scratch {
    dir: tempfile::TempDir,
    pub tree: Tree,
}

impl Scratch {
    pub fn new() -> Scratch {
        Scratch::protecting(Protect::DEFAULTS)
    }

    pub fn protecting(globs: &[&str]) -> Scratch {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("w")).unwrap();
        let tree = Tree::new(dir.path().join("w"), Protect::new(globs).unwrap());
        Scratch { dir, tree }
    }

    pub fn root(&self) -> &Path {
        self.tree.root()
    }

    /// A place beside the workspace.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn write(&self, path: &str, content: &str) -> &Scratch {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub fn remove(&self, path: &str) -> &Scratch {
        fs::remove_file(self.at(path)).unwrap();
        self
    }

    pub fn rename(&self, from: &str, to: &str) -> &Scratch {
        fs::rename(self.at(from), self.at(to)).unwrap();
        self
    }

    pub fn walk(&self) -> Index {
        self.tree.walk(None).unwrap()
    }

    pub fn walk_after(&self, before: &Index) -> Index {
        let after = self.tree.walk(Some(before)).unwrap();
        // Whatever was taken over from the last walk, the answer is that of a walk from nothing.
        let fresh = Tree::new(self.root(), self.tree.protect().clone()).walk(None).unwrap();
        assert_eq!(after.id(), fresh.id());
        let known = |index: &Index| -> Vec<_> {
            index
                .entries()
                .map(|e| (e.path.to_vec(), e.kind, e.mode, e.hash, e.counts, e.protected))
                .collect()
        };
        assert_eq!(known(&after), known(&fresh));
        after
    }

    pub fn git(&self, dir: &str, args: &[&str]) -> String {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.invalid",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(self.at(dir))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git is needed to make test repositories");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub fn commit_all(&self, dir: &str, subject: &str) {
        self.git(dir, &["add", "-A"]);
        self.git(dir, &["commit", "-q", "-m", subject]);
    }
}

/// The paths that count, as text.
pub fn counting(index: &Index) -> Vec<String> {
    let work = index.entries().filter(|e| e.counts && e.kind != ralph_tree::Kind::Directory);
    work.map(|e| ralph_tree::shown(e.path)).collect()
}

/// What changed, as `+added ~modified -deleted`.
pub fn diff(before: &Index, after: &Index) -> Vec<String> {
    let found = changes(before, after);
    let mark = |sign: char, paths: &[ralph_tree::TreePath]| -> Vec<String> {
        paths.iter().map(|path| format!("{sign}{path}")).collect()
    };
    [mark('+', &found.added), mark('~', &found.modified), mark('-', &found.deleted)].concat()
}

/// The violations as text.
pub fn touched(before: &Index, after: &Index) -> Vec<String> {
    violations(before, after).iter().map(ToString::to_string).collect()
}
