//! An index without some of its paths: a directory that was not known to be ralph's own when the index was made, or paths
//! that must be left alone.

use crate::chunk::ChunkWriter;
use crate::index::{Cursor, Index};
use crate::path::TreePath;
use std::collections::BTreeSet;

impl Index {
    /// The same index without a directory and everything in it.
    #[must_use]
    pub fn without(self, dir: Option<&TreePath>) -> Index {
        let Some(dir) = dir.map(TreePath::as_bytes) else { return self };
        let lies_in =
            |path: &[u8]| path.strip_prefix(dir).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
        self.leaving_out(lies_in)
    }

    /// The same index without these paths.
    #[must_use]
    pub fn without_paths(self, paths: &BTreeSet<Vec<u8>>) -> Index {
        if paths.is_empty() {
            return self;
        }
        self.leaving_out(|path| paths.contains(path))
    }

    fn leaving_out(self, is_out: impl Fn(&[u8]) -> bool) -> Index {
        if !self.entries().any(|entry| is_out(entry.path)) {
            return self;
        }
        let mut chunks = ChunkWriter::default();
        let mut rows = Cursor::new(&self);
        while let Some((path, row)) = rows.row() {
            if !is_out(path) {
                chunks.add(path, *row, &self.chunks);
            }
            rows.step();
        }
        let mut left = Index { chunks: chunks.finish(&self.chunks), ..self.clone() };
        left.id = left.compute_id();
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Protect, Tree};

    #[test]
    fn an_index_without_a_directory_is_the_index_of_a_walk_that_leaves_it_out() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a", "own/ralph/x", "own/ralph/deep/y", "own/ralph-not/z", "own/other"] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "text").unwrap();
        }
        let tree = || Tree::new(dir.path(), Protect::new(Protect::DEFAULTS).unwrap());
        let own = TreePath::from(b"own/ralph".as_slice());
        let (whole, walked) =
            (tree().walk(None).unwrap(), tree().leaving_out_dir(Some(&own)).walk(None).unwrap());
        let names = |index: &Index| index.entries().map(|e| crate::shown(e.path)).collect::<Vec<_>>();
        assert_eq!(names(&walked), ["a", "own", "own/other", "own/ralph-not", "own/ralph-not/z"]);
        let without = whole.clone().without(Some(&own));
        assert_eq!((names(&without), without.id()), (names(&walked), walked.id()));
        assert_ne!(whole.id(), walked.id());
        assert_eq!(names(&whole.clone().without(None)), names(&whole));
    }
}
