//! An index without one directory: for indexes that were made before it was known to be ralph's own.

use crate::index::{Index, Row};
use crate::path::TreePath;

impl Index {
    /// The same index without a directory and everything in it.
    #[must_use]
    pub fn without(self, dir: Option<&TreePath>) -> Index {
        let Some(dir) = dir.map(TreePath::as_bytes) else { return self };
        let lies_in =
            |path: &[u8]| path.strip_prefix(dir).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
        if !(0..self.rows.len()).any(|at| lies_in(self.path_at(at))) {
            return self;
        }
        let mut left = Index { rows: Vec::new(), paths: Vec::new(), ..self.clone() };
        for (at, row) in self.rows.iter().enumerate().filter(|(at, _)| !lies_in(self.path_at(*at))) {
            left.paths.extend_from_slice(self.path_at(at));
            // It was below this limit with the directory.
            left.rows.push(Row { end: u32::try_from(left.paths.len()).unwrap_or(u32::MAX), ..*row });
        }
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
