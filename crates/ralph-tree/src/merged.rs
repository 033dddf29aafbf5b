//! One index out of two: the work as it is now, protected paths as they were before. Later walks then find what changed
//! on protected paths in between. Or the other way round for repositories of a workspace that came back as a copy.

use std::cmp::Ordering;

use crate::chunk::{ChunkWriter, Row};
use crate::index::{Cursor, Index, Kind, PROTECTED};
use crate::path::order;

impl Index {
    /// This index with the protected paths and the repositories of an earlier one.
    #[must_use]
    pub fn with_protected_of(&self, earlier: &Index) -> Index {
        let mut chunks = ChunkWriter::default();
        let (mut old, mut new) = (Cursor::new(earlier), Cursor::new(self));
        loop {
            let side = match (old.row(), new.row()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((was, _)), Some((is, _))) => order(was, is),
            };
            let was = old.row().filter(|_| side.is_le());
            let is = new.row().filter(|_| side.is_ge());
            let held = [was, is].into_iter().flatten().any(|(path, row)| is_held(path, row));
            if let Some((path, row)) = if held { was } else { is } {
                chunks.add(path, *row, &self.chunks);
            }
            if side.is_le() {
                old.step();
            }
            if side.is_ge() {
                new.step();
            }
        }
        // What changed after the earlier walk is not trusted by its times alone.
        let began = self.began.min(earlier.began);
        let mut merged = Index { chunks: chunks.finish(&self.chunks), began, ..self.clone() };
        merged.id = merged.compute_id();
        merged
    }

    /// The same with the repositories' directories that `now` has: in a copy of a workspace they are other ones, although
    /// nobody replaced any.
    #[must_use]
    pub fn with_repositories_of(&self, now: &Index) -> Index {
        let mut chunks = ChunkWriter::default();
        let (mut rows, mut there) = (Cursor::new(self), Cursor::new(now));
        while let Some((path, row)) = rows.row() {
            while there.row().is_some_and(|(other, _)| order(other, path).is_lt()) {
                there.step();
            }
            let known = there.row().filter(|(other, _)| *other == path && is_repository(path));
            let both = |known: &Row| (row.kind, known.kind) == (Kind::Directory, Kind::Directory);
            let row = known.filter(|(_, known)| both(known)).map_or(*row, |(_, known)| *known);
            chunks.add(path, row, &self.chunks);
            rows.step();
        }
        Index { chunks: chunks.finish(&self.chunks), ..self.clone() }
    }
}

fn is_repository(path: &[u8]) -> bool {
    path == b".git" || path.ends_with(b"/.git")
}

/// Whether an agent must leave the entry alone.
fn is_held(path: &[u8], row: &Row) -> bool {
    row.flags & PROTECTED != 0 || is_repository(path)
}

#[cfg(test)]
mod tests {
    use crate::{Protect, Tree, violations};
    use std::fs;

    #[test]
    fn protected_paths_stay_as_they_were_and_work_is_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| fs::write(dir.path().join(path), text).unwrap();
        fs::create_dir(dir.path().join("secrets")).unwrap();
        for path in ["secrets/kept", "secrets/removed", "a.txt", "z.txt"] {
            write(path, "before");
        }
        let tree = Tree::new(dir.path(), Protect::new(["secrets/"]).unwrap());
        let before = tree.walk(None).unwrap();
        for path in ["secrets/kept", "secrets/added", "a.txt", "new.txt"] {
            write(path, "after");
        }
        fs::remove_file(dir.path().join("secrets/removed")).unwrap();
        fs::remove_file(dir.path().join("z.txt")).unwrap();
        let now = tree.walk(Some(&before)).unwrap();
        let merged = now.with_protected_of(&before);
        let found = violations(&merged, &tree.walk(Some(&merged)).unwrap());
        assert_eq!(found, violations(&before, &now));
        assert_eq!(found.len(), 3);
        let hash = |index: &crate::Index, path: &str| index.get(path.as_bytes()).map(|entry| entry.hash);
        for path in ["a.txt", "new.txt", "z.txt"] {
            assert_eq!(hash(&merged, path), hash(&now, path), "{path}");
        }
        assert_eq!(now.with_protected_of(&now).id(), now.id());
    }

    #[test]
    fn in_a_copy_repositories_are_other_directories_and_nothing_else_is_taken_over() {
        let (first, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (dir, text) in [(&first, "before"), (&copy, "after")] {
            fs::create_dir_all(dir.path().join("sub/.git")).unwrap();
            fs::create_dir(dir.path().join(".git")).unwrap();
            fs::write(dir.path().join(".env"), text).unwrap();
            fs::write(dir.path().join("a.txt"), text).unwrap();
        }
        let walk = |dir: &tempfile::TempDir| {
            Tree::new(dir.path(), Protect::new(Protect::DEFAULTS).unwrap()).walk(None).unwrap()
        };
        let (before, now) = (walk(&first), walk(&copy));
        let names = |before: &crate::Index| -> Vec<String> {
            violations(before, &now).iter().map(|v| v.path.to_string()).collect()
        };
        assert_eq!(names(&before), [".env", ".git"]);
        let adopted = before.with_repositories_of(&now);
        assert_eq!((names(&adopted), adopted.id()), (vec![".env".to_owned()], before.id()));
    }
}
