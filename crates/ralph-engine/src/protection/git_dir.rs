//! Directories besides the workspace with files that must not change, each with an index of these files.

use super::repositories::walk;
use ralph_tree::{
    How, Index, OBEYED, Protect, Repository, Tree, Violation, named_globs_of_git_dir, violations,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

const DOT_GIT: &[u8] = b".git";

/// A directory besides the workspace with files that must not change: a repository's own, such as `.git`, or the rest of
/// the repository around a workspace that is a part of it.
#[derive(Clone, Debug)]
pub struct GitDir {
    /// Name for display: `.git`, `..`, or an absolute path.
    pub name: String,
    /// Where it is.
    pub dir: PathBuf,
    /// The files in it that must not change.
    pub index: Arc<Index>,
    /// Which ones these are.
    pub guards: Guards,
}

/// What must not change in a directory besides the workspace.
#[derive(Clone, Debug)]
pub enum Guards {
    /// What git obeys.
    GitObeys,
    /// The same in a repository that was made in this step: before it there was nothing.
    Made,
    /// A `.git` that was made in this step and leads to a directory that is neither in the workspace nor in a repository
    /// that was known: nobody knows who writes there.
    LeadsAway,
    /// Protected paths around the workspace.
    Around {
        /// Where the workspace begins.
        workspace: Vec<u8>,
        /// The protected paths, relative to the repository's top.
        protect: Arc<Protect>,
    },
}

impl GitDir {
    /// Reads it. What is unchanged since `earlier` is not read again.
    pub fn look(name: String, dir: PathBuf, guards: Guards, earlier: Option<&Index>) -> GitDir {
        let index = match &guards {
            Guards::GitObeys | Guards::Made => obeyed(&dir, earlier),
            Guards::LeadsAway => Arc::new(walk(&dir, dot_git(), earlier)),
            Guards::Around { workspace, protect } => {
                let tree = Tree::around(&dir, Protect::clone(protect), workspace);
                Arc::new(tree.walk(earlier).unwrap_or_default())
            }
        };
        GitDir { name, dir, index, guards }
    }

    /// The rest of the repository around a workspace, if the workspace is a part of one.
    pub fn around(repository: &Repository, workspace: &Path, protect: &Protect) -> Option<GitDir> {
        let top = repository.top_around(workspace)?;
        let depth = workspace.strip_prefix(&top).map_or(0, |within| within.components().count());
        let guards =
            Guards::Around { workspace: repository.within.clone(), protect: Arc::new(protect.clone()) };
        Some(GitDir::look(vec![".."; depth].join("/"), top, guards, None))
    }

    /// The same directory now.
    pub fn again(&self) -> GitDir {
        GitDir::look(self.name.clone(), self.dir.clone(), self.guards.clone(), Some(&self.index))
    }

    /// What changed in it since, of what must not.
    pub fn changed_since(&self, was: &GitDir) -> Vec<Violation> {
        self.changes_to(&was.index, &self.index)
    }

    /// The same between two walks of it.
    pub fn changes_to(&self, was: &Index, is: &Index) -> Vec<Violation> {
        match self.guards {
            // For the rest of the product a new `.git` is no violation by itself.
            Guards::LeadsAway => {
                let new = is.get(DOT_GIT).filter(|_| was.get(DOT_GIT).is_none());
                new.map(|entry| Violation { path: entry.path.into(), how: How::Added }).into_iter().collect()
            }
            _ => violations(was, is),
        }
    }

    /// Whether its files are those that git obeys.
    pub fn is_of_git(&self) -> bool {
        matches!(self.guards, Guards::GitObeys | Guards::Made)
    }

    /// Whether it was made in this step.
    pub fn is_made(&self) -> bool {
        matches!(self.guards, Guards::Made)
    }

    /// Whether it is the rest of the repository around the workspace.
    pub fn is_around(&self) -> bool {
        matches!(self.guards, Guards::Around { .. })
    }
}

fn dot_git() -> Option<&'static Protect> {
    static GLOBS: OnceLock<Option<Protect>> = OnceLock::new();
    // A walk passes over `.git` unless something in it is named.
    GLOBS.get_or_init(|| Protect::new(["/.git", "/.git/HEAD"]).ok()).as_ref()
}

/// The files in a directory that git obeys; empty if it cannot be read.
fn obeyed(dir: &Path, earlier: Option<&Index>) -> Arc<Index> {
    static GLOBS: OnceLock<Option<Protect>> = OnceLock::new();
    let globs = |named: &[String]| {
        let all = OBEYED.iter().copied().chain(named.iter().map(String::as_str));
        Protect::new(all).ok().map(Protect::entering_every_star)
    };
    // What its config names, also before it is there.
    let named = named_globs_of_git_dir(dir);
    let own = Some(&named).filter(|named| !named.is_empty()).and_then(|named| globs(named));
    Arc::new(walk(dir, own.as_ref().or_else(|| GLOBS.get_or_init(|| globs(&[])).as_ref()), earlier))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn every_linked_work_tree_is_looked_at_whatever_its_name_is() {
        let dir = tempfile::tempdir().unwrap();
        let odd =
            ["feat#12", "{a,b}", "[x]", "a*b", "!x", "back\\slash", "target", "node_modules", ".git", "ä b"];
        let many = (0..300).map(|n| format!("w{n}").into_bytes());
        let mut names: Vec<Vec<u8>> = odd.iter().map(|name| name.as_bytes().to_vec()).chain(many).collect();
        names.push(b"line\nbreak".to_vec());
        // Not every file system allows a name that is no text.
        if fs::create_dir_all(dir.path().join("worktrees").join(OsStr::from_bytes(b"\xff"))).is_ok() {
            names.push(b"\xff".to_vec());
        }
        for name in &names {
            let own = dir.path().join("worktrees").join(OsStr::from_bytes(name));
            fs::create_dir_all(own.join("logs")).unwrap();
            for file in ["config.worktree", "commondir", "HEAD", "logs/config.worktree"] {
                fs::write(own.join(file), "").unwrap();
            }
        }
        let index = obeyed(dir.path(), None);
        let has = |name: &[u8], file: &str| {
            let path = [b"worktrees/", name, b"/", file.as_bytes()].concat();
            index.get(&path).is_some_and(|entry| entry.protected)
        };
        for name in &names {
            let found =
                ["config.worktree", "commondir", "HEAD", "logs/config.worktree"].map(|file| has(name, file));
            assert_eq!(found, [true, true, false, false], "{}", String::from_utf8_lossy(name));
        }
    }
}
