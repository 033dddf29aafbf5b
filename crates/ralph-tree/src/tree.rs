//! A workspace that can be walked: its root, what is protected in it, and what earlier walks compiled.
//!
//! `walk` does the walking; the caller keeps the [`Index`] and gives it back for the next time.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::ignores::{Compiled, CopyRules};
use crate::index::Index;
use crate::own_files::OwnFiles;
use crate::path::TreePath;
use crate::protect::Protect;
use crate::walk::Walk;

/// Why a walk came to nothing. What merely cannot be read is no error but in [`Index::skipped`].
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The workspace itself.
    #[error("cannot look into the workspace {}: {source}; check that it exists and may be read", root.display())]
    Root {
        /// The workspace.
        root: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Out of file descriptors or memory: going on would make files look deleted.
    #[error(
        "gave up at {path} while looking at the workspace: {source}; free resources (ulimit -n) and try again"
    )]
    Exhausted {
        /// Where.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// A workspace.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    protect: Protect,
    own: OwnFiles,
    compiled: Mutex<Compiled>,
    guarding: bool,
    /// Everything counts, whatever `.gitignore` says.
    whole: bool,
    copy: Option<CopyRules>,
    /// Where the workspace begins, if only what lies around it is of interest.
    around: Option<Vec<u8>>,
}

impl Tree {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, protect: Protect) -> Tree {
        let (compiled, copy, around) = (Mutex::default(), None, None);
        let (guarding, whole) = (false, false);
        Tree { root: root.into(), protect, own: OwnFiles::default(), compiled, guarding, whole, copy, around }
    }

    /// A directory of which nothing is of interest but what is protected, such as a repository's own.
    #[must_use]
    pub fn guarding(root: impl Into<PathBuf>, protect: Protect) -> Tree {
        Tree { guarding: true, ..Tree::new(root, protect) }
    }

    /// A repository around a workspace that begins at this path in it. Of the rest nothing is of interest but what is
    /// protected, wherever it lies; ignored directories and more than 100,000 names are not looked through.
    #[must_use]
    pub fn around(root: impl Into<PathBuf>, protect: Protect, workspace: &[u8]) -> Tree {
        Tree { around: Some(workspace.to_vec()), ..Tree::guarding(root, protect) }
    }

    /// The same, but everything that counts as work is of interest, and nothing else.
    #[must_use]
    pub fn work_around(root: impl Into<PathBuf>, protect: Protect, workspace: &[u8]) -> Tree {
        Tree { around: Some(workspace.to_vec()), ..Tree::new(root, protect) }
    }

    /// The root is a checkout of a commit: every file in it is tracked, also one that a `.gitignore` names.
    #[must_use]
    pub fn of_checkout(self) -> Tree {
        Tree { whole: true, ..self }
    }

    /// The root holds some of a workspace's files. What is ignored in the workspace is ignored in it; of the
    /// `.gitignore` files in it only these hold, whatever else was written into it. Contents are not read: every hash
    /// is zero.
    #[must_use]
    pub fn as_copy_of(self, workspace: &Path, gitignores: BTreeSet<Vec<u8>>) -> Tree {
        let copy = Some(CopyRules { workspace: workspace.to_path_buf(), gitignores });
        Tree { copy, ..self }
    }

    /// Leaves these files out of every walk: ralph writes them, relative to the root. One `*` stands for a part of a name.
    #[must_use]
    pub fn leaving_out<S: AsRef<str>>(mut self, own: impl IntoIterator<Item = S>) -> Tree {
        own.into_iter().for_each(|path| self.own.add(path.as_ref()));
        self
    }

    /// Leaves a directory of ralph's out of every walk, with everything in it.
    #[must_use]
    pub fn leaving_out_dir(mut self, own: Option<&TreePath>) -> Tree {
        own.into_iter().for_each(|dir| self.own.add_dir(dir.as_bytes()));
        self
    }

    /// The workspace's root, as given.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is protected.
    #[must_use]
    pub fn protect(&self) -> &Protect {
        &self.protect
    }

    /// Walks the workspace. Contents are read only where the stat differs from `previous`, or is too fresh
    /// to be trusted; without a previous index everything is read.
    pub fn walk(&self, previous: Option<&Index>) -> Result<Index, WalkError> {
        let failed = |source| WalkError::Root { root: self.root.clone(), source };
        let root = self.root.canonicalize().map_err(failed)?;
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.turn();
        let nothing = Index::default();
        let rules = (&self.protect, &self.own, self.guarding, self.whole);
        let copy = self
            .copy
            .clone()
            .map(|copy| Ok(CopyRules { workspace: copy.workspace.canonicalize().map_err(failed)?, ..copy }));
        let copy = copy.transpose()?;
        let walk = Walk::new(&root, rules, previous.unwrap_or(&nothing), &mut compiled);
        walk.of_copy(copy.as_ref()).around(self.around.as_deref()).run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{ChunkWriter, Row};

    /// A hash is taken over when the file was quiet before the last walk, and made anew when it was not.
    #[test]
    fn a_stat_is_trusted_only_if_the_file_was_quiet_before_the_last_walk() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "x").unwrap();
        let tree = Tree::new(dir.path(), Protect::new(Protect::DEFAULTS).unwrap());
        let truth = tree.walk(None).unwrap();
        let row = truth.chunks[0].rows()[0];
        for (quiet_for, ctime_off, trusted) in [
            (1_000_000_000, 0, true),
            (25_000_000, 0, true),
            (15_000_000, 0, false),
            (0, 0, false),
            (-1_000_000_000, 0, false),
            (1_000_000_000, 1, false),
        ] {
            let mut doubtful = truth.clone();
            doubtful.began = row.ctime + quiet_for;
            let mut other = ChunkWriter::default();
            other.add(b"a", Row { ctime: row.ctime - ctime_off, hash: [7; 16], ..row }, &[]);
            doubtful.chunks = other.finish(&[]);
            let again = tree.walk(Some(&doubtful)).unwrap();
            assert_eq!(again.chunks[0].rows()[0].hash == [7; 16], trusted, "quiet for {quiet_for} ns");
            assert_eq!(again.files_hashed, u64::from(!trusted));
        }
    }
}
