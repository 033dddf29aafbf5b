//! Paths that only a changed `.gitignore` makes look added or deleted between two moments. A walk leaves out what is ignored,
//! so a file whose rule came or went is in one index and not in the other although nobody touched it. Whether somebody did
//! cannot be told afterwards: such files may be the user's own and are left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::ignores::{Compiled, MOST, Rules};
use crate::index::{Entry, Index, Kind, side_by_side};
use crate::path::TreePath;

/// Paths that look changed, and need not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleChanges {
    /// Only in the later index; ignored at the earlier moment, so nobody knows whether they were there.
    pub no_longer_ignored: BTreeSet<Vec<u8>>,
    /// Only in the earlier index; ignored at the later moment, and still there.
    pub now_ignored: BTreeSet<Vec<u8>>,
}

/// Finds them between two indexes of the workspace `root`. `content` reads a `.gitignore` of one of them. Rules outside
/// the workspace and in `.git/info/exclude` are those of now.
pub fn rule_changes(
    root: &Path,
    before: &Index,
    after: &Index,
    content: &dyn Fn(&Entry<'_>) -> Option<Vec<u8>>,
) -> RuleChanges {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    let mut then = MomentRules::new(&root, before, content);
    let mut later = MomentRules::new(&root, after, content);
    let mut found = RuleChanges::default();
    for (old, new) in side_by_side(before, after) {
        match (old.filter(|old| old.counts), new.filter(|new| new.counts)) {
            (None, Some(new)) if then.ignore(new.path, new.kind == Kind::Directory) => {
                found.no_longer_ignored.insert(new.path.to_vec());
            }
            (Some(old), None) if old.kind != Kind::Directory && later.ignore(old.path, false) => {
                let path = root.join(TreePath::from(old.path).as_path());
                if path.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                    found.now_ignored.insert(old.path.to_vec());
                }
            }
            _ => {}
        }
    }
    found
}

/// The rules of a moment, made as far as they are asked for.
struct MomentRules<'a> {
    root: &'a Path,
    index: &'a Index,
    content: &'a dyn Fn(&Entry<'_>) -> Option<Vec<u8>>,
    compiled: Compiled,
    /// By directory, with a slash at its end unless it is the root; none where a `.gitignore` is no longer known.
    inside: BTreeMap<Vec<u8>, Option<Rules>>,
}

impl<'a> MomentRules<'a> {
    fn new(
        root: &'a Path,
        index: &'a Index,
        content: &'a dyn Fn(&Entry<'_>) -> Option<Vec<u8>>,
    ) -> MomentRules<'a> {
        MomentRules { root, index, content, compiled: Compiled::default(), inside: BTreeMap::new() }
    }

    /// Whether the path, or a directory that it lies in, was ignored or may have been.
    fn ignore(&mut self, path: &[u8], is_dir: bool) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let mut around = 0;
        for end in slashes.chain([path.len()]) {
            let dir = path.get(..around).unwrap_or_default();
            let part = path.get(..end).unwrap_or_default();
            if self.inside(dir).is_none_or(|rules| rules.ignore(part, is_dir || end < path.len())) {
                return true;
            }
            around = end + 1;
        }
        false
    }

    /// The rules inside a directory, after those of the directories above it were asked for.
    fn inside(&mut self, dir: &[u8]) -> Option<Rules> {
        if let Some(known) = self.inside.get(dir) {
            return known.clone();
        }
        let above = dir.strip_suffix(b"/").map(|name| {
            let parent = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
            name.get(..parent).unwrap_or_default()
        });
        let around = match above {
            Some(above) => self.inside(above),
            None => Some(self.compiled.outside(self.root, &[])),
        };
        let rules = around.and_then(|around| self.with_own(around, dir));
        self.inside.insert(dir.to_vec(), rules.clone());
        rules
    }

    /// With the rules that begin in a directory.
    fn with_own(&mut self, mut rules: Rules, dir: &[u8]) -> Option<Rules> {
        if self.index.get(&[dir, b".git"].concat()).is_some() {
            rules = self.compiled.of_repository(rules, self.root, dir);
        }
        let own = self.index.get(&[dir, b".gitignore"].concat());
        // The walk could not read it either, so it did not count.
        let Some(own) = own.filter(|own| own.kind == Kind::File && !own.unreadable) else {
            return Some(rules);
        };
        let mut bytes = (self.content)(&own)?;
        bytes.truncate(usize::try_from(MOST).unwrap_or(usize::MAX));
        Some(self.compiled.with(&rules, &bytes, dir.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Protect, Tree};
    use std::fs;

    fn names(paths: &BTreeSet<Vec<u8>>) -> Vec<String> {
        paths.iter().map(|path| crate::shown(path)).collect()
    }

    #[test]
    fn what_only_a_rule_added_or_removed_is_told_from_work() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for path in ["dist/a.js", "dist/gone.js", "notes/old", "deep/x.tmp", "deep/more/y.log", "kept"] {
            write(path, "text");
        }
        write(".gitignore", "notes/\n");
        write("deep/.gitignore", "*.tmp\n/more/*.log\n");
        fs::create_dir(dir.path().join(".git")).unwrap();
        let tree = Tree::new(dir.path(), Protect::new(Protect::DEFAULTS).unwrap());
        let before = tree.walk(None).unwrap();
        let was = [".gitignore", "deep/.gitignore"].map(|path| {
            (before.get(path.as_bytes()).unwrap().hash, fs::read(dir.path().join(path)).unwrap())
        });
        write(".gitignore", "dist/\n");
        write("deep/.gitignore", "# nothing\n");
        for path in ["new", "notes/new", "deep/z.txt"] {
            write(path, "text");
        }
        fs::remove_file(dir.path().join("dist/gone.js")).unwrap();
        fs::remove_file(dir.path().join("kept")).unwrap();
        let after = tree.walk(None).unwrap();
        let content = |entry: &Entry<'_>| {
            let known = was.iter().find(|(hash, _)| *hash == entry.hash).map(|(_, bytes)| bytes.clone());
            known.or_else(|| fs::read(dir.path().join(TreePath::from(entry.path).as_path())).ok())
        };
        let found = rule_changes(dir.path(), &before, &after, &content);
        assert_eq!(
            names(&found.no_longer_ignored),
            ["deep/more/y.log", "deep/x.tmp", "notes", "notes/new", "notes/old"]
        );
        assert_eq!(names(&found.now_ignored), ["dist/a.js"], "what is gone was deleted");
        assert_eq!(rule_changes(dir.path(), &after, &after, &content), RuleChanges::default());
        let forgotten =
            |entry: &Entry<'_>| content(entry).filter(|_| was.iter().all(|(hash, _)| *hash != entry.hash));
        let found = rule_changes(dir.path(), &before, &after, &forgotten);
        assert!(found.no_longer_ignored.contains(b"new".as_slice()), "it may have been ignored: {found:?}");
    }
}
